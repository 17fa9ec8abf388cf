import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { Random } from '../../src/sandbox/chain/random.ts';
import { introduce, openBareSocket } from '../socket.ts';
import { type Client, pause, pick, type Stage } from '../stage.ts';

const UPGRADE =
  'GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n';

/** Bytes that no client sends: the gateway closes the connection or answers, and that is all that happens. */
const BYTES: readonly ((random: Random) => readonly (string | Buffer)[])[] = [
  (random) => [Buffer.from(random.hex(400), 'hex')],
  (random) => [`POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Length: ${random.below(99_999)}\r\n\r\n{"query`],
  () => ['GET /graphql HTTP/9.9\r\n\r\n'],
  () => [`GET /graphql HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`],
  () => ['POST /graphql HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
  () => ['GET /graphql HTTP/1.1\r\nHost: [::\r\n\r\n'],
  (random) => [UPGRADE, Buffer.from(random.hex(64), 'hex')],
  // Not masked, as only a server's frames are; a length that no message may have; a fragment of nothing.
  () => [UPGRADE, Buffer.from([0x81, 0x02, 0x7b, 0x7d])],
  () => [UPGRADE, Buffer.from([0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
  () => [UPGRADE, Buffer.from([0x80, 0x80, 0, 0, 0, 0])],
  () => ['GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
];

/** What breaks the protocol of the websocket: the code that it is closed with, whether the peer introduces itself first. */
const MESSAGES: readonly (readonly [code: number, introducesItself: boolean, ...messages: string[]])[] = [
  [4400, false, 'not JSON'],
  [4400, false, '{"type":"unheard of"}'],
  [4400, true, '{"type":"next","id":"1","payload":{}}'],
  [4401, false, subscribe('1')],
  [4429, true, '{"type":"connection_init"}'],
  [4409, true, subscribe('1'), subscribe('1')],
  [1009, true, `{"type":"ping","payload":{"x":"${'x'.repeat(300_000)}"}}`],
];

/** Sends garbage where HTTP or websocket frames belong, breaks the protocol, and dribbles headers without an end. */
export const intrude: Client = async (stage, name, random) => {
  const { judge, signal, load } = stage;
  while (!signal.aborted) {
    const way = pick(random, [sendBytes, breakProtocol, breakProtocol, dribble, openTooMany]);
    await way(stage, random, name);
    judge.count('intrusions');
    await pause(random, 0, 1_000 / load, signal);
  }
};

async function sendBytes(stage: Stage, random: Random): Promise<void> {
  const socket = open(stage);
  for (const bytes of pick(random, BYTES)(random)) {
    socket.write(bytes);
    await pause(random, 0, 100, stage.signal);
  }
  await pause(random, 0, 1_000, stage.signal);
  socket.destroy();
}

async function dribble(stage: Stage, random: Random): Promise<void> {
  const socket = open(stage);
  socket.write('POST /graphql HTTP/1.1\r\nHost: x\r\n');
  for (let line = 0; line < 20 && !stage.signal.aborted && !socket.destroyed; line++) {
    socket.write(`X-${line}: x\r\n`);
    await pause(random, 100, 400, stage.signal);
  }
  socket.destroy();
}

async function breakProtocol(stage: Stage, random: Random, name: string): Promise<void> {
  const [expected, introducesItself, ...messages] = pick(random, MESSAGES);
  const bare = await openBareSocket(stage, name);
  if (introducesItself) await introduce(bare);
  for (const message of messages) if (bare.socket.readyState === WebSocket.OPEN) bare.socket.send(message);
  const code = await bare.closed;
  if (code !== expected && !stage.signal.aborted)
    stage.judge.wrong(`a websocket was closed with ${code} instead of ${expected}`, messages);
}

async function openTooMany(stage: Stage, random: Random, name: string): Promise<void> {
  const { judge, signal } = stage;
  const bare = await openBareSocket(stage, name);
  const { socket } = bare;
  const codes: string[] = [];
  await introduce(bare);
  socket.on('message', (text) => {
    const { type, payload } = JSON.parse(String(text));
    if (type === 'error') codes.push(payload[0].extensions.code);
  });
  for (let id = 1; id <= 103 && socket.readyState === WebSocket.OPEN; id++) socket.send(subscribe(String(id)));
  await pause(random, 1_500, 2_500, signal);
  if (!signal.aborted && codes.join() !== 'RATE_LIMITED,RATE_LIMITED,RATE_LIMITED')
    judge.wrong('103 subscriptions on one websocket: not the last 3 were RATE_LIMITED', codes);
  socket.close();
}

function subscribe(id: string): string {
  return JSON.stringify({ type: 'subscribe', id, payload: { query: 'subscription { head { hash } }' } });
}

function open({ url }: Stage): Socket {
  const socket = connect(Number(url.port), url.hostname);
  socket.on('error', () => {});
  socket.resume();
  return socket;
}
