import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { startGatewayForTests } from '../../support/gateway.ts';
import { nextMessage, openSocket } from '../../support/transports.ts';

const gateway = startGatewayForTests();
afterAll(() => void vi.restoreAllMocks());

/** The output of the process, which a hostile client could fill. */
const stderr = vi.spyOn(console, 'error');
const warnings = vi.spyOn(console, 'warn');
let neighbour: WebSocket;
beforeEach(async () => {
  stderr.mockClear();
  warnings.mockClear();
  neighbour = await openSocket(gateway.url);
});

// Whatever one client does, another is served on its open websocket and over HTTP, and nothing is written to stderr.
afterEach(async () => {
  const payload = { query: '{ service { sandbox } }' };
  neighbour.send(JSON.stringify({ type: 'subscribe', id: '1', payload }));
  expect(JSON.parse(await nextMessage(neighbour))).toEqual({
    type: 'next',
    id: '1',
    payload: { data: { service: { sandbox: true } } },
  });
  neighbour.close();
  expect(await gateway.ask(payload.query)).toEqual({ data: { service: { sandbox: true } } });
  expect(stderr).not.toHaveBeenCalled();
  expect(warnings).not.toHaveBeenCalled();
});

async function open(...protocols: string[]): Promise<WebSocket> {
  const socket = new WebSocket(gateway.url.replace('http', 'ws'), protocols);
  await once(socket, 'open');
  return socket;
}

/** The close code and reason after sending those messages. */
async function closeAfter(socket: WebSocket, ...messages: (object | string | Buffer)[]): Promise<[number, string]> {
  const closed = once(socket, 'close');
  for (const message of messages) {
    socket.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message));
  }
  const [code, reason] = await closed;
  return [code, String(reason)];
}

const subscribe = (payload: object, id = '1') => ({ type: 'subscribe', id, payload });
const HEAD = { query: 'subscription { head { beaconHeight } }' };

