import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { GraphQLError } from 'graphql';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { WrittenResult } from '../../../src/graphql/execution/written-result.ts';
import { EncodedResponse } from '../../../src/server/operations/encoded-response.ts';
import { ClientSocket } from '../../../src/server/websocket/client-socket.ts';
import { type ProtocolOptions, runProtocol } from '../../../src/server/websocket/protocol.ts';
import { sendResult } from '../../../src/server/websocket/sending.ts';
import { openSocket } from '../../support/transports.ts';
import { until } from '../../support/until.ts';

async function serve(options: Partial<ProtocolOptions>) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', WebSocket: ClientSocket });
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  runProtocol(server, { keepAliveMs: 12_000, internal: () => {}, ...options });
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('nothing more is read from a client that sends without reading, and everything is answered when it reads', async () => {
  const { server, url } = await serve({});
  const client = await openSocket(url);
  const [socket] = server.clients;
  const text = 'x'.repeat(200_000);
  const pings = 200;
  let pongs = 0;
  client.on('message', () => {
    pongs++;
  });

  client.pause();
  for (let n = 0; n < pings; n++) client.send(JSON.stringify({ type: 'ping', payload: { text } }));
  await until(() => socket?.isPaused === true && socket.bufferedAmount > 2 ** 20);
  expect(socket?.bufferedAmount).toBeLessThan(4 * 2 ** 20);

  client.resume();
  await until(() => pongs === pings);
  expect(socket?.isPaused).toBe(false);
});

test('a ping has its payload in the pong, unless the payload is nested too deeply', async () => {
  const { url } = await serve({});
  const client = await openSocket(url);
  const [open, close] = ['['.repeat(60_000), ']'.repeat(60_000)];
  const pongs: string[] = [];
  client.on('message', (pong) => void pongs.push(String(pong)));
  for (const payload of [`{"0":${open}${close}}`, '{"a":1}']) client.send(`{"type":"ping","payload":${payload}}`);
  client.send('{"type":"ping"}');
  await until(() => pongs.length === 3);
  expect(pongs).toEqual(['{"type":"pong"}', '{"type":"pong","payload":{"a":1}}', '{"type":"pong"}']);
});

test('nothing more is read from a client that does not read its results, whose operations stay open until they are written', async () => {
  const result = new WrittenResult(`"${'x'.repeat(2 ** 16)}"`);
  const response = new EncodedResponse(result);
  const open: number[] = [];
  const { server, url } = await serve({
    async onSubscribe({ extra: { socket, identity }, subscriptions }, id) {
      const receiver = { socket, wire: identity.socket, id };
      sendResult(receiver, response, (send) => send());
      open.push(Object.keys(subscriptions).length);
      await socket.untilWritten(identity.socket);
      delete subscriptions[id];
      return [new GraphQLError('The result was sent.')];
    },
  });
  const client = await openSocket(url);
  const [socket] = server.clients;
  const count = 300;
  let completed = 0;
  client.on('message', (text) => {
    if (String(text).includes('"complete"')) completed++;
  });

  client.pause();
  const send = (n: number) =>
    client.send(`{"id":"${n}","type":"subscribe","payload":{"query":"{ x } # ${'x'.repeat(100_000)}"}}`);
  for (let n = 0; n < count; n++) send(n);
  await until(() => socket?.isPaused === true && socket.bufferedAmount > 2 ** 20);
  expect(socket?.bufferedAmount).toBeLessThan(4 * 2 ** 20);
  expect(Math.max(...open)).toBeGreaterThan(10);

  client.resume();
  await until(() => completed === count);
  expect(socket?.isPaused).toBe(false);
});

test.each([
  ['short', 2_000, '', 40],
  ['long', 300, 'x'.repeat(10_000), 5],
])(
  'few of the %s messages that a client sends in one write are handled in one turn of the event loop, each in its order',
  async (_length, count, comment, limit) => {
    const ids: string[] = [];
    let thisTurn = 0;
    let most = 0;
    const { server, url } = await serve({
      async onSubscribe(_, id) {
        if (thisTurn === 0)
          setImmediate(() => {
            thisTurn = 0;
          });
        thisTurn += 1;
        most = Math.max(most, thisTurn);
        ids.push(id);
        return [new GraphQLError('The result was sent.')];
      },
    });
    const wire = connect(Number(new URL(url).port), '127.0.0.1');
    const client = await openSocket(url, { createConnection: () => wire });
    wire.cork();
    for (let n = 0; n < count; n++)
      client.send(`{"id":"${n}","type":"subscribe","payload":{"query":"{ x } #${comment}"}}`);
    wire.uncork();
    await until(() => ids.length === count);
    expect(ids).toEqual(Array.from({ length: count }, (_, n) => String(n)));
    expect(most).toBeLessThan(limit);
    const [socket] = server.clients;
    await until(() => socket?.isPaused === false);
  },
);

