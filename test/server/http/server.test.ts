import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createOpenResponses } from '../../../src/server/http/open-responses.ts';
import { closeServer, createHttpServer } from '../../../src/server/http/server.ts';
import { createMetrics } from '../../../src/server/metrics/metrics.ts';
import { until } from '../../support/until.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** A server, and its responses. */
function createServerForTest(handle: Handle) {
  const metrics = createMetrics('test');
  const responses = createOpenResponses({ metrics, isLast: () => false });
  const server = createHttpServer({ handle, responses, connections: undefined, metrics, keepAliveMs: 12_000 });
  onTestFinished(() => closeServer(server));
  return { server, responses };
}

const COUNT = 1_000;

test('few of the requests that a client sends in one write are handled in one turn of the event loop, and answered in order', async () => {
  let thisTurn = 0;
  let most = 0;
  function handle(request: IncomingMessage, response: ServerResponse): void {
    if (thisTurn === 0)
      setImmediate(() => {
        thisTurn = 0;
      });
    thisTurn += 1;
    most = Math.max(most, thisTurn);
    response.end(`${request.url}\n`);
  }
  const { server } = createServerForTest(handle);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const requests = Array.from({ length: COUNT }, (_, n) => {
    const connection = n === COUNT - 1 ? 'close' : 'keep-alive';
    return `GET /${n} HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\n\r\n`;
  });
  socket.write(requests.join(''));
  const answered = (await text(socket)).match(/^\/\d+$/gm);
  expect(answered).toEqual(Array.from({ length: COUNT }, (_, n) => `/${n}`));
  expect(most).toBeLessThan(10);
});

test('while many requests of a connection wait, nothing more is read from it, and those of other connections do not wait for them', async () => {
  const count = 10_000;
  let emitted = 0;
  let handled = 0;
  let mostWaiting = 0;
  const handledBefore: number[] = [];
  const { server } = createServerForTest((request, response) => {
    if (request.url === '/pair') handledBefore.push(handled);
    else handled += 1;
    response.end();
  });
  server.prependListener('request', ({ url }) => {
    if (url === '/pair') return;
    emitted += 1;
    mostWaiting = Math.max(mostWaiting, emitted - handled);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const { port } = server.address() as AddressInfo;
  const [flood, pair] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  await once(pair, 'connect');
  flood.resume().write('GET /flood HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count));
  await until(() => handled > 100);
  pair.write('GET /pair HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2));
  await until(() => handledBefore.length === 2);
  const [first = 0, second = count] = handledBefore;
  expect(second - first).toBeLessThan(20);
  await until(() => handled === count);
  // Node parses what one read has returned, at most 64 KB.
  expect(mostWaiting).toBeLessThan(4_000);
  flood.destroy();
  pair.destroy();
});

test('nothing more is read from a connection while more than ten of its requests are in progress, and all are answered in order', async () => {
  const count = 100;
  const held: (() => void)[] = [];
  let isHeld = true;
  const { server } = createServerForTest((request, response) => {
    const end = () => response.end(`${request.url}\n`);
    request.resume();
    if (isHeld) held.push(end);
    else end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connected = once(server, 'connection');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [served] = await connected;
  const body = 'x'.repeat(20_000);
  const requests = Array.from({ length: count }, (_, n) => {
    const connection = n === count - 1 ? 'close' : 'keep-alive';
    return `POST /${n} HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  });
  socket.write(requests.join(''));
  await until(() => held.length === count || (served.isPaused() && held.length > 10));
  expect(held.length).toBeLessThan(20);
  isHeld = false;
  for (const end of held) end();
  const answered = (await text(socket)).match(/^\/\d+$/gm);
  expect(answered).toEqual(Array.from({ length: count }, (_, n) => `/${n}`));
});

test('a client that is refused may read why for a second, and is disconnected if it keeps its side open', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { server } = createServerForTest(() => expect.unreachable());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connected = once(server, 'connection');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  const [served] = await connected;
  socket.resume().write('no HTTP\r\n\r\n');
  await once(socket, 'end');
  vi.advanceTimersByTime(999);
  expect(served.destroyed).toBe(false);
  vi.advanceTimersByTime(1);
  expect(served.destroyed).toBe(true);
});

test('a server that starts to listen while a response of fetch ends does not close its first connections', async () => {
  const { server, responses } = createServerForTest(() => expect.unreachable());
  const closeIdle = vi.spyOn(server, 'closeIdleConnections');
  const listening = once(server, 'listening');
  server.listen(0, '127.0.0.1');
  await responses.trackFetch(Promise.resolve());
  await listening;
  await nextTurn();
  expect(closeIdle).not.toHaveBeenCalled();
});

test.each([
  ['application/json', 2.5],
  ['text/event-stream', undefined],
])('the duration of a response is counted in seconds, and an event stream has none: %s', (type, seconds) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const recorded: unknown[] = [];
  const metrics = { recordResponse: (...response: readonly unknown[]) => void recorded.push(response) };
  const { track } = createOpenResponses({ metrics, isLast: () => false });
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request).setHeader('content-type', type);
  const exchange = { request, response, id: '1', endpoint: 'graphql', sentBefore: undefined };
  track({ ...exchange, startedAt: performance.now() });
  vi.advanceTimersByTime(2_500);
  response.emit('close');
  expect(recorded).toEqual([['graphql', 200, seconds]]);
});