describe('a websocket is closed with', () => {
  test.each([
    ['a message that is not JSON', '{'],
    ['an empty message', ''],
    ['JSON that is no object', '[]'],
    ['an object without a type', {}],
    ['an unknown type', { type: 'start', id: '1', payload: HEAD }],
    ['a type that is not a string', { type: 5 }],
    ['an operation without an id', { type: 'subscribe', payload: HEAD }],
    ['an operation with an empty id', subscribe(HEAD, '')],
    ['an operation without a payload', { type: 'subscribe', id: '1' }],
    ['an operation without a query', subscribe({ variables: {} })],
    ['a query that is not a string', subscribe({ query: 5 })],
    ['variables that are an array', subscribe({ ...HEAD, variables: [1] })],
    ['variables that are a string', subscribe({ ...HEAD, variables: 'x' })],
    ['an operation name that is not a string', subscribe({ ...HEAD, operationName: 5 })],
    ['extensions that are a string', subscribe({ ...HEAD, extensions: 'x' })],
    ['a ping whose payload is a string', { type: 'ping', payload: 'x' }],
    ['a binary message that is not JSON', Buffer.from([0xff, 0x00, 0xfe])],
  ])('4400 for %s', async (_name, message) => {
    expect(await closeAfter(await openSocket(gateway.url), message)).toEqual([4400, 'Invalid message received']);
  });

  test.each([
    ['connection_ack', { type: 'connection_ack' }],
    ['next', { type: 'next', id: '1', payload: { data: {} } }],
    ['error', { type: 'error', id: '1', payload: [{ message: 'x' }] }],
  ])('4400 for %s, which only a server sends', async (_name, message) => {
    expect(await closeAfter(await openSocket(gateway.url), message)).toEqual([4400, 'Unexpected message received']);
  });

  test('4400 for an id of more than 256 characters', async () => {
    const socket = await openSocket(gateway.url);
    const longest = 'x'.repeat(256);
    socket.send(JSON.stringify(subscribe(HEAD, longest)));
    expect(JSON.parse(await nextMessage(socket))).toMatchObject({ type: 'next', id: longest });
    expect(await closeAfter(socket, subscribe(HEAD, `${longest}x`))).toEqual([
      4400,
      'The id of an operation has more than 256 characters.',
    ]);
  });

  test('4401 for an operation before connection_init', async () => {
    const socket = await open('graphql-transport-ws');
    expect(await closeAfter(socket, subscribe(HEAD))).toEqual([4401, 'Unauthorized']);
  });

  test('4406 if no subprotocol is requested', async () => {
    expect(await closeAfter(await open())).toEqual([4406, 'Subprotocol not acceptable']);
  });

  test.each(['graphql-ws', 'graphql-transport-ws-2', 'soap'])('4406 for the subprotocol %s', async (protocol) => {
    const { code, reason } = await upgradeRaw(protocol);
    expect([code, reason]).toEqual([4406, 'Subprotocol not acceptable']);
  });

  test('4408 if connection_init does not arrive within 3 seconds', async () => {
    const socket = await open('graphql-transport-ws');
    expect(await closeAfter(socket)).toEqual([4408, 'Connection initialisation timeout']);
  });

  test('4409 for an id that is in use', async () => {
    const socket = await openSocket(gateway.url);
    expect(await closeAfter(socket, subscribe(HEAD), subscribe(HEAD))).toEqual([
      4409,
      'Subscriber for 1 already exists',
    ]);
    await expect.poll(gateway.app.service.sources.head.subscribers).toBe(0);
  });

  test('4409 also for a long id, of which the reason has the beginning', async () => {
    const socket = await openSocket(gateway.url);
    const id = 'é'.repeat(200);
    expect(await closeAfter(socket, subscribe(HEAD, id), subscribe(HEAD, id))).toEqual([
      4409,
      `Subscriber for ${id.slice(0, 26)}`,
    ]);
    expect(gateway.lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  test('4429 for a second connection_init', async () => {
    const socket = await openSocket(gateway.url);
    expect(await closeAfter(socket, { type: 'connection_init' })).toEqual([4429, 'Too many initialisation requests']);
  });

  test.each([true, false])('1009 for a message above the limit (in one piece: %s)', async (fin) => {
    const socket = await openSocket(gateway.url);
    const closed = once(socket, 'close');
    const half = 'x'.repeat(gateway.app.service.limits.maxBodyBytes / 2 + 1);
    socket.send(fin ? half + half : half, { fin });
    if (!fin) socket.send(half, { fin: true });
    const [code, reason] = await closed;
    expect([code, String(reason)]).toEqual([1009, '']);
  });

  test('1007 for a text that is not UTF-8', async () => {
    const socket = await openSocket(gateway.url);
    expect(await closeAfterRaw(socket, Buffer.from([0xff, 0xff]))).toEqual([1007, '']);
  });
});

describe('a websocket stays open', () => {
  test('for a message of exactly the limit', async () => {
    const socket = await openSocket(gateway.url);
    const [start, end] = ['{"type":"ping","payload":{"text":"', '"}}'];
    const text = 'x'.repeat(gateway.app.service.limits.maxBodyBytes - start.length - end.length);
    socket.send(start + text + end);
    expect(JSON.parse(await nextMessage(socket))).toEqual({ type: 'pong', payload: { text } });
    socket.close();
  });

  test('for a message in a binary frame', async () => {
    const socket = await openSocket(gateway.url);
    socket.send(Buffer.from('{"type":"ping"}'));
    expect(JSON.parse(await nextMessage(socket))).toEqual({ type: 'pong' });
    socket.close();
  });

  test('for an id that is a property of objects in JavaScript', async () => {
    const socket = await openSocket(gateway.url);
    for (const id of ['__proto__', 'constructor', 'toString']) {
      socket.send(JSON.stringify(subscribe(HEAD, id)));
      expect(JSON.parse(await nextMessage(socket))).toMatchObject({ type: 'next', id });
    }
    socket.close();
  });

  test('for an unknown operation, which is an error of the operation', async () => {
    const socket = await openSocket(gateway.url);
    socket.send(JSON.stringify(subscribe({ ...HEAD, operationName: 'Nobody' })));
    expect(JSON.parse(await nextMessage(socket))).toMatchObject({ type: 'error', id: '1' });
    socket.close();
  });

  test('for `complete` of an operation that never started', async () => {
    const socket = await openSocket(gateway.url);
    socket.send('{"type":"complete","id":"9"}');
    socket.send('{"type":"ping"}');
    expect(JSON.parse(await nextMessage(socket))).toEqual({ type: 'pong' });
    socket.close();
  });
});

describe('the process survives', () => {
  test.each([
    ['of another path', '/elsewhere', ''],
    ['that is refused', '/graphql', 'X-Pdex-Min-Height: x\r\n'],
  ])('an upgrade %s whose client resets the connection before the response', async (_, path, headers) => {
    const socket = rawUpgrade(path, 'graphql-transport-ws', headers);
    await once(socket, 'connect');
    // The request is written, and the gateway cannot have read it yet.
    socket.resetAndDestroy();
    await once(socket, 'close');
  });

  test('a client that resets the connection in the middle of a response', async () => {
    for (let n = 0; n < 20; n++) {
      const socket = await openSocket(gateway.url);
      socket.on('error', () => {});
      socket.send(JSON.stringify(subscribe({ query: '{ poolPairs(first: 500) { nodes { key price } } }' })));
      socket.terminate();
      await once(socket, 'close');
    }
  });
});

function rawUpgrade(path: string, protocol: string, headers = ''): Socket {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
      `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: ${protocol}\r\n${headers}\r\n`,
  );
  return socket;
}

/** The close frame after the upgrade. The client of `ws` would disconnect if its subprotocol is not confirmed. */
async function upgradeRaw(protocol: string): Promise<{ code: number; reason: string }> {
  const socket = rawUpgrade('/graphql', protocol);
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk]);
    const start = bytes.indexOf('\r\n\r\n') + 4;
    const length = bytes[start + 1];
    if (start < 4 || length === undefined || bytes.length < start + 2 + length) continue;

    expect(bytes.toString('latin1', 0, start)).toMatch(/^HTTP\/1\.1 101 /);
    expect(bytes[start]).toBe(0x88);
    return { code: bytes.readUInt16BE(start + 2), reason: bytes.toString('utf8', start + 4, start + 2 + length) };
  }
  throw new Error('the connection ended without a close frame');
}

/** Sends bytes as a text frame, which a client library cannot. */
async function closeAfterRaw(socket: WebSocket, bytes: Buffer): Promise<[number, string]> {
  const closed = once(socket, 'close');
  socket.send(bytes, { binary: false });
  const [code, reason] = await closed;
  return [code, String(reason)];
}
