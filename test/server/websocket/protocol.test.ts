import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { type ProtocolOptions, speakProtocol } from '../../../src/server/websocket/protocol.ts';
import { nextMessage, openSocket } from '../../support/transports.ts';

async function serve(options: Partial<ProtocolOptions>) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  speakProtocol(server, { keepAliveMs: 12_000, internal: () => {}, ...options });
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('nothing more is read from a peer that asks and does not read, and all is answered once it does', async () => {
  const { server, url } = await serve({});
  const client = await openSocket(url);
  const [socket] = server.clients;
  const text = 'x'.repeat(200_000);
  const pings = 400;
  let pongs = 0;
  client.on('message', () => {
    pongs++;
  });

  client.pause();
  for (let n = 0; n < pings; n++) client.send(JSON.stringify({ type: 'ping', payload: { text } }));
  await vi.waitUntil(() => socket?.isPaused, { timeout: 10_000 });
  expect(socket?.bufferedAmount).toBeLessThan(20 * 2 ** 20);

  client.resume();
  await vi.waitUntil(() => pongs === pings, { timeout: 10_000 });
  expect(socket?.isPaused).toBe(false);
});

test('an error of ours is told to the log, and its words not to the peer', async () => {
  const errors: unknown[] = [];
  const secret = new Error('http://10.0.0.1:9334 broke');
  const { url } = await serve({
    internal: (error) => errors.push(error),
    onSubscribe: () => Promise.reject(secret),
  });
  const client = await openSocket(url);
  client.send('{"type":"subscribe","id":"1","payload":{"query":"{ x }"}}');
  const [code, reason] = await once(client, 'close');
  expect([code, String(reason)]).toEqual([4500, 'Internal server error']);
  expect(errors).toEqual([secret]);
});

test('a peer that no longer answers is left, and one that does is kept', async () => {
  const { server, url } = await serve({ keepAliveMs: 300 });
  const there = await openSocket(url);
  const silent = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', { autoPong: false });
  await once(silent, 'open');
  const [code] = await once(silent, 'close');
  expect(code).toBe(1006);
  await vi.waitUntil(() => server.clients.size === 1);
  there.send('{"type":"ping"}');
  expect(JSON.parse(await nextMessage(there))).toEqual({ type: 'pong' });
});
