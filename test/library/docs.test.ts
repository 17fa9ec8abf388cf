import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { createClient } from 'graphql-ws';
import { expect, onTestFinished, test } from 'vitest';
import { createGateway } from '../../src/index.ts';
import { samplesIn } from '../support/doc-pages.ts';
import { freePort } from '../support/ports.ts';

const ROOT = new URL('../../', import.meta.url);
const samples = samplesIn('ts').filter(({ text }) => text.includes("'pdex-gateway'"));
const sampleWith = (part: string) => samples.find(({ text }) => text.includes(part))?.text ?? '';
const README = sampleWith('createServer(gateway.handler)');
const PROGRAM = sampleWith('maxDepth');
const TEST = sampleWith('node:test');
const FAULT = sampleWith('const end = sandbox.faults');
const SERVERS = [sampleWith("request.url === '/hello'"), sampleWith("from 'express'"), sampleWith("from 'fastify'")];

/** Runs a program from this checkout. */
function run(text: string) {
  const args = ['--no-warnings', '--import', './test/support/pdex-gateway.ts', '--input-type=module-typescript'];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdin.end(text);
  return { child, exit: once(child, 'close'), output: readText(child.stdout), errors: readText(child.stderr) };
}

const importsOf = (text: string) => text.match(/^import .*$/gm) ?? [];
const bodyOf = (text: string) => text.replace(/^import .*$/gm, '');

/** One program for several samples, each with a port of its own, because each process takes a second to load the gateway. */
function programOf(texts: readonly string[], ports: readonly number[]): string {
  const imports = new Set(texts.flatMap(importsOf));
  const bodies = texts.map((text, n) => `void (async () => {${bodyOf(text).replaceAll('4000', String(ports[n]))}})();`);
  return [...imports, ...bodies].join('\n');
}

test('each sample is tested', () => {
  expect(new Set([README, PROGRAM, TEST, FAULT, ...SERVERS])).toEqual(new Set(samples.map(({ text }) => text)));
});

test('the shortest program answers', async () => {
  const gateway = await createGateway({ stopWindowMs: 0 });
  const server = createServer();
  onTestFinished(async () => {
    server.close();
    await gateway.close();
    server.closeAllConnections();
  });
  const imports = {
    createGateway: async () => gateway,
    createServer: (handler: RequestListener) => server.on('request', handler),
  };
  const port = await freePort();
  const text = `return (async () => {${bodyOf(README).replace('4000', String(port))}})();`;
  await new Function(...Object.keys(imports), text)(...Object.values(imports));
  if (!server.listening) await once(server, 'listening');
  expect((server.address() as AddressInfo).port).toBe(port);
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
});

test('the other programs answer beside routes of their own, and nothing of them stays after close', async () => {
  const programs = [PROGRAM, ...SERVERS];
  const ports = await Promise.all(programs.map(() => freePort()));
  const { child, exit, output, errors } = run(programOf(programs, ports));
  await Promise.all(ports.slice(1).map((port) => expectAnswers(`http://127.0.0.1:${port}`)));
  child.kill('SIGTERM');
  expect([await exit, await output, await errors]).toEqual([[0, null], expect.stringMatching(/^16400\d\d\n$/), '']);
});

/** The height of a sandbox that has just started, and makes a block every four seconds. */
const NEW_SANDBOX_HEIGHT = expect.closeTo(1_640_000, -2);

async function expectAnswers(origin: string): Promise<void> {
  const hello = () => fetch(`${origin}/hello`).then(({ status }) => status, String);
  await expect.poll(hello).toBe(200);
  expect(await (await fetch(`${origin}/hello`)).text()).toBe('hello');

  const answer = { data: { beaconHeight: NEW_SANDBOX_HEIGHT } };
  const post = (accept: string) => {
    const headers = { 'content-type': 'application/json', accept };
    return fetch(`${origin}/graphql`, { method: 'POST', headers, body: '{"query":"{ beaconHeight }"}' });
  };
  expect(await (await post('application/json')).json()).toEqual(answer);
  expect(await (await post('text/event-stream')).text()).toMatch(/\{"data":\{"beaconHeight":16400\d\d\}\}/);
  const got = await fetch(`${origin}/graphql?query={beaconHeight}`);
  expect(await got.json()).toEqual(answer);
  expect((await fetch(`${origin}/nowhere`)).status).toBe(404);

  const client = createClient({ url: `${origin.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket });
  for await (const { data } of client.iterate({ query: 'subscription { head { beaconHeight } }' })) {
    expect(data).toEqual({ head: { beaconHeight: NEW_SANDBOX_HEIGHT } });
    break;
  }
  await client.dispose();
}

test('a test of a user passes, and its process exits', async () => {
  const { exit, output, errors } = run(TEST);
  expect(await exit).toEqual([0, null]);
  expect(await output).toMatch(/pass 1\b/);
  expect(await errors).toBe('');
});

test('the sample of a fault ends it, and exits', async () => {
  const { exit, output, errors } = run(FAULT);
  expect([await exit, await output, await errors]).toEqual([[0, null], '', '']);
});
