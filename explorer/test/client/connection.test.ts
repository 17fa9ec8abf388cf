import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Connection, createConnection } from '../../src/client/connection.ts';

/** A websocket whose server answers nothing by itself. */
class SilentSocket {
  static readonly OPEN = 1;
  static readonly all: SilentSocket[] = [];
  static readonly CLOSING = 2;
  readyState = 0;
  onopen?: () => void;
  onmessage?: (event: { data: string }) => void;
  onclose?: ((event: { code: number; reason: string }) => void) | null;
  readonly sent: string[] = [];
  constructor() {
    SilentSocket.all.push(this);
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text).type);
  }
  close(): void {
    this.readyState = SilentSocket.CLOSING;
  }
  /** As when its upgrade is refused, or a connection breaks. */
  async break(): Promise<void> {
    this.readyState = SilentSocket.CLOSING;
    this.onclose?.({ code: 1006, reason: '' });
    await vi.advanceTimersByTimeAsync(0);
  }
  async accept(): Promise<void> {
    this.readyState = SilentSocket.OPEN;
    this.onopen?.();
    await vi.advanceTimersByTimeAsync(0);
    this.receive('connection_ack');
    await vi.advanceTimersByTimeAsync(0);
  }
  receive(type: string): void {
    this.onmessage?.({ data: JSON.stringify({ type }) });
  }
}

let connection: Connection;

/** The requests of the page: whether the gateway answers at all, and event streams. */
const requests: {
  readonly isStream: boolean;
  readonly headers: Headers;
  readonly body: string;
  signal: AbortSignal;
}[] = [];
let isAnswering: boolean;
const openStreams = () => requests.filter(({ isStream, signal }) => isStream && !signal.aborted);

/** A gateway whose event streams never end. Each begins with a height. */
async function respond(_url: string, { headers, body, signal }: RequestInit & { body: string; signal: AbortSignal }) {
  const isStream = new Headers(headers).get('accept') === 'text/event-stream';
  requests.push({ isStream, headers: new Headers(headers), body, signal });
  if (!isAnswering) throw new TypeError('Failed to fetch');
  if (!isStream) return Response.json({ data: { __typename: 'Query' } });
  const event = ':\n\nevent: next\nid: 7\ndata: {"data":{"head":{"beaconHeight":7}}}\n\n';
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(event));
      const comments = setInterval(() => isAnswering && controller.enqueue(new TextEncoder().encode(':\n\n')), 12_000);
      signal.addEventListener('abort', () => {
        clearInterval(comments);
        controller.error(signal.reason);
      });
    },
  });
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
}

beforeEach(() => {
  vi.useFakeTimers();
  SilentSocket.all.length = 0;
  requests.length = 0;
  isAnswering = false;
  vi.stubGlobal('fetch', respond);
  vi.stubGlobal('WebSocket', SilentSocket);
  vi.stubGlobal('window', new EventTarget());
  vi.stubGlobal('document', Object.assign(new EventTarget(), { hidden: false }));
  connection = createConnection('ws://gateway.example/graphql', () => 1);
});

afterEach(() => {
  connection.dispose();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const sockets = () => SilentSocket.all.length;
const newest = () => SilentSocket.all.at(-1) as SilentSocket;

test('a websocket whose upgrade is never answered is given up after 15 seconds, and another one is tried', async () => {
  await vi.advanceTimersByTimeAsync(14_999);
  expect([sockets(), connection.state.get().name]).toEqual([1, 'connecting']);
  await vi.advanceTimersByTimeAsync(1);
  expect(connection.state.get().name).toBe('reconnecting');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sockets()).toBe(2);
  await newest().accept();
  expect(connection.state.get().name).toBe('connected');
});

test('a websocket that is open but silent is given up when it answers no ping', async () => {
  await vi.advanceTimersByTimeAsync(0);
  await newest().accept();
  await vi.advanceTimersByTimeAsync(12_000);
  expect(newest().sent).toEqual(['connection_init', 'ping']);
  newest().receive('pong');
  await vi.advanceTimersByTimeAsync(12_000);
  expect(newest().sent).toEqual(['connection_init', 'ping', 'ping']);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(connection.state.get().name).toBe('reconnecting');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sockets()).toBe(2);
});

test('a lost connection is tried again at once when a request shows that the gateway can be reached', async () => {
  for (const _ of [1, 2, 3, 4, 5, 6, 7]) {
    await newest().break();
    await vi.advanceTimersByTimeAsync(30_000);
  }
  await newest().break();
  const before = sockets();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([connection.state.get().name, sockets()]).toEqual(['disconnected', before]);
  connection.retryIfLost();
  await vi.advanceTimersByTimeAsync(0);
  expect(sockets()).toBe(before + 1);
  await newest().accept();
  connection.retryIfLost();
  await vi.advanceTimersByTimeAsync(0);
  expect([connection.state.get().name, sockets()]).toEqual(['connected', before + 1]);
});

