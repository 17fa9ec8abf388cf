import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';

/** The two ways to read a subscription. */
export type ReadingDoor = 'websocket' | 'events';

/** How a reader ceases to be a good one: it takes nothing more, or says that it will send nothing more. */
export type Misbehaviour = 'pause' | 'halfClose' | 'neverPong';

/** Someone who reads a subscription of `prices`. */
export type Reader = {
  /** Which heights came, in the order in which they came. */
  readonly heights: readonly number[];
  readonly socket: Socket;
  readonly cease: (how: Misbehaviour) => void;
};

const OPENED_AT_ONCE = 100;

/** Opens so many readers of a subscription; each has its first answer. */
export async function openReaders(url: string, door: ReadingDoor, count: number, query: string): Promise<Reader[]> {
  const open = door === 'websocket' ? openWebSocketReader : openEventReader;
  const readers: Reader[] = [];
  while (readers.length < count) {
    const some = Math.min(OPENED_AT_ONCE, count - readers.length);
    readers.push(...(await Promise.all(Array.from({ length: some }, () => open(url, query)))));
  }
  return readers;
}

async function openWebSocketReader(url: string, query: string): Promise<Reader> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let isPonging = true;
  const webSocket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', {
    createConnection: () => socket,
    autoPong: false,
  });
  webSocket.on('ping', () => isPonging && webSocket.pong());
  webSocket.on('error', () => {});
  await once(webSocket, 'open');
  webSocket.send('{"type":"connection_init"}');
  await once(webSocket, 'message');
  const heights = readHeights(webSocket, 'message');
  webSocket.send(JSON.stringify({ type: 'subscribe', id: 'x', payload: { query } }));
  await once(webSocket, 'message');

  function cease(how: Misbehaviour): void {
    if (how === 'pause') webSocket.pause();
    else if (how === 'halfClose') socket.end();
    else isPonging = false;
  }
  return { heights, socket, cease };
}

async function openEventReader(url: string, query: string): Promise<Reader> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  const heights = readHeights(socket, 'data');
  const path = `${pathname}?query=${encodeURIComponent(query)}`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAccept: text/event-stream\r\n\r\n`);
  while (heights.length === 0) await once(socket, 'data');

  function cease(how: Misbehaviour): void {
    if (how === 'pause') socket.pause();
    else if (how === 'halfClose') socket.end();
  }
  return { heights, socket, cease };
}

function readHeights(source: WebSocket | Socket, event: 'message' | 'data'): number[] {
  const heights: number[] = [];
  let rest = '';
  source.on(event, (bytes: Buffer) => {
    const text = rest + bytes.toString('latin1');
    let end = 0;
    for (const match of text.matchAll(/"prices":\{"beaconHeight":(\d+)[,}]/g)) {
      heights.push(Number(match[1]));
      end = match.index + match[0].length;
    }
    // A chunk may end within a height.
    rest = text.slice(Math.max(end, text.length - 40));
  });
  return heights;
}
