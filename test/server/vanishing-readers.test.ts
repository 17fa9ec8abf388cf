import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { startGatewayForTest } from '../support/gateway.ts';
import { connect } from '../support/websocket.ts';

const PRICES = 'subscription { prices { beaconHeight poolPairs { id price } } }';

test('a client that completes its operation stops all work for it', async () => {
  const { app } = await startGatewayForTest();
  const client = connect(await app.listen(0, '127.0.0.1'));
  const updates = client.iterate({ query: PRICES });
  await updates.next();
  expect(app.service.sources.head.listeners()).toBe(1);

  await updates.return?.();
  await vi.waitFor(() => expect(app.service.sources.head.listeners()).toBe(0));
});

test('a socket that closes stops all work for its operations', async () => {
  const { app } = await startGatewayForTest();
  const url = await app.listen(0, '127.0.0.1');
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await once(socket, 'message');
  for (const id of ['a', 'b', 'c']) socket.send(JSON.stringify({ type: 'subscribe', id, payload: { query: PRICES } }));
  await vi.waitFor(() => expect(app.service.sources.head.listeners()).toBe(3));

  socket.terminate();
  await vi.waitFor(() => expect(app.service.sources.head.listeners()).toBe(0));
});

test('a server-sent-events request that is broken off stops all work for it', async () => {
  const { app } = await startGatewayForTest();
  const url = new URL(await app.listen(0, '127.0.0.1'));
  const socket = connectSocket(Number(url.port), url.hostname);
  const query = encodeURIComponent(PRICES);
  socket.write(`GET /graphql?query=${query} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n`);
  await once(socket, 'data');
  await vi.waitFor(() => expect(app.service.sources.head.listeners()).toBe(1));

  socket.destroy();
  await vi.waitFor(() => expect(app.service.sources.head.listeners()).toBe(0));
});

test('a server-sent-events request that is broken off before its first event leaves nothing behind', async () => {
  const { app, ask, sandbox } = await startGatewayForTest();
  const url = new URL(await app.listen(0, '127.0.0.1'));
  sandbox.marketData.faults.set({ kind: 'delay', ms: 200, on: 'orderbook' });
  const socket = connectSocket(Number(url.port), url.hostname);
  const query = encodeURIComponent('subscription { orderBook(tickerId: "pBTC_PRV") { bestBid } }');
  socket.write(`GET /graphql?query=${query} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n`);
  await vi.waitFor(() => expect(sandbox.marketData.calls('orderbook')).toBe(1));
  socket.destroy();

  // Whoever asks meanwhile gets the same reading, so that it has been handed to the subscription too.
  await ask('{ orderBook(tickerId: "pBTC_PRV") { bestBid } }');
  await immediate();
  expect(sandbox.marketData.calls('orderbook')).toBe(1);
  expect(app.service.sources.orderBooks.listeners()).toBe(0);
});