const HEAD = { query: 'subscription { head { beaconHeight } }' };
const heights: unknown[] = [];
/** Follows the head, and keeps what arrives in `heights`. */
function follow(): () => void {
  heights.length = 0;
  const fail = () => heights.push('ended');
  return connection.subscribe(HEAD, { next: ({ data }) => heights.push(data), error: fail, complete: fail });
}

test('a page that cannot open a websocket while the gateway answers uses event streams, until it can', async () => {
  follow();
  isAnswering = true;
  await newest().break();
  // The first attempt may have been at a gateway that is restarting.
  expect([connection.state.get().name, requests.length]).toEqual(['reconnecting', 0]);
  await vi.advanceTimersByTimeAsync(1_000);
  await newest().break();
  await vi.advanceTimersByTimeAsync(0);
  expect(connection.state.get()).toEqual({ name: 'connected', over: 'event-streams' });
  expect(heights).toEqual([{ head: { beaconHeight: 7 } }]);

  await vi.advanceTimersByTimeAsync(59_000);
  expect(sockets()).toBe(2);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sockets()).toBe(3);
  expect(openStreams()).toHaveLength(1);
  await newest().accept();
  expect(connection.state.get()).toEqual({ name: 'connected', over: 'websocket' });
  expect(openStreams()).toHaveLength(0);
  expect(newest().sent).toEqual(['connection_init', 'subscribe']);
  expect(heights).toEqual([{ head: { beaconHeight: 7 } }]);
});

test('a websocket that is silent for five seconds while the gateway answers leads to event streams', async () => {
  follow();
  isAnswering = true;
  await vi.advanceTimersByTimeAsync(4_999);
  expect(connection.state.get()).toEqual({ name: 'connecting' });
  await vi.advanceTimersByTimeAsync(10);
  expect(connection.state.get()).toEqual({ name: 'connected', over: 'event-streams' });
  // It was only slow.
  await newest().accept();
  expect(connection.state.get()).toEqual({ name: 'connected', over: 'websocket' });
});

test('so does a websocket that is accepted, and on which nothing else arrives', async () => {
  follow();
  isAnswering = true;
  await newest().accept();
  await vi.advanceTimersByTimeAsync(17_000);
  expect(connection.state.get().name).toBe('reconnecting');
  await vi.advanceTimersByTimeAsync(1_000);
  await newest().accept();
  await vi.advanceTimersByTimeAsync(17_010);
  expect(connection.state.get()).toEqual({ name: 'connected', over: 'event-streams' });
});

test('a websocket that breaks after a minute is opened again', async () => {
  follow();
  isAnswering = true;
  for (const minute of [1, 2, 3]) {
    await newest().accept();
    for (const _ of [1, 2, 3, 4, 5]) {
      await vi.advanceTimersByTimeAsync(12_000);
      newest().receive('pong');
    }
    await newest().break();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sockets()).toBe(minute + 1);
  }
  expect(openStreams()).toHaveLength(0);
});

test('during an outage nothing but websockets is tried, also after event streams', async () => {
  follow();
  for (const _ of [1, 2, 3]) {
    await newest().break();
    await vi.advanceTimersByTimeAsync(8_000);
  }
  expect([connection.state.get().name, requests.every(({ isStream }) => !isStream)]).toEqual(['disconnected', true]);
  let restored = 0;
  connection.onRestored(() => {
    restored += 1;
  });

  isAnswering = true;
  await newest().break();
  await vi.advanceTimersByTimeAsync(30_000);
  await newest().break();
  await vi.advanceTimersByTimeAsync(0);
  expect([connection.state.get(), restored]).toEqual([{ name: 'connected', over: 'event-streams' }, 1]);

  isAnswering = false;
  // No byte arrives any longer, not even a comment.
  while (connection.state.get().name === 'connected') await vi.advanceTimersByTimeAsync(1_000);
  isAnswering = true;
  await newest().break();
  await vi.advanceTimersByTimeAsync(4_000);
  await newest().break();
  await vi.advanceTimersByTimeAsync(10);
  expect([connection.state.get(), restored]).toEqual([{ name: 'connected', over: 'event-streams' }, 2]);
  expect(heights).toEqual([{ head: { beaconHeight: 7 } }, { head: { beaconHeight: 7 } }]);
});
