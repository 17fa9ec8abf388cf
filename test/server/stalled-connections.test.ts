import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { startGatewayForTest, type TestGatewayOptions } from '../support/gateway.ts';
import { readSample } from '../support/metrics.ts';
import { repeat } from '../support/operations.ts';

type Exchange = [IncomingMessage, ServerResponse];

const PERIOD_MS = 600;

/** How much longer than promised a busy machine may take. By default, Node closes such connections after 60 seconds. */
const SLACK_MS = 40_000;

/** Polls would cost more than the subject of these tests, which wait for seconds. */
const CONFIG = { keepAliveMs: PERIOD_MS, headPollMs: 60_000, marketPollMs: 60_000 };

async function open(options: TestGatewayOptions = { config: CONFIG }) {
  const gateway = await startGatewayForTest(options);
  const url = await gateway.app.listen(0, '127.0.0.1');
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  return { url, socket };
}

/** @returns the first line that the gateway sent before it closed, and after how many milliseconds it did */
async function untilClosed(socket: Socket): Promise<{ said: string; afterMs: number }> {
  const from = performance.now();
  const said = await text(socket);
  return { said: said.split('\r\n')[0] ?? '', afterMs: performance.now() - from };
}

describe('a request must be complete within two periods', () => {
  test.each([
    ['nothing comes, which is no error', '', 0],
    ['its head does not end', 'POST /graphql HTTP/1.1\r\nHost: x\r\nX-Slow: ', 1],
    [
      'its body does not end',
      'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"query"',
      1,
    ],
  ])('%s', async (_, begin, errors) => {
    const { socket, url } = await open();
    socket.write(begin);
    const { said, afterMs } = await untilClosed(socket);
    expect(said).toBe('HTTP/1.1 408 Request Timeout');
    expect(afterMs).toBeLessThan(2 * PERIOD_MS + SLACK_MS);
    expect((await readSample(url, 'pdex_errors_total{code="BAD_USER_INPUT"}')) ?? 0).toBe(errors);
  });
});

/** Creates what waits after each chunk, so that a client reads 3 MB a second: no less on a busy machine, whose pauses are longer. */
function createSlowReading(): (chunk: Buffer) => Promise<void> {
  let dueAt: number | undefined;
  return (chunk) => {
    dueAt = (dueAt ?? performance.now()) + chunk.length / 3_000;
    return sleep(Math.max(0, dueAt - performance.now()));
  };
}

describe('an answer that is larger than the buffers', () => {
  /** A query with so many pages of 500 pools, of about 200 KB each. */
  const queryOf = (pages: number) => `{ ${repeat(pages, (n) => `a${n}: poolPairs(first: 500) { nodes { ...P } }`)} }
    fragment P on PoolPair { id key price exactPrice inversePrice spotPrice token1PoolValue token2PoolValue }`;
  const targetOf = (pages: number) => `/graphql?query=${encodeURIComponent(queryOf(pages))}`;
  const requestOf = (pages: number, connection: string) =>
    `GET ${targetOf(pages)} HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\n\r\n`;
  /** Enough for a client that reads 3 MB a second for two periods and more. */
  const PAGES = 80;
  const options = {
    config: { ...CONFIG, maxComplexity: 1_000_000, maxValues: 10_000_000 },
    sandbox: { pools: 500, sharesPerPool: 1, history: 5 },
  };

  test.each([
    ['sends nothing', ''],
    ['goes on sending', '\r\n'],
  ])('is aborted if its client does not read it and %s', async (_, more) => {
    const { socket, url } = await open(options);
    socket.write(requestOf(40, 'keep-alive'));
    await once(socket, 'readable');
    // What is sent after the reset fails.
    socket.on('error', () => {});
    const from = performance.now();
    const sending = setInterval(() => socket.write(more), PERIOD_MS / 10);
    onTestFinished(() => clearInterval(sending));
    const answered = 'pdex_http_requests_total{endpoint="graphql",status="200"} 1';
    const metrics = async () => (await fetch(new URL('/metrics', url))).text();
    await expect.poll(metrics, { interval: 100 }).toContain(answered);
    expect(performance.now() - from).toBeLessThan(2 * PERIOD_MS + SLACK_MS);
    clearInterval(sending);
    await expect(text(socket).then(answerOf)).rejects.toThrow();
  });

  test('is aborted over HTTP/2 too', async () => {
    const gateway = await startGatewayForTest(options);
    await gateway.untilReady();
    const server = createHttp2Server((...exchange) => gateway.app.handle(...(exchange as never as Exchange)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    onTestFinished(() => void server.close());
    onTestFinished(() => client.destroy());
    // More than the window of a stream, which has 64 KB.
    client.request({ ':path': targetOf(5) });
    const [, response] = await once(server, 'request');
    await once(response, 'close');
    expect(response.writableFinished).toBe(false);
  });

  test('arrives completely if it is read slowly', async () => {
    // The system reports progress in steps of a third of its buffers, 1 MB or more on loopback.
    const periodMs = 4 * PERIOD_MS;
    const { socket } = await open({ ...options, config: { ...options.config, keepAliveMs: periodMs } });
    socket.write(requestOf(PAGES, 'close'));
    await once(socket, 'readable');
    const from = performance.now();
    const isSlow = () => performance.now() - from <= 2 * periodMs;
    const pause = createSlowReading();
    let said = '';
    for await (const chunk of socket) {
      said += chunk;
      if (isSlow()) await pause(chunk);
    }
    expect(isSlow()).toBe(false);
    expect(Object.keys(answerOf(said).data)).toHaveLength(PAGES);
  });

  test('arrives completely over a websocket if it is read slowly, and the pings wait behind it', async () => {
    const periodMs = 4 * PERIOD_MS;
    const { url, socket } = await open({ ...options, config: { ...options.config, keepAliveMs: periodMs } });
    socket.destroy();
    const wire = connect(Number(new URL(url).port), '127.0.0.1');
    const client = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', { createConnection: () => wire });
    await once(client, 'open');
    client.send('{"type":"connection_init"}');
    await once(client, 'message');
    const from = performance.now();
    const isSlow = () => performance.now() - from <= 2.5 * periodMs;
    let result = '';
    client.on('message', (message) => {
      result ||= String(message);
      client.close();
    });
    const pause = createSlowReading();
    wire.on('data', async (chunk: Buffer) => {
      if (!isSlow()) return;
      wire.pause();
      await pause(chunk);
      wire.resume();
    });
    client.send(JSON.stringify({ type: 'subscribe', id: 'slow', payload: { query: queryOf(PAGES) } }));
    const [code] = await once(client, 'close');
    expect(code).toBe(1005);
    expect(isSlow()).toBe(false);
    expect(Object.keys(JSON.parse(result).payload.data)).toHaveLength(PAGES);
  });

  function answerOf(said: string): { data: object } {
    return JSON.parse(said.slice(said.indexOf('\r\n\r\n')));
  }
});
