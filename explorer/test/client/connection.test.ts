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

beforeEach(() => {
  vi.useFakeTimers();
  SilentSocket.all.length = 0;
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