test('an internal error is logged, and its message is not sent to the client', async () => {
  const errors: unknown[] = [];
  const secret = new Error('http://10.0.0.1:9334 broke');
  const { url } = await serve({
    internal: (error) => errors.push(error),
    onSubscribe: () => Promise.reject(secret),
  });
  const client = await openSocket(url);
  client.send('{"type":"subscribe","id":"1","payload":{"query":"{ x }"}}');
  const [code, reason] = await once(client, 'close');
  expect([code, String(reason)]).toEqual([4500, 'Internal server error']);
  expect(errors).toEqual([secret]);
});

/** A client that sends no pongs by itself, and the clock of the pings. */
async function openSilent() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { server, url } = await serve({});
  const client = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', { autoPong: false });
  await once(client, 'open');
  const socket = [...server.clients][0] as ClientSocket;
  const { _socket: wire } = socket as unknown as { readonly _socket: Duplex };
  const pinged = async () => {
    vi.advanceTimersByTime(12_000);
    return (await once(client, 'ping'))[0];
  };
  return { client, socket, wire, pinged };
}

test.each([
  ['nothing', () => {}],
  ['pongs of its own', (client: WebSocket) => client.pong()],
  ['the pong of an earlier ping', (client: WebSocket, _ping: Buffer, first: Buffer) => client.pong(first)],
])('a client that answers a ping with %s is terminated a period later', async (_, answer) => {
  const { client, socket, pinged } = await openSilent();
  const ponged = once(socket, 'pong');
  const first = await pinged();
  client.pong(first);
  await ponged;

  const read = once(socket, 'message');
  answer(client, await pinged(), first);
  // The pong is read before this.
  client.send('{"type":"ping"}');
  await read;
  vi.advanceTimersByTime(11_999);
  expect(socket.readyState).toBe(WebSocket.OPEN);
  vi.advanceTimersByTime(1);
  expect(socket.readyState).toBe(WebSocket.CLOSING);
  await once(socket, 'close');
  expect(vi.getTimerCount()).toBe(0);
});

test('a client whose ping waits behind other bytes is terminated a period after the ping was written', async () => {
  const { client, socket, wire } = await openSilent();
  const pinged = once(client, 'ping');
  wire.cork();
  vi.advanceTimersByTime(26_000);
  expect(socket.readyState).toBe(WebSocket.OPEN);
  wire.uncork();
  await pinged;
  vi.advanceTimersByTime(11_999);
  expect(socket.readyState).toBe(WebSocket.OPEN);
  vi.advanceTimersByTime(1);
  expect(socket.readyState).toBe(WebSocket.CLOSING);
});

test('a client from which nothing is read is not terminated until its pong can be read', async () => {
  const { socket, pinged } = await openSilent();
  await pinged();
  socket.pause();
  vi.advanceTimersByTime(24_000);
  expect(socket.readyState).toBe(WebSocket.OPEN);
  socket.resume();
  vi.advanceTimersByTime(12_000);
  expect(socket.readyState).toBe(WebSocket.CLOSING);
});

test('a client may send a thousand pongs without a ping in each period', async () => {
  const { client, socket, pinged } = await openSilent();
  for (let period = 0; period < 2; period++) {
    for (let n = 0; n < 1_000; n++) client.pong();
    client.send('{"type":"ping"}');
    const [closedOrRead] = await Promise.race([once(socket, 'message'), once(socket, 'close')]);
    expect(String(closedOrRead)).toBe('{"type":"ping"}');
    if (period === 0) client.pong(await pinged());
  }
});

test('a client that sends very many pongs is terminated, and the rest of them is not read', async () => {
  const { server, url } = await serve({});
  const wire = connect(Number(new URL(url).port), '127.0.0.1');
  const client = await openSocket(url, { createConnection: () => wire });
  const [socket] = server.clients;
  let pongs = 0;
  socket?.on('pong', () => {
    pongs++;
  });
  client.on('error', () => {});
  const closed = once(socket as ClientSocket, 'close');
  // A pong without a payload, whose mask is zero.
  const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
  wire.write(Buffer.concat(Array(100_000).fill(pong)));
  const [code] = await closed;
  expect(code).toBe(1006);
  // Those of one read of the connection.
  expect(pongs).toBeLessThan(50_000);
});

test('a client that reads nothing is disconnected, also if it goes on sending and no ping can be written', async () => {
  const { server, url } = await serve({ keepAliveMs: 1_000 });
  const client = await openSocket(url);
  const [socket] = server.clients;
  client.pause();
  while (socket?.bufferedAmount === 0) socket.send('x'.repeat(50_000));
  const sending = setInterval(() => client.send('{"type":"ping"}'), 100);
  onTestFinished(() => clearInterval(sending));
  const [code] = await once(socket as ClientSocket, 'close');
  expect(code).toBe(1006);
  client.terminate();
});

test('a websocket that is closed gracefully leaves the client a second of the timeout for the closing handshake', async () => {
  const { server, url } = await serve({});
  const closed = once(await openSocket(url), 'close');
  const socket = [...server.clients][0] as ClientSocket;
  socket.inProgress = 1;
  await socket.closeGracefully(1_010);
  expect((await closed)[0]).toBe(1001);
});
