import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startGatewayForTest } from '../support/gateway.ts';

const PRICES = 'subscription { prices { beaconHeight poolPairs { id price } } }';

test('the gateway stops all work for the operations of a websocket that closes', async () => {
  const { app } = await startGatewayForTest();
  const url = await app.listen(0, '127.0.0.1');
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await once(socket, 'message');
  for (const id of ['a', 'b', 'c']) socket.send(JSON.stringify({ type: 'subscribe', id, payload: { query: PRICES } }));
  await expect.poll(() => app.service.sources.head.subscribers()).toBe(3);

  socket.terminate();
  await expect.poll(() => app.service.sources.head.subscribers()).toBe(0);
});

test('the gateway stops all work for an event stream that its client aborts', async () => {
  const { app } = await startGatewayForTest();
  const url = new URL(await app.listen(0, '127.0.0.1'));
  const socket = connectSocket(Number(url.port), url.hostname);
  const query = encodeURIComponent(PRICES);
  socket.write(`GET /graphql?query=${query} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n`);
  await once(socket, 'data');
  await expect.poll(() => app.service.sources.head.subscribers()).toBe(1);

  socket.destroy();
  await expect.poll(() => app.service.sources.head.subscribers()).toBe(0);
});

test('an event stream that its client aborts before it begins leaves nothing open', async () => {
  const { app, sandbox } = await startGatewayForTest();
  const url = await app.listen(0, '127.0.0.1');
  await (await fetch(`${url}?query={tickers{id}}`)).text();
  sandbox.marketData.faults.set({ kind: 'delay', ms: 300, on: 'orderbook' });

  const reader = new AbortController();
  const query = encodeURIComponent('subscription { orderBook(tickerId: "pBTC_PRV") { bestBid } }');
  const headers = { accept: 'text/event-stream' };
  const stream = fetch(`${url}?query=${query}`, { headers, signal: reader.signal });
  await expect.poll(() => sandbox.marketData.calls('orderbook')).toBe(1);
  reader.abort();
  await expect(stream).rejects.toThrow('aborted');

  const metrics = async () => (await fetch(new URL('/metrics', url))).text();
  await expect.poll(metrics).toContain('{type="subscribe",outcome="whole"} 1');
  await expect.poll(() => app.service.sources.orderBooks.subscribers()).toBe(0);
});
