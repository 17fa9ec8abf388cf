import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as readText } from 'node:stream/consumers';
import { createClient } from 'graphql-ws';
import { expect, onTestFinished, test, vi } from 'vitest';
import { samplesIn } from '../support/doc-pages.ts';
import { freePort } from '../support/nginx.ts';

const ROOT = new URL('../../', import.meta.url);
const samples = samplesIn('ts').filter(({ text }) => text.includes("'pdex-gateway'"));
const sampleWith = (part: string) => samples.find(({ text }) => text.includes(part))?.text ?? '';
const README = sampleWith('createServer(gateway.handler)');

/** Programs start slowly while other tests run. */
const UNTIL_STARTED = { timeout: 60_000 };
vi.setConfig({ testTimeout: 90_000 });

/** Runs a sample from this checkout, with another port in the place of 4000. */
function run(text: string, port = 0) {
  const args = ['--no-warnings', '--import', './test/support/pdex-gateway.ts', '--input-type=module-typescript'];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdin.end(text.replaceAll('4000', String(port)));
  return { child, exit: once(child, 'close'), output: readText(child.stdout), errors: readText(child.stderr) };
}

const SERVERS: Readonly<Record<string, string>> = {
  'node:http': sampleWith("request.url === '/hello'"),
  express: sampleWith("from 'express'"),
  fastify: sampleWith("from 'fastify'"),
};

test('each sample is tested', () => {
  const tested = [README, sampleWith('maxDepth'), sampleWith('node:test'), ...Object.values(SERVERS)];
  expect(new Set(tested)).toEqual(new Set(samples.map(({ text }) => text)));
});

test('a gateway of a process answers, and nothing of it stays after close', async () => {
  const { exit, output, errors } = run(sampleWith('maxDepth'), await freePort());
  expect(await exit).toEqual([0, null]);
  expect([await output, await errors]).toEqual(['1640000\n', '']);
});

test('the shortest program answers', async () => {
  const port = await freePort();
  run(README, port);
  const health = () => fetch(`http://127.0.0.1:${port}/health`).then(({ status }) => status, String);
  await expect.poll(health, UNTIL_STARTED).toBe(200);
});

test.each(Object.entries(SERVERS))('in a server of %s it answers beside other routes', async (_name, text) => {
  const port = await freePort();
  const { child, exit, output, errors } = run(text, port);
  const origin = `http://127.0.0.1:${port}`;
  const hello = () => fetch(`${origin}/hello`).then(({ status }) => status, String);
  await expect.poll(hello, UNTIL_STARTED).toBe(200);
  expect(await (await fetch(`${origin}/hello`)).text()).toBe('hello');

  const answer = { data: { beaconHeight: 1_640_000 } };
  const post = (accept: string) => {
    const headers = { 'content-type': 'application/json', accept };
    return fetch(`${origin}/graphql`, { method: 'POST', headers, body: '{"query":"{ beaconHeight }"}' });
  };
  expect(await (await post('application/json')).json()).toEqual(answer);
  expect(await (await post('text/event-stream')).text()).toContain(JSON.stringify(answer));
  const got = await fetch(`${origin}/graphql?query={beaconHeight}`);
  expect(await got.json()).toEqual(answer);
  expect((await fetch(`${origin}/nowhere`)).status).toBe(404);

  const client = createClient({ url: `ws://127.0.0.1:${port}/graphql`, webSocketImpl: WebSocket });
  for await (const { data } of client.iterate({ query: 'subscription { head { beaconHeight } }' })) {
    expect(data).toEqual({ head: { beaconHeight: 1_640_000 } });
    break;
  }
  await client.dispose();
  child.kill('SIGTERM');
  expect([await exit, await output, await errors]).toEqual([[0, null], '', '']);
});

test('a test of a user passes, and its process exits', async () => {
  const { exit, output, errors } = run(sampleWith('node:test'));
  expect(await exit).toEqual([0, null]);
  expect(await output).toMatch(/pass 1\b/);
  expect(await errors).toBe('');
});
