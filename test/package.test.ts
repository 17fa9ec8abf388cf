import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { SETTINGS } from '../src/settings/settings.ts';
import { hasNoRegistry, NPM_ENV } from './support/npm.ts';
import { oldNodes } from './support/old-nodes.ts';
import { type OtlpReceiver, startGrpcReceiver, startOtlpReceiver } from './support/otlp-receiver.ts';
import { buildPackage } from './support/package-build.ts';

const ROOT = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** A folder with nothing but the installed package. */
const folder = mkdtempSync(join(tmpdir(), 'pdex-package-'));
const BIN = join(folder, 'node_modules/.bin/pdex-gateway');
const TARBALL = join(folder, `pdex-gateway-${version}.tgz`);

/** The flag of a node that does not respond: without the sandbox, the command starts in half the time. */
const NO_NODE = '--fullnode-url=http://127.0.0.1:1';

const run = promisify(execFile);

/** Why the package could not be installed. */
let notInstalled: string | undefined;

beforeAll(async () => {
  // npm packs the files of this folder.
  rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
  cpSync(await buildPackage(), join(ROOT, 'dist'), { recursive: true });
  // Without scripts: `prepack` would build again.
  await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], { cwd: ROOT, env: NPM_ENV });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  try {
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', TARBALL], {
      cwd: folder,
      env: NPM_ENV,
    });
  } catch (error) {
    if (!hasNoRegistry(error)) throw error;
    notInstalled = 'npm cannot reach its registry';
  }
  // The types of Node, and its own compiler, are in every project with TypeScript.
  symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'));
});

afterAll(() => rmSync(folder, { recursive: true }));

const installed = test.extend('isInstalled', { auto: true }, ({ skip }) => {
  if (notInstalled !== undefined) skip(notInstalled);
});

test('npm builds the package before it packs it', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect([scripts.prepack, scripts.build]).toEqual(['npm run --silent build', 'node build.ts']);
});

test('the tarball holds the bundle, its types, the schema and the documents, and nothing else', () => {
  const paths = execFileSync('tar', ['-tzf', TARBALL], { encoding: 'utf8' }).trim().split('\n');
  const types = paths.filter((path) => /^package\/dist\/types\/[\w/-]+\.d\.ts$/.test(path));
  expect(types.length).toBeLessThan(10);
  const explorer = paths.filter((path) => path.startsWith('package/dist/explorer/'));
  expect(explorer.filter((path) => !EXPLORER_FILE.test(path))).toEqual([]);
  expect(explorer).toContain('package/dist/explorer/index.html');
  expect(paths.filter((path) => !types.includes(path) && !explorer.includes(path)).toSorted()).toEqual(
    [
      ...['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json', 'schema.graphql'],
      ...[
        'dist/history-worker.js',
        'dist/index.js',
        'dist/library.js',
        'dist/main.cjs',
        'dist/opentelemetry.js',
        'dist/otlp-grpc.js',
        'dist/pino-pretty.js',
        'dist/redis.js',
        'dist/sandbox.js',
        'dist/start.cjs',
      ],
      'dist/third-party-licenses.txt',
      'docs/explorer.png',
      ...readdirSync(join(ROOT, 'docs'))
        .filter((name) => name.endsWith('.md'))
        .map((name) => `docs/${name}`),
    ]
      .map((path) => `package/${path}`)
      .toSorted(),
  );
});

/** The page and files with a hash in their names, each also compressed, and the page of GraphiQL; files with fixed names. */
const EXPLORER_FILE =
  /^package\/dist\/explorer\/((graphiql\.html(?=\.)|index\.html|assets\/[\w.-]+-[\w-]{8}\.(js|css|svg|woff2|png))(\.br|\.gz)?|favicon\.ico|robots\.txt|manifest\.webmanifest|[a-z0-9-]+\.png)$/;

