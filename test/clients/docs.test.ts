import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { flagOf } from '../../src/settings/kinds.ts';
import { SETTINGS } from '../../src/settings/settings.ts';
import { createStoreModel } from '../history/store-model.ts';
import { type Sample, samplesIn, sampleUnder } from '../support/doc-pages.ts';
import { startGateway } from '../support/gateway.ts';
import { serveGatewayForTest } from '../support/served-gateway.ts';

const ROOT = new URL('../../', import.meta.url);
const ADDRESS = '127.0.0.1:4000';

/** Starts a program that gets its text on standard input, with the gateway's address in the place of the default one. */
function run(command: string, args: readonly string[], input: string) {
  const child = spawn(command, args, { cwd: ROOT, stdio: 'pipe' });
  onTestFinished(() => void child.kill());
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  child.stdin.end(input);
  return { child, ended, errors: readText(child.stderr) };
}

const named = (sample: Sample) => ({ ...sample, name: sample.text.trim().split('\n').slice(0, 2).join(' ') });

describe('programs on the pages', () => {
  // A program that imports generated files is run by codegen.test.ts, and one that imports the library in test/library/. That of the
  // charts has a test of its own below.
  const programs = samplesIn('js', 'ts')
    .filter(({ text }) => !/from '(\.\/|pdex-gateway')/.test(text))
    .map(named);
  const printing = programs.filter(({ text }) => text.includes('console.log'));
  const silent = programs.filter(({ text }) => !text.includes('console.log'));

  const start = (text: string, language: string) => {
    const type = language === 'ts' ? 'module-typescript' : 'module';
    return run(process.execPath, ['--no-warnings', '--experimental-eventsource', `--input-type=${type}`], text);
  };

  test('are there', () => expect([printing.length > 8, silent.length > 1]).toEqual([true, true]));

  test.each(printing)('$page: $name prints the height, and each new one that it subscribes to', async (sample) => {
    expect(sample.text).toContain(ADDRESS);
    const isLive = /subscription/.test(sample.text);
    // While the node is down, the first update of a subscription is an error. A program that begins with a query gets no data then.
    const isDown = isLive && !/client\.(query|watchQuery)/.test(sample.text);
    const { url, sandbox } = await serveGatewayForTest(isDown ? { before: ({ node }) => node.stop() } : {});
    const { height } = sandbox.chain.tip;
    const { child, ended, errors } = start(sample.text.replaceAll(ADDRESS, new URL(url).host), sample.language);
    if (isDown) {
      await once(child.stderr, 'data');
      await sandbox.node.start();
    }

    const heights = new Set<number>();
    for await (const line of createInterface(child.stdout)) {
      const before = heights.size;
      heights.add(Number.parseInt(line, 10));
      if (heights.size === 3) break;
      if (heights.size > before) sandbox.advance();
    }
    if (isLive) child.kill();
    else expect(await ended).toBe(0);
    expect([...heights]).toEqual(isLive ? [height, height + 1, height + 2] : [height]);
    expect(await errors).toMatch(isDown ? /^(UPSTREAM_UNREACHABLE|\[GraphQL\]) [^\n]+\n$/ : /^$/);
  });

  test('the chart gets the history, also if the node is down when it connects, and then each candle', async () => {
    const store = createStoreModel();
    const { url, sandbox } = await serveGatewayForTest({ store, before: ({ node }) => node.stop() });
    const { token1, token2 } = sandbox.chain.pools[0] ?? {};
    const series = "{ setData: ([bar]) => console.log(bar ? 'history' : 'none'), update: () => console.log('candle') }";
    const text = sampleUnder('docs/clients.md', 'Charts', 'js')
      .replace("import { series } from './chart.js';", `const series = ${series};`)
      .replace("token1Id: '…', token2Id: '…'", `token1Id: '${token1?.id}', token2Id: '${token2?.id}'`)
      .replace('5_000', '50');
    const { child } = start(text.replaceAll(ADDRESS, new URL(url).host), 'js');
    await once(child.stderr, 'data');
    await sandbox.node.start();

    // The current candle can arrive before the history.
    const shown: string[] = [];
    for await (const line of createInterface(child.stdout)) {
      shown.push(line);
      if (line === 'history') sandbox.advance();
      if (line === 'candle' && shown.includes('history')) break;
    }
    expect(shown.slice(shown.indexOf('history'))).toEqual(['history', 'candle']);
  });

  test.each(silent)('$page: $name runs', async ({ text, language }) => {
    const { ended, errors } = start(text, language);
    expect(await errors).toBe('');
    expect(await ended).toBe(0);
  });
});

describe('commands on the pages', () => {
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  let host: string;
  beforeAll(async () => {
    const sandbox = { exchange: 'v3', startHeight: 2_150_000 } as const;
    gateway = await startGateway({ sandbox, store: createStoreModel(), config: { historyBackfillHours: 0 } });
    ({ host } = new URL(await gateway.app.listen(0, '127.0.0.1')));
    await gateway.untilHeight(gateway.sandbox.chain.tip.height);
    expect((await gateway.ask('{ pairs { id } tickers { id } }')).errors).toBeUndefined();
  });
  afterAll(() => gateway.close());

  const commands = samplesIn('sh').map(named);
  const queries = commands.filter(({ text }) => text.includes('curl'));
  const others = commands.filter(({ text }) => !text.includes('curl'));

  test('are there', () => expect([queries.length > 3, others.length > 3]).toEqual([true, true]));

  test.each(queries)('$page: $name is answered', async ({ text }) => {
    expect(text).toContain(ADDRESS);
    const { child, ended, errors } = run('bash', ['-eo', 'pipefail'], text.replaceAll(ADDRESS, host));
    const lines: string[] = [];
    for await (const line of createInterface(child.stdout)) {
      lines.push(line);
      // An event stream goes on.
      if (line.startsWith('data: ')) break;
    }
    if (lines.at(-1)?.startsWith('data: ')) child.kill();
    else expect([await ended, (await errors).replace(/^ *%.*|^ *\d.*|^.*Dload.*/gms, '').trim()]).toEqual([0, '']);
    expect(lines.join('\n')).toMatch(/"data":\{"\w|"ready"|^304$|^\{"message":"OK"|^\{"supports_search"|^\{"buy":\[/);
    expect(lines.join('\n')).not.toMatch(/"errors"|"errmsg"|"code"/);
  });

  test.each(others)('$page: $name is well-formed and names what exists', ({ text }) => {
    expect(() => execFileSync('bash', ['-n'], { input: text })).not.toThrow();
    const { scripts } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'));
    const settings = Object.values(SETTINGS);
    const lines = text.split('\n').filter((line) => /\bnpm (run|start|test)\b/.test(line) && !line.startsWith('cd '));
    for (const line of lines) {
      for (const [, name = ''] of line.matchAll(/npm (?:run )?(start|test|(?<=run )[\w-]+)/g)) {
        const isKnown = name in scripts || existsSync(new URL(`bench/${name}.ts`, ROOT)) || name === 'bench';
        expect([name, isKnown]).toEqual([name, true]);
      }
      for (const [, name] of line.matchAll(/(?:^|\s)([A-Z_]+)=/g)) {
        expect(['NODE_ENV', 'NODE_USE_ENV_PROXY', ...settings.map(({ variable }) => variable)]).toContain(name);
      }
      for (const [, flags = ''] of line.matchAll(/npm start -- (.*)$/g)) {
        for (const [, flag] of flags.matchAll(/--([\w-]+)/g)) expect(settings.map(flagOf)).toContain(flag);
      }
    }
  });
});
