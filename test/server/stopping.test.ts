import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { readEvents } from '../support/events.ts';
import { NEVER_MS, startGatewayForTest } from '../support/gateway.ts';
import { openSocket } from '../support/transports.ts';
import { connect, take } from '../support/websocket.ts';

/** Whether a new connection is refused. */
async function isRefused(url: string): Promise<boolean> {
  const socket = connectSocket(Number(new URL(url).port), '127.0.0.1');
  const isRefused = await once(socket, 'connect').then(
    () => false,
    () => true,
  );
  socket.destroy();
  return isRefused;
}

test('a gateway that stops reports it at /ready, answers new requests for a while, then refuses connections', async () => {
  const { app, sandbox } = await startGatewayForTest({ config: { stopWindowMs: 2_000, stopTimeoutMs: NEVER_MS } });
  const url = await app.listen(0, '127.0.0.1');
  await (await fetch(`${url}?query={beaconHeight}`)).text();
  sandbox.marketData.faults.set({ kind: 'delay', ms: 4_000, on: 'orderbook' });
  const running = fetch(`${url}?query={orderBook(tickerId:"pBTC_PRV"){tickerId}}`);
  await expect.poll(() => sandbox.marketData.calls('orderbook')).toBe(1);

  const closed = app.close();
  // At the same time: on a busy machine, the first could take longer than the window.
  const [ready, late] = await Promise.all([fetch(new URL('/ready', url)), fetch(`${url}?query={beaconHeight}`)]);
  expect([ready.status, await ready.json()]).toEqual([
    503,
    {
      status: 'not ready',
      reasons: [{ code: 'STOPPING', message: 'the gateway is stopping' }],
      exchangeVersion: 'V1',
      sandbox: true,
    },
  ]);
  expect([late.status, late.headers.get('connection')]).toEqual([200, 'close']);
  await late.text();
  await expect.poll(() => isRefused(url)).toBe(true);

  const answer = await running;
  expect(answer.headers.get('connection')).toBe('close');
  expect(await answer.json()).toEqual({ data: { orderBook: { tickerId: 'pBTC_PRV' } } });
  await closed;
});

test('requests that do not end are aborted after the stop window and the stop timeout, and no later', async () => {
  const config = { stopWindowMs: 300, stopTimeoutMs: 400, upstreamTimeoutMs: NEVER_MS };
  const { app, sandbox } = await startGatewayForTest({ config });
  const url = await app.listen(0, '127.0.0.1');
  sandbox.marketData.faults.set({ kind: 'hang', on: 'orderbook' });
  const running = fetch(`${url}?query={orderBook(tickerId:"pBTC_PRV"){tickerId}}`);
  await expect.poll(() => sandbox.marketData.calls('orderbook')).toBe(1);

  const from = performance.now();
  await Promise.all([app.close(), expect(running).rejects.toThrow()]);
  const tookMs = performance.now() - from;
  expect(tookMs).toBeGreaterThanOrEqual(650);
  // The request would take until the timeout of the upstream.
  expect(tookMs).toBeLessThan(120_000);
});

test('connections that wait to be accepted when the port closes are accepted first, and answered', async () => {
  const { app, ask } = await startGatewayForTest({ config: { stopTimeoutMs: NEVER_MS } });
  await ask('{ beaconHeight }');
  const { port } = new URL(await app.listen(0, '127.0.0.1'));
  const closed = app.close();
  const answers = Array.from({ length: 40 }, () => {
    const socket = connectSocket(Number(port), '127.0.0.1');
    socket.write('GET /graphql?query={beaconHeight} HTTP/1.1\r\nHost: x\r\n\r\n');
    return text(socket);
  });
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  await closed;
});

test('a gateway without clients ends at once', async () => {
  const { app } = await startGatewayForTest({ config: { stopWindowMs: NEVER_MS } });
  await app.listen(0, '127.0.0.1');
  await app.close();
});

