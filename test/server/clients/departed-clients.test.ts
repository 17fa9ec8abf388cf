import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import express from 'express';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { isClosed, whenClosed } from '../../../src/server/requests/closing.ts';
import { startGatewayForTest, type TestGatewayOptions } from '../../support/gateway.ts';

const BOOK = encodeURIComponent('subscription { orderBook(tickerId: "pBTC_PRV") { bestBid } }');
const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';

/** Serves a gateway in Express, behind code that waits: with the header `x-late`, until the client has left. */
async function open(config: NonNullable<TestGatewayOptions['config']>) {
  const { app, untilReady, sandbox } = await startGatewayForTest({ config });
  await untilReady();
  let passed = Promise.withResolvers<void>();

  /** Looks up the client, as code that logs or authenticates does. */
  async function wait({ socket, headers }: IncomingMessage, closing: NodeJS.EventEmitter) {
    expect(socket.remoteAddress).toBe('127.0.0.1');
    if (headers['x-late']) await once(closing, 'close');
  }
  const server = createServer(
    express()
      .use(async (sent, response, next) => {
        await wait(sent, response);
        next();
        passed.resolve();
      })
      .use(app.handle),
  );
  server.on('upgrade', async (sent, socket, head) => {
    // Node notices only while it reads that a client leaves, and does not close its own side.
    if (sent.headers['x-late']) socket.resume().once('end', () => socket.destroy());
    await wait(sent, socket);
    app.handleUpgrade(sent, socket, head);
    passed.resolve();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;

  return {
    host: `127.0.0.1:${port}`,
    tip: sandbox.chain.tip.height,
    /** Sends a request and leaves. Resolves when the gateway has got the request after that. */
    async leave(target: string, headers = '', body = '') {
      passed = Promise.withResolvers();
      const received = once(server, headers === UPGRADE ? 'upgrade' : 'request');
      const socket = connect(port, '127.0.0.1');
      const method = body === '' ? 'GET' : 'POST';
      const length = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
      socket.write(`${method} ${target} HTTP/1.1\r\nHost: x\r\nX-Late: 1\r\n${length}${headers}\r\n${body}`);
      await received;
      socket.destroy();
      await passed.promise;
    },
  };
}

test('clients that left before the gateway got their requests do not count as connections', async () => {
  const { leave, host } = await open({ maxConnectionsPerAddress: 1 });
  const ask = () => fetch(`http://${host}/graphql?query={__typename}`);
  for (let n = 0; n < 3; n++) {
    await leave('/graphql?query={__typename}');
    await leave('/graphql', '', '{"query":"{ __typename }"}');
    await leave(`/graphql?query=${BOOK}`, 'Accept: text/event-stream\r\n');
    await leave('/openapi.json');
    await leave('/graphql', UPGRADE);
  }
  for (let n = 0; n < 3; n++) {
    const response = await ask();
    expect([response.status, await response.json()]).toEqual([200, { data: { __typename: 'Query' } }]);
  }
  const socket = new WebSocket(`ws://${host}/graphql`, 'graphql-transport-ws');
  await once(socket, 'open');
  expect((await ask()).status).toBe(429);
  socket.terminate();
  await expect.poll(async () => (await ask()).status).toBe(200);
});

test('an event stream whose client left before leaves no timer of its keep-alive', async () => {
  // Odd: Node requires whole numbers for the timeouts that are parts of it.
  const keepAliveMs = 54_321;
  const running = countIntervals(keepAliveMs);
  const { leave, host } = await open({ keepAliveMs });
  await leave(`/graphql?query=${BOOK}`, 'Accept: text/event-stream\r\n');
  const metrics = async () => (await fetch(`http://${host}/metrics`)).text();
  await expect.poll(metrics).toContain('{type="subscribe",outcome="whole"} 1');
  await expect.poll(running).toEqual([1, 0]);
});

test('an operation whose client left before does not wait for a height', async () => {
  const { leave, host, tip } = await open({});
  await leave('/graphql?query={beaconHeight}', `X-Pdex-Min-Height: ${tip + 1}\r\n`);
  const metrics = await (await fetch(`http://${host}/metrics`)).text();
  expect(metrics).toContain('pdex_minimum_heights_total{outcome="left"} 1');
  expect(metrics).toContain('pdex_minimum_height_waiting 0');
});

test('a response over HTTP/2 that closed before calls its listener at once', async () => {
  const server = createHttp2Server();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => void server.close());
  onTestFinished(() => void client.close());
  client.request({ ':path': '/' }).resume();
  const [, response] = await once(server, 'request');
  let calls = 0;
  whenClosed(response, () => calls++);
  expect([isClosed(response), calls]).toEqual([false, 0]);
  const closed = once(response, 'close');
  response.end();
  await closed;
  whenClosed(response, () => calls++);
  expect([isClosed(response), calls]).toEqual([true, 2]);
});

/** Counts the intervals of a test that are that long. @returns how many were started, and how many still run */
function countIntervals(ms: number): () => [number, number] {
  const { setInterval: start, clearInterval: stop } = globalThis;
  let started = 0;
  const running = new Set<unknown>();
  const restore = { setInterval: start, clearInterval: stop };
  Object.assign(globalThis, {
    setInterval(...args: Parameters<typeof start>) {
      const timer = start(...args);
      if (args[1] === ms) running.add(timer);
      started += args[1] === ms ? 1 : 0;
      return timer;
    },
    clearInterval(timer: NodeJS.Timeout) {
      running.delete(timer);
      stop(timer);
    },
  });
  onTestFinished(() => void Object.assign(globalThis, restore));
  return () => [started, running.size];
}