describe('the explorer of the package', () => {
  const folder = join(ROOT, 'dist/explorer');
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  const names = () => readdirSync(folder, { recursive: true, encoding: 'utf8' });

  test('loads at most 250 KB at first, compressed in each encoding', () => {
    const assets = linksOf(read('index.html')).filter((link) => link.startsWith('/assets/'));
    const first = ['index.html', ...assets.map((link) => link.slice(1))];
    expect(first.length).toBeGreaterThan(2);
    for (const ending of ['.br', '.gz']) {
      const sizes = first.map((path) => statSync(join(folder, path + ending)).size);
      expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(250_000);
    }
  });

  test('has the same text in each encoding', () => {
    const compressed = names().filter((path) => path.endsWith('.br'));
    expect(compressed.length).toBeGreaterThan(2);
    const isSame = (path: string) => {
      const [plain, file] = [path.slice(0, -3), (path: string) => readFileSync(join(folder, path))];
      const text = gunzipSync(file(`${plain}.gz`));
      // GraphiQL is there only compressed.
      return brotliDecompressSync(file(path)).equals(text) && (plain === 'graphiql.html' || file(plain).equals(text));
    };
    expect(compressed.filter((path) => !isSame(path))).toEqual([]);
  });

  test('loads nothing from another origin', () => {
    const page = read('index.html');
    expect(linksOf(page).filter((link) => !/^\/(assets\/)?[\w.-]+$/.test(link))).toEqual([]);
    expect(page).not.toMatch(/<style|<script(?! type="module" crossorigin src=)|\sstyle=|\son\w+=/);
    const styles = names().filter((path) => path.endsWith('.css'));
    const loaded = styles.flatMap((path) => [...read(path).matchAll(/url\(["']?([^)"']+)|@import\s+["']([^"']+)/g)]);
    expect(loaded.map(([, url, imported]) => url ?? imported).filter((url) => !url?.startsWith('/assets/'))).toEqual(
      [],
    );
    const scripts = names().filter((path) => path.endsWith('.js'));
    const requests =
      /(?:\bfetch|\bimport|new (?:WebSocket|EventSource|Worker)|sendBeacon|importScripts)\(\s*["'`](?:https?:|wss?:)?\/\//;
    expect(scripts.length).toBeGreaterThan(0);
    expect(scripts.filter((path) => requests.test(read(path)))).toEqual([]);
  });

  test('has React as it is for production', () => {
    const scripts = names().filter((path) => path.endsWith('.js'));
    expect(scripts.filter((path) => read(path).includes('https://react.dev/link/'))).toEqual([]);
  });

  test('is listed with the licenses of its packages', () => {
    expect(readFileSync(join(ROOT, 'dist/third-party-licenses.txt'), 'utf8')).toMatch(/^react-dom [\d.]+: MIT$/m);
  });
});

/** What a page loads: the values of `src` and `href`. */
function linksOf(page: string): readonly string[] {
  return [...page.matchAll(/<(?:script|link|img)\b[^>]*\b(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link);
}

test('the library leaves the dispatcher of Node’s own `fetch` alone', async () => {
  const program = `
    const { defineProperty } = Object;
    const setBy = new Map();
    Object.defineProperty = (target, key, property) => {
      if (target === globalThis) setBy.set(property.value, new Error().stack);
      return defineProperty(target, key, property);
    };
    await import(${JSON.stringify(pathToFileURL(join(ROOT, 'dist/library.js')).href)});
    const dispatchers = [1, 2].map((n) => globalThis[Symbol.for('undici.globalDispatcher.' + n)]);
    const { status } = await fetch('data:,');
    console.log(JSON.stringify({ setBy: dispatchers.map((each) => setBy.get(each) ?? 'Node'), times: setBy.size, status }));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program]);
  const { setBy, times, status } = JSON.parse(stdout);
  expect(times).toBeGreaterThan(0);
  expect(setBy.filter((stack: string) => stack.includes('library.js'))).toEqual([]);
  expect(status).toBe(200);
});

/** The variables for traces that a receiver gets. */
const tracesTo = ({ url }: OtlpReceiver, protocol: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url.href,
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
});

installed('the command serves a query, GraphiQL and the explorer, and exits with 0 on SIGTERM', async () => {
  const receiver = await startOtlpReceiver();
  const env = { ...NPM_ENV, ...tracesTo(receiver, 'http/json') };
  const child = spawn(BIN, ['--port', '0', '--sandbox'], { cwd: folder, env });
  onTestFinished(() => void child.kill('SIGKILL'));
  let url = '';
  for await (const line of createInterface(child.stdout)) {
    url = JSON.parse(line).graphql ?? '';
    if (url !== '') break;
  }
  const answer = await fetch(`${url}?query={beaconHeight service{version}}`, { headers: { connection: 'close' } });
  // The sandbox makes a block every four seconds.
  const beaconHeight = expect.closeTo(1_640_000, -2);
  expect(await answer.json()).toEqual({ data: { beaconHeight, service: { version } } });
  // Node's own fetch sends the `Sec-Fetch` headers of a script.
  const page = await request(url, { headers: { accept: 'text/html' }, reset: true });
  expect(await page.body.text()).toContain('YogaGraphiQL.renderYogaGraphiQL(');
  const explorer = await request(new URL('/', url), { headers: { accept: 'text/html' }, reset: true });
  // The gateway adds what it knows of itself.
  const sent = (await explorer.body.text()).replace(' data-notices="sandbox"', '');
  expect(sent).toBe(readFileSync(join(ROOT, 'dist/explorer/index.html'), 'utf8'));

  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
  // Traces by the other protocols have tests of their own.
  expect(receiver.spans().map(({ name }) => name)).toContain('query');
});

installed('installing adds the package and the program’s graphql, and nothing else', () => {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  expect(Object.keys(packages)).toEqual(['', 'node_modules/graphql', 'node_modules/pdex-gateway']);
});

installed('npm refuses to install it beside an older graphql, and says which one it needs', async () => {
  const project = join(folder, 'older');
  mkdirSync(join(project, 'graphql'), { recursive: true });
  writeFileSync(join(project, 'graphql/package.json'), '{ "name": "graphql", "version": "16.0.0" }');
  writeFileSync(join(project, 'package.json'), '{ "dependencies": { "graphql": "file:graphql" } }');
  const installing = run('npm', ['install', '--offline', '--no-audit', TARBALL], { cwd: project, env: NPM_ENV });
  const { stderr } = await installing.then(() => ({ stderr: 'npm installed it' })).catch((error) => error);
  expect(stderr).toContain('ERESOLVE');
  expect(stderr).toMatch(/peer graphql@"\^17[\d.]*" from pdex-gateway@/);
});

installed('on a terminal, the log is readable text', async () => {
  const args = ['-qec', `'${BIN}' ${NO_NODE} --port 0`, '/dev/null'];
  const child = spawn('script', args, { cwd: folder, env: NPM_ENV, stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(stripVTControlCharacters(line));
    if (line.includes('serving')) break;
  }
  expect(lines.at(-1)).toMatch(/^\[\d\d:\d\d:\d\d\.\d+\] INFO: serving$/);
  child.kill('SIGTERM');
});

test('the code of traces is in files of their own, which are loaded when traces are on, and when gRPC sends them', () => {
  const files = ['library.js', 'main.cjs', 'opentelemetry.js', 'otlp-grpc.js'];
  const having = (text: string) =>
    files.filter((file) => readFileSync(join(ROOT, 'dist', file), 'utf8').includes(text));
  expect(having('BatchSpanProcessorBase')).toEqual(['opentelemetry.js']);
  expect(having('ClientUnaryCallImpl')).toEqual(['otlp-grpc.js']);
});

test('the library of Redis is in a file of its own, which is loaded when a fleet is configured', () => {
  const hasRedis = (file: string) => readFileSync(join(ROOT, 'dist', file), 'utf8').includes('ClientOfflineError');
  expect(['library.js', 'main.cjs', 'redis.js'].filter(hasRedis)).toEqual(['redis.js']);
});

test('the sandbox is in a file of its own, which is loaded when it runs', () => {
  const isSandbox = (file: string) => readFileSync(join(ROOT, 'dist', file), 'utf8').includes('src/sandbox/');
  expect(['library.js', 'main.cjs', 'sandbox.js'].filter(isSandbox)).toEqual(['sandbox.js']);
});

installed.each([
  ['http/protobuf', () => startOtlpReceiver()],
  ['grpc', () => startGrpcReceiver()],
] as const)('the command sends traces by %s', async (protocol, start) => {
  const receiver = await start();
  const env = { ...NPM_ENV, ...tracesTo(receiver, protocol) };
  const child = spawn(BIN, ['--port', '0', NO_NODE], { cwd: folder, env });
  onTestFinished(() => void child.kill('SIGKILL'));
  for await (const line of createInterface(child.stdout)) {
    const { graphql } = JSON.parse(line);
    if (graphql === undefined) continue;
    await (await fetch(`${graphql}?query={beaconHeight}`, { headers: { connection: 'close' } })).text();
    child.kill('SIGTERM');
  }
  expect(receiver.spans().map(({ name }) => name)).toContain('query');
});

installed('the flags of V8 that `npm start` sets hold for the command', () => {
  const [line] = readFileSync(BIN, 'utf8').split('\n', 1);
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(`exec ${line?.replace('#!/usr/bin/env -S ', '')} src/start.js`).toBe(scripts.start);
});

// If the machine has an older Node.
describe.each(oldNodes())('%s is too old', (node) => {
  test('the command prints the version that it needs, and exits with 2', async () => {
    const running = run(node, [join(ROOT, 'dist/start.cjs')]);
    await expect(running).rejects.toMatchObject({ code: 2, stdout: '' });
    const { stderr } = await running.catch((error) => error);
    expect(stderr).toMatch(/^pdex-gateway needs Node 24 or newer; this is Node \d+\.\d+\.\d+\n$/);
  });

  test.each(['import', 'require'])('`%s` of the library throws which version it needs', async (load) => {
    const program = `(async () => ${load}(${JSON.stringify(join(ROOT, 'dist/index.js'))}))().catch(({ name, message }) => console.log(name, message))`;
    const { stdout } = await run(node, ['-e', program]);
    expect(stdout).toMatch(/^Error pdex-gateway needs Node 24 or newer; this is Node \d+\.\d+\.\d+\n$/);
  });
});

installed('`require` gives the same library as `import`', async () => {
  const program =
    "import('pdex-gateway').then((all) => console.log(Object.keys(all), all.createGateway === require('pdex-gateway').createGateway))";
  const { stdout, stderr } = await run(process.execPath, ['-e', program], { cwd: folder, env: NPM_ENV });
  expect([stdout, stderr]).toEqual(["[ 'ConfigError', 'createGateway', 'createSandbox' ] true\n", '']);
});

test.each(oldNodes())('with the npm of %s, `npm ci` prints no warnings, but errors', async (node) => {
  const copy = mkdtempSync(join(tmpdir(), 'pdex-npm-ci-'));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  for (const path of ['.npmrc', 'package.json', 'package-lock.json', 'explorer/package.json'])
    cpSync(join(ROOT, path), join(copy, path));
  const env = { ...process.env, PATH: [dirname(node), process.env['PATH']].join(delimiter) };
  const install = () => run('npm', ['ci', '--dry-run', '--offline', '--ignore-scripts'], { cwd: copy, env });
  expect((await install()).stderr).toBe('');
  rmSync(join(copy, 'package-lock.json'));
  await expect(install()).rejects.toMatchObject({ stderr: expect.stringContaining('npm error code EUSAGE') });
});

const CONSUMER = `
import { buildSchema, GraphQLSchema, printSchema } from 'graphql';
import { createGateway, createSandbox, ConfigError, type Gateway, type GatewayOptions } from 'pdex-gateway';

const sandbox = await createSandbox({ seed: 7, pools: 10 });
const options: GatewayOptions = { fullnodeUrl: [sandbox.fullnodeUrl], marketDataUrl: sandbox.marketDataUrl, headPollMs: 100 };
const gateway: Gateway = await createGateway(options);
// @ts-expect-error A misspelt option is an error of types too.
const problems = await createGateway({ headPolMs: 1 }).catch((error: ConfigError) => error.problems);
const port: number | undefined = 0;
const { url } = await gateway.listen({ port, host: undefined });
const withExplorer = await createGateway({ ...options, explorer: true });
const pages = [url, (await withExplorer.listen({ port: 0 })).url].map((endpoint) => fetch(new URL('/chain', endpoint)));
const statuses = (await Promise.all(pages)).map((page) => page.status);
await withExplorer.close();
const body = JSON.stringify({ query: '{ poolPairs { totalCount } }' });
const headers = { 'content-type': 'application/json', connection: 'close' };
const response = await fetch(url, { method: 'POST', headers, body });
const schema: string = printSchema(gateway.schema);
console.log(JSON.stringify([await response.json(), gateway.schema instanceof GraphQLSchema, problems, statuses]));
buildSchema(schema);
await gateway.close();
await sandbox.close();
`;

installed('a strict project compiles against the types, and its program runs and exits by itself', async () => {
  writeFileSync(join(folder, 'consumer.ts'), CONSUMER);
  const options = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false', '--target', 'es2024'];
  const all = [...options, '--module', 'nodenext', '--moduleResolution', 'nodenext', '--types', 'node', 'consumer.ts'];
  const compiled = await run(join(ROOT, 'node_modules/.bin/tsc'), all, { cwd: folder, env: NPM_ENV }).catch(
    (error) => error,
  );
  expect(compiled.stdout).toBe('');

  const { stdout, stderr } = await run(process.execPath, ['consumer.js'], { cwd: folder, env: NPM_ENV });
  const answer = { data: { poolPairs: { totalCount: 10 } } };
  const problems = ['headPolMs is not an option: did you mean headPollMs?'];
  // By default, the library serves no explorer.
  expect(JSON.parse(stdout)).toEqual([answer, true, problems, [404, 200]]);
  expect(stderr).toBe('');
});

test('the options have the types of the source, and their descriptions', async () => {
  const published = join(ROOT, 'dist/types/library/setting-options.d.ts');
  const described = readFileSync(published, 'utf8').match(/^ {2}\/\*\* \S.* \*\/\n {2}readonly \w+\?: /gm);
  expect(described).toHaveLength(Object.keys(SETTINGS).length);
  const source = join(ROOT, 'src/library/setting-options.ts');
  const same = `
    import type { SettingOptions as Source } from ${JSON.stringify(source)};
    import type { SettingOptions as Published } from ${JSON.stringify(published)};
    type Flat<Type> = { [Key in keyof Type]: Type[Key] };
    type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
    export const isSame: IsSame<Flat<Source>, Flat<Published>> = true;`;
  writeFileSync(join(folder, 'same.mts'), same);
  const project = { extends: join(ROOT, 'tsconfig.json'), files: ['same.mts'], include: [] };
  writeFileSync(join(folder, 'same.json'), JSON.stringify(project));
  const compiled = await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'same.json'], {
    cwd: folder,
    env: NPM_ENV,
  }).catch((error) => error);
  expect(compiled.stdout).toBe('');
});

installed.each(['schema.graphql', 'package.json'])('%s can be found in the package', async (file) => {
  const program = `console.log(import.meta.resolve('pdex-gateway/${file}'))`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: folder, env: NPM_ENV });
  expect(readFileSync(new URL(stdout.trim()), 'utf8')).toBe(readFileSync(join(ROOT, file), 'utf8'));
});
