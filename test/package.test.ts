import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { request } from 'undici';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { hasNoRegistry, NPM_ENV } from './support/npm.ts';
import { oldNodes } from './support/old-nodes.ts';
import { startOtlpReceiver } from './support/otlp-receiver.ts';

const ROOT = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** A folder with nothing but the installed package. */
const folder = mkdtempSync(join(tmpdir(), 'pdex-package-'));
const BIN = join(folder, 'node_modules/.bin/pdex-gateway');
const TARBALL = join(folder, `pdex-gateway-${version}.tgz`);

const run = promisify(execFile);

vi.setConfig({ testTimeout: 60_000 });

/** Why the package could not be installed. */
let notInstalled: string | undefined;

beforeAll(async () => {
  await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT, env: NPM_ENV });
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
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true }));

const installed = test.extend('isInstalled', { auto: true }, ({ skip }) => {
  if (notInstalled !== undefined) skip(notInstalled);
});

test('the tarball holds the bundle, its types, the schema and the documents, and nothing else', () => {
  const paths = execFileSync('tar', ['-tzf', TARBALL], { encoding: 'utf8' }).trim().split('\n');
  const types = paths.filter((path) => /^package\/dist\/types\/[\w/-]+\.d\.ts$/.test(path));
  expect(types.length).toBeLessThan(10);
  expect(paths.filter((path) => !types.includes(path)).toSorted()).toEqual(
    [
      ...['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json', 'schema.graphql'],
      ...['dist/graphiql-start.js', 'dist/index.js', 'dist/main.cjs', 'dist/opentelemetry.js', 'dist/start.cjs'],
      'dist/third-party-licenses.txt',
    ]
      .map((path) => `package/${path}`)
      .toSorted(),
  );
});

test('the bundles leave the dispatcher of Node’s own `fetch` alone', () => {
  for (const file of ['index.js', 'main.cjs'])
    expect(readFileSync(join(ROOT, 'dist', file), 'utf8')).not.toContain('undici.globalDispatcher');
});

installed('the command serves a query and GraphiQL, and exits with 0 on SIGTERM', async () => {
  const child = spawn(BIN, ['--port', '0', '--sandbox'], { cwd: folder, env: NPM_ENV });
  onTestFinished(() => void child.kill('SIGKILL'));
  let url = '';
  for await (const line of createInterface(child.stdout)) {
    url = JSON.parse(line).graphql ?? '';
    if (url !== '') break;
  }
  const answer = await fetch(`${url}?query={beaconHeight service{version}}`, { headers: { connection: 'close' } });
  expect(await answer.json()).toEqual({ data: { beaconHeight: 1_640_000, service: { version } } });
  // Node's own fetch sends the `Sec-Fetch` headers of a script.
  const page = await request(url, { headers: { accept: 'text/html' }, reset: true });
  expect(await page.body.text()).toContain('toStartOptions');

  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('OpenTelemetry is in a file of its own, which is loaded when traces are on', () => {
  const hasTelemetry = (file: string) => readFileSync(join(ROOT, 'dist', file), 'utf8').includes('BatchSpanProcessor');
  expect(['index.js', 'main.cjs', 'opentelemetry.js'].filter(hasTelemetry)).toEqual(['opentelemetry.js']);
});

installed('the command sends traces', async () => {
  const receiver = await startOtlpReceiver();
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url.href, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  const child = spawn(BIN, ['--port', '0', '--sandbox'], { cwd: folder, env: { ...NPM_ENV, ...traces } });
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
test.each(oldNodes())('on %s the command prints the version that it needs, and exits with 1', async (node) => {
  const start = join(ROOT, 'dist/start.cjs');
  const running = run(node, [start]);
  await expect(running).rejects.toMatchObject({ code: 1, stdout: '' });
  const { stderr } = await running.catch((error) => error);
  expect(stderr).toMatch(/^pdex-gateway needs Node 24 or newer; this is Node \d+\.\d+\.\d+\n$/);
});

const CONSUMER = `
import { buildSchema, GraphQLSchema, printSchema } from 'graphql';
import { createGateway, createSandbox, ConfigError, type Gateway, type GatewayOptions } from 'pdex-gateway';

const sandbox = await createSandbox({ seed: 7, pools: 10 });
const options: GatewayOptions = { fullnodeUrl: [sandbox.fullnodeUrl], marketDataUrl: sandbox.marketDataUrl, headPollMs: 100 };
const gateway: Gateway = await createGateway(options);
// @ts-expect-error A misspelt option is an error of types too.
const problems = await createGateway({ headPolMs: 1 }).catch((error: ConfigError) => error.problems);
const { url } = await gateway.listen({ port: 0 });
const body = JSON.stringify({ query: '{ poolPairs { totalCount } }' });
const headers = { 'content-type': 'application/json', connection: 'close' };
const response = await fetch(url, { method: 'POST', headers, body });
const schema: string = printSchema(gateway.schema);
console.log(JSON.stringify([await response.json(), gateway.schema instanceof GraphQLSchema, problems]));
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
  expect(JSON.parse(stdout)).toEqual([answer, true, ['headPolMs is not an option: did you mean headPollMs?']]);
  expect(stderr).toBe('');
});

installed('the schema is a file of the package', async () => {
  const program = "console.log(import.meta.resolve('pdex-gateway/schema.graphql'))";
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: folder, env: NPM_ENV });
  expect(readFileSync(new URL(stdout.trim()), 'utf8')).toBe(readFileSync(join(ROOT, 'schema.graphql'), 'utf8'));
});