test('a connection without a request does not delay the end', async () => {
  const { app } = await startGatewayForTest({ config: { stopWindowMs: 50, stopTimeoutMs: NEVER_MS } });
  const socket = connectSocket(Number(new URL(await app.listen(0, '127.0.0.1')).port), '127.0.0.1');
  await once(socket, 'connect');
  await app.close();
});

test('a client whose websocket was refused, and that stays connected, does not delay the end', async () => {
  const { app } = await startGatewayForTest();
  const port = Number(new URL(await app.listen(0, '127.0.0.1')).port);
  const socket = connectSocket({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.resume().write('GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  await once(socket, 'end');
  await app.close();
});

test('websockets are closed with 1001, so that their clients connect again elsewhere', async () => {
  const { app } = await startGatewayForTest();
  const socket = new WebSocket((await app.listen(0, '127.0.0.1')).replace('http', 'ws'), 'graphql-transport-ws');
  await once(socket, 'open');
  const closed = once(socket, 'close');
  await app.close();
  expect((await closed)[0]).toBe(1001);
});

test('a new websocket is accepted and then closed with 1001: clients do not retry after a refusal', async () => {
  const { app } = await startGatewayForTest({ config: { stopWindowMs: 2_000 } });
  const url = await app.listen(0, '127.0.0.1');
  await openSocket(url);
  const closed = app.close();
  // It can be closed at any moment of the window, also before it has sent anything.
  const late = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');
  expect((await once(late, 'close'))[0]).toBe(1001);
  await closed;
});

test('a query on a websocket is finished before the socket is closed', async () => {
  const { app, sandbox } = await startGatewayForTest({ config: { stopTimeoutMs: NEVER_MS } });
  const client = connect(await app.listen(0, '127.0.0.1'));
  sandbox.marketData.faults.set({ kind: 'delay', ms: 300, on: 'orderbook' });
  const answers = take(client, '{ orderBook(tickerId: "pBTC_PRV") { tickerId } }', 1);
  await expect.poll(() => sandbox.marketData.calls('orderbook')).toBe(1);
  const closed = app.close();
  expect(await answers).toEqual([{ data: { orderBook: { tickerId: 'pBTC_PRV' } } }]);
  await closed;
});

test('a client that does not respond, and an event stream, do not delay the end', async () => {
  const { app } = await startGatewayForTest({ config: { stopTimeoutMs: NEVER_MS } });
  const url = await app.listen(0, '127.0.0.1');
  const asleep = connectSocket(Number(new URL(url).port), '127.0.0.1');
  const key = 'dGhlIHNhbXBsZSBub25jZQ==';
  asleep.write(
    `GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n`,
  );
  await once(asleep, 'data');
  asleep.pause();

  const response = await fetch(`${url}?query=subscription{head{beaconHeight}}`, {
    headers: { accept: 'text/event-stream' },
  });
  const events = readEvents(response);
  await events.next();
  const rest = events.next();
  await Promise.all([app.close(), expect(rest).rejects.toThrow()]);
  asleep.destroy();
});

test('requests to nodes that a gateway aborts when it stops are only logged at level debug', async () => {
  const { app, sandbox, lines, advance } = await startGatewayForTest({
    sandbox: { nodes: 2, exchange: 'v3', pools: 6 },
    config: { upstreamTimeoutMs: NEVER_MS, logLevel: 'debug' },
  });
  await advance();
  const hangOn = async (call: 'getblockchaininfo' | 'retrievebeaconblockbyheight') => {
    const calls = () => sandbox.nodes.map((node) => node.calls(call)).reduce((sum, count) => sum + count);
    const callsBefore = calls();
    for (const { faults } of sandbox.nodes) faults.set({ kind: 'hang', on: call });
    sandbox.advance(1);
    await expect.poll(calls).toBeGreaterThan(callsBefore);
  };
  await hangOn('retrievebeaconblockbyheight');
  await hangOn('getblockchaininfo');

  await app.close();
  const failures = () => lines.filter(({ cause }) => cause === 'The client is destroyed').map(({ level }) => level);
  // Of the polls of both nodes, and of the trades.
  await expect.poll(failures).toEqual([20, 20, 20]);
});
