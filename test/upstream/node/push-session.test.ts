import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { openPushSession, type PushedBlock } from '../../../src/upstream/node/push-session.ts';

/** What a session reads from a frame with this block: a block, or the error with which it ends. */
async function readFrame(block: string): Promise<PushedBlock | string | undefined> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  server.on('connection', (socket) =>
    socket.once('message', () => socket.send(`{"Id":1,"Result":{"Subscription":"x","Result":${block}},"Error":null}`)),
  );
  const pushed = Promise.withResolvers<PushedBlock>();
  const session = openPushSession({
    url: new URL(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`),
    headers: {},
    timeoutMs: 5_000,
    pingMs: 5_000,
    onOpen() {},
    onBlock: pushed.resolve,
  });
  onTestFinished(async () => {
    session.leave();
    for (const client of server.clients) client.terminate();
    await session.ended;
  });
  return Promise.race([pushed.promise, session.ended.then((error) => error?.message)]);
}

const frame = (instructions: unknown) =>
  readFrame(`{"Hash":"ab","Height":7,"Time":1,"Instructions":${JSON.stringify(instructions)}}`);

const TRADE = ['285', '1', '0', 'cd', '{"Content":{"Amount":18446744073709551615,"Type":"280"}}'];

test.each<[string, unknown]>([
  ['a list', [['stake', '280'], TRADE]],
  ['missing', null],
  ['no list', { 0: ['280'] }],
])('a frame is read whose instructions are %s', async (_, instructions) => {
  const trades = Array.isArray(instructions) ? expect.any(Function) : undefined;
  expect(await frame(instructions)).toEqual({ height: 7, hash: 'ab', trades });
});

test('a large frame is read', async () => {
  expect(await frame(Array(10_000).fill(TRADE))).toMatchObject({ height: 7, hash: 'ab' });
});

test.each([`{"Hash":"ab","Height":${'9'.repeat(30)}}`, '{"Hash":"ab","Height":"7"}', '{"Height":7}'])(
  'a frame with another shape ends the session: %s',
  async (block) => {
    expect(await readFrame(block)).toContain('sent an invalid response');
  },
);

test('a node that does not use TLS, as its URL says it does, is one that cannot be reached, with a hint for the log', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const url = new URL(`wss://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const session = openPushSession({ url, headers: {}, timeoutMs: 5_000, pingMs: 5_000, onOpen() {}, onBlock() {} });
  const hint = 'the configured URL should perhaps begin with ws://';
  expect(await session.ended).toMatchObject({ code: 'UPSTREAM_UNREACHABLE', details: { host: url.host, hint } });
});

test('a session ends a moment after it is left, also if the node reads nothing any more', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  server.on('connection', (socket) => socket.pause());
  const opened = Promise.withResolvers<void>();
  const session = openPushSession({
    url: new URL(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`),
    headers: {},
    timeoutMs: 5_000,
    pingMs: 60_000,
    onOpen: opened.resolve,
    onBlock() {},
  });
  await opened.promise;
  const leftAt = performance.now();
  session.leave();
  expect(await session.ended).toBeUndefined();
  // By default, the package ws waits for 30 seconds.
  expect(performance.now() - leftAt).toBeLessThan(20_000);
  for (const client of server.clients) client.terminate();
});
