import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';

/** The two transports of a subscription. */
export type SubscriptionTransport = 'websocket' | 'events';

/** How a subscriber misbehaves: it stops reading, half-closes its connection, or answers no pings. */
export type Misbehaviour = 'pause' | 'halfClose' | 'neverPong';

/** A client that reads a subscription to `prices` on a socket of its own. */
export type RawSubscriber = {
  /** The heights that have arrived, in their order of arrival. */
  readonly heights: readonly number[];
  readonly socket: Socket;
  readonly misbehave: (how: Misbehaviour) => void;
};

const OPENED_AT_ONCE = 100;

/** Opens so many subscribers. Each has got its first answer. */
export async function openSubscribers(
  url: string,
  transport: SubscriptionTransport,
  count: number,
  query: string,
): Promise<RawSubscriber[]> {
  const open = transport === 'websocket' ? openWebSocketSubscriber : openEventSubscriber;
  const subscribers: RawSubscriber[] = [];
  while (subscribers.length < count) {
    const some = Math.min(OPENED_AT_ONCE, count - subscribers.length);
    subscribers.push(...(await Promise.all(Array.from({ length: some }, () => open(url, query)))));
  }
  return subscribers;
}

async function openWebSocketSubscriber(url: string, query: string): Promise<RawSubscriber> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let isPonging = true;
  const webSocket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', {
    createConnection: () => socket,
    autoPong: false,
  });
  webSocket.on('ping', (data) => isPonging && webSocket.pong(data));
  webSocket.on('error', () => {});
  await once(webSocket, 'open');
  webSocket.send('{"type":"connection_init"}');
  await once(webSocket, 'message');
  const heights = readHeights(webSocket, 'message');
  webSocket.send(JSON.stringify({ type: 'subscribe', id: 'x', payload: { query } }));
  await once(webSocket, 'message');

  function misbehave(how: Misbehaviour): void {
    if (how === 'pause') webSocket.pause();
    else if (how === 'halfClose') socket.end();
    else isPonging = false;
  }
  return { heights, socket, misbehave };
}

async function openEventSubscriber(url: string, query: string): Promise<RawSubscriber> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  const heights = readHeights(socket, 'data');
  const path = `${pathname}?query=${encodeURIComponent(query)}`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAccept: text/event-stream\r\n\r\n`);
  while (heights.length === 0) await once(socket, 'data');

  function misbehave(how: Misbehaviour): void {
    if (how === 'pause') socket.pause();
    else if (how === 'halfClose') socket.end();
  }
  return { heights, socket, misbehave };
}

const HEIGHT_FOLLOWS = Buffer.from('"prices":{"beaconHeight":');

/** Searches the bytes without decoding them: a thousand subscribers read large updates. */
function readHeights(source: WebSocket | Socket, event: 'message' | 'data'): number[] {
  const heights: number[] = [];
  let rest = Buffer.alloc(0);
  source.on(event, (chunk: Buffer) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let end = 0;
    for (let at = bytes.indexOf(HEIGHT_FOLLOWS); at >= 0; at = bytes.indexOf(HEIGHT_FOLLOWS, end)) {
      const from = at + HEIGHT_FOLLOWS.length;
      const height = /^\d+(?=[,}])/.exec(bytes.toString('latin1', from, from + 20))?.[0];
      if (height === undefined) break;
      heights.push(Number(height));
      end = from + height.length;
    }
    // A chunk may end within a height.
    rest = Buffer.from(bytes.subarray(Math.max(end, bytes.length - 50)));
  });
  return heights;
}
