import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { Random } from '../../src/sandbox/chain/random.ts';
import { type Client, pause, pick, type SoakContext } from '../context.ts';
import { initConnection, openRawWebSocket } from '../websocket-client.ts';

const UPGRADE =
  'GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n';

/** Bytes that no client sends. The gateway must close the connection or respond. */
const BYTES: readonly ((random: Random) => readonly (string | Buffer)[])[] = [
  (random) => [Buffer.from(random.hex(400), 'hex')],
  (random) => [`POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Length: ${random.below(99_999)}\r\n\r\n{"query`],
  () => ['GET /graphql HTTP/9.9\r\n\r\n'],
  () => [`GET /graphql HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`],
  () => ['POST /graphql HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
  () => ['GET /graphql HTTP/1.1\r\nHost: [::\r\n\r\n'],
  (random) => [UPGRADE, Buffer.from(random.hex(64), 'hex')],
  // An unmasked frame; a length above the limit; a continuation frame without a first one.
  () => [UPGRADE, Buffer.from([0x81, 0x02, 0x7b, 0x7d])],
  () => [UPGRADE, Buffer.from([0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
  () => [UPGRADE, Buffer.from([0x80, 0x80, 0, 0, 0, 0])],
  () => ['GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
];

/** Violations of the websocket protocol: the expected close code, whether `connection_init` comes first, and the messages. */
const MESSAGES: readonly (readonly [code: number, initialises: boolean, ...messages: string[]])[] = [
  [4400, false, 'not JSON'],
  [4400, false, '{"type":"unheard of"}'],
  [4400, true, '{"type":"next","id":"1","payload":{}}'],
  [4401, false, subscribe('1')],
  [4429, true, '{"type":"connection_init"}'],
  [4409, true, subscribe('1'), subscribe('1')],
  [1009, true, `{"type":"ping","payload":{"x":"${'x'.repeat(300_000)}"}}`],
];

/** Sends random bytes instead of HTTP or websocket frames, violates the protocol, and sends headers slowly without an end. */
export const violateProtocols: Client = async (context, name, random) => {
  const { judge, signal, load } = context;
  while (!signal.aborted) {
    const violate = pick(random, [sendBytes, breakProtocol, breakProtocol, sendHeadersSlowly, exceedSubscriptionLimit]);
    await violate(context, random, name);
    judge.count('protocol violations');
    await pause(random, 0, 1_000 / load, signal);
  }
};

async function sendBytes(context: SoakContext, random: Random): Promise<void> {
  const socket = open(context);
  for (const bytes of pick(random, BYTES)(random)) {
    socket.write(bytes);
    await pause(random, 0, 100, context.signal);
  }
  await pause(random, 0, 1_000, context.signal);
  socket.destroy();
}

async function sendHeadersSlowly(context: SoakContext, random: Random): Promise<void> {
  const socket = open(context);
  socket.write('POST /graphql HTTP/1.1\r\nHost: x\r\n');
  for (let line = 0; line < 20 && !context.signal.aborted && !socket.destroyed; line++) {
    socket.write(`X-${line}: x\r\n`);
    await pause(random, 100, 400, context.signal);
  }
  socket.destroy();
}

async function breakProtocol(context: SoakContext, random: Random, name: string): Promise<void> {
  const [expected, initialises, ...messages] = pick(random, MESSAGES);
  const bare = await openRawWebSocket(context, name);
  if (initialises) await initConnection(bare);
  for (const message of messages) if (bare.socket.readyState === WebSocket.OPEN) bare.socket.send(message);
  const code = await bare.closed;
  if (code !== expected && !context.signal.aborted)
    context.judge.fail(`a websocket was closed with ${code} instead of ${expected}`, messages);
}

async function exceedSubscriptionLimit(context: SoakContext, random: Random, name: string): Promise<void> {
  const { judge, signal } = context;
  const bare = await openRawWebSocket(context, name);
  const { socket } = bare;
  const codes: string[] = [];
  await initConnection(bare);
  socket.on('message', (text) => {
    const { type, payload } = JSON.parse(String(text));
    if (type === 'error') codes.push(payload[0].extensions.code);
  });
  for (let id = 1; id <= 103 && socket.readyState === WebSocket.OPEN; id++) socket.send(subscribe(String(id)));
  for (let waited = 0; waited < 10_000 && codes.length < 3 && !signal.aborted; waited += 100)
    await pause(random, 100, 100, signal);
  // There must be no fourth one.
  await pause(random, 500, 1_500, signal);
  if (!signal.aborted && codes.join() !== 'RATE_LIMITED,RATE_LIMITED,RATE_LIMITED')
    judge.fail('103 subscriptions on one websocket: not the last 3 were RATE_LIMITED', codes);
  socket.close();
}

function subscribe(id: string): string {
  return JSON.stringify({ type: 'subscribe', id, payload: { query: 'subscription { head { hash } }' } });
}

function open({ url }: SoakContext): Socket {
  const socket = connect(Number(url.port), url.hostname);
  socket.on('error', () => {});
  socket.resume();
  return socket;
}
