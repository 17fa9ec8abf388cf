import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { createSandboxHosts } from '../../src/sandbox/sandbox.ts';
import { ConfigError } from '../../src/settings/kinds.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { buildCommand } from '../support/package-build.ts';

const SECRETS = [
  'some0ne',
  's3cr:t',
  's3cr%3At',
  '0123456789abcdef',
  'a key&more',
  'a%20key',
  'h34der value',
  'other-h34der',
];

/** The command of the package. */
let command: string;
beforeAll(async () => {
  command = await buildCommand();
});

type Started = {
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly file?: string | Buffer;
};

/** Starts a gateway, and collects its output on stdout and stderr until it ends. */
function start({ args = [], env = {}, file = '' }: Started) {
  const { FULLNODE_URL: _node, MARKET_DATA_URL: _host, ...inherited } = process.env;
  const cwd = mkdtempSync(join(tmpdir(), 'gateway-'));
  writeFileSync(join(cwd, '.env'), file);
  const child = spawn(process.execPath, [command, '--port=0', '--log-level=trace', ...args], {
    cwd,
    env: { ...inherited, ...env },
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(cwd, { recursive: true });
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk) => {
      output[name] += chunk;
    });
  }
  return { child, output, closed: once(child, 'close') as Promise<[number | null]> };
}

function expectNoSecret(text: string): void {
  for (const secret of SECRETS) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(Buffer.from(`some0ne:${secret}`).toString('base64'));
  }
}

const WRONG = 'htp://some0ne:s3cr%3At@host/0123456789abcdef?key=a%20key%26more';
const HEADERS = 'x-key: h34der value\nHost: other-h34der\nother-h34der';

test.each<[where: string, args: readonly string[], env: Readonly<Record<string, string>>]>([
  ['variables', [], { FULLNODE_URL: `http://a,${WRONG}`, MARKET_DATA_URL: WRONG, FULLNODE_HEADERS: HEADERS }],
  ['flags', [`--fullnode-url=${WRONG},b`, '--market-data-url', WRONG, '--fullnode-headers', HEADERS], {}],
  [
    'misspelt flags',
    ['--fulnode-url', WRONG, `--market-url=${WRONG}`, '--fullnode-headers', 'x-key:', 'other-h34der'],
    {},
  ],
])('the problems of wrong settings have no secrets: %s', (_, args, env) => {
  let problems: readonly string[] = [];
  try {
    readConfig(args, env);
  } catch (error) {
    if (error instanceof ConfigError) ({ problems } = error);
  }
  expect(problems.length).toBeGreaterThanOrEqual(3);
  expectNoSecret(problems.join('\n'));
});

// The file has a byte order mark. An empty variable does not override it, another one does.
test('everything that is wrong is printed, a line each without secrets, and the process exits with 2', async () => {
  const { output, closed } = start({
    args: ['--nothing', '--max-depth=x'],
    env: { ADMIN_PORT: '', HEAD_POLL_MS: 'none' },
    file: `\ufeffADMIN_PORT=many\nHEAD_POLL_MS=many\nHTTP=\nFULLNODE_URL=${WRONG}\nMARKET_DATA_URL=${WRONG}\nFULLNODE_HEADERS="${HEADERS}"\n`,
  });
  expect(await closed).toEqual([2, null]);
  const hidden = '(not shown, it may contain a secret)';
  const problems = [
    '--nothing is not a flag: see --help',
    `FULLNODE_URL ${hidden}: expected a URL with http or https`,
    `MARKET_DATA_URL ${hidden}: expected a URL with http or https`,
    `FULLNODE_HEADERS ${hidden}: line 2: \`host\` cannot be set`,
    'HEAD_POLL_MS is "none": expected a whole number from 50 to 2147483647',
    'ADMIN_PORT is "many": expected a whole number from 0 to 65535',
    '--max-depth is "x": expected a whole number from 1 to 2147483647',
  ];
  expect(output).toEqual({ stdout: '', stderr: problems.map((problem) => `pdex-gateway: ${problem}\n`).join('') });
});

test('headers from a file reach the upstreams, and no secret reaches the output, also when the hosts repeat it', async () => {
  const sandbox = await createSandboxHosts({ history: 5 });
  onTestFinished(sandbox.close);
  const urlOf = (url: string) => `${url.replace('//', '//some0ne:s3cr%3At@')}/0123456789abcdef?key=a%20key%26more`;
  sandbox.node.faults.set({ kind: 'echo', as: 'text', status: 200 });
  sandbox.marketData.faults.set({ kind: 'echo' });
  const { child, output, closed } = start({
    file: `FULLNODE_HEADERS="x-one: h34der value\nx-two: other-h34der#1"\nMARKET_DATA_HEADERS=x-one: h34der value\\nx-two: 2\n`,
    env: { FULLNODE_URL: urlOf(sandbox.nodeUrl), MARKET_DATA_URL: urlOf(sandbox.marketDataUrl) },
  });
  for (const upstream of ['NODE', 'MARKET_DATA'])
    await expect.poll(() => output.stdout).toMatch(new RegExp(`"upstream":"${upstream}".*cannot be read`));
  child.kill('SIGTERM');
  expect(await closed).toEqual([0, null]);

  expect(sandbox.node.requests[0]?.headers).toMatchObject({ 'x-one': 'h34der value', 'x-two': 'other-h34der#1' });
  expect(sandbox.marketData.requests[0]?.headers).toMatchObject({ 'x-one': 'h34der value', 'x-two': '2' });
  expect(output.stdout).toContain('[redacted]');
  expectNoSecret(output.stdout + output.stderr);
});

test('an uncaught error ends the process with 1, and is logged without secrets', async () => {
  const url = 'http://some0ne:s3cr%3At@127.0.0.1:1/0123456789abcdef';
  const late = `const fail = () => {
    if (process.listenerCount('uncaughtException') > 0) throw new Error(${JSON.stringify(`cannot read ${url}`)});
    setTimeout(fail, 20);
  };
  fail();`;
  const { output, closed } = start({
    env: { FULLNODE_URL: url, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(late)}` },
  });
  expect(await closed).toEqual([1, null]);
  expect(output.stdout).toContain('cannot read http://[redacted]@127.0.0.1:1/[redacted]');
  expectNoSecret(output.stdout + output.stderr);
});

test('a file .env in UTF-16 is refused', async () => {
  const { output, closed } = start({ file: Buffer.from('\ufeffADMIN_PORT=1\n', 'utf16le') });
  expect(await closed).toEqual([2, null]);
  expect(output.stderr).toContain('pdex-gateway: .env: the file is in UTF-16, expected UTF-8\n');
});
