import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import express from 'express';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createGateway } from '../../../src/index.ts';
import { startGateway } from '../../support/gateway.ts';
import { connect as connectClient, take } from '../../support/websocket.ts';

const HEIGHT = '{"query":"{beaconHeight}"}';
const HEADS = `/graphql?${new URLSearchParams({ query: 'subscription{head{beaconHeight}}' })}`;

/** The headers of a client that would rather speak another protocol, as Java's `HttpClient` and `curl --http2` send them. */
const upgradeTo = (upgrade: string) => ({
  connection: 'Upgrade, HTTP2-Settings',
  upgrade,
  'http2-settings': 'AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
});

type Sent = {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** The pieces of the body, each of which is sent when the previous one is written. */
  readonly body?: readonly string[];
};

/** Sends a request, and returns the response without what differs between two equal requests. */
async function send(origin: string, { path, method = 'GET', headers = {}, body = [] }: Sent, agent = new Agent()) {
  const sent = request(new URL(path, origin), { method, headers, agent });
  sent.flushHeaders();
  for (const piece of body) await new Promise((written) => sent.write(piece, written));
  const [[response]] = (await Promise.all([once(sent, 'response'), sent.end()])) as [[IncomingMessage], unknown];
  const { date, connection, 'keep-alive': keepAlive, 'x-request-id': id, ...kept } = response.headers;
  return { status: response.statusCode, headers: kept, body: await text(response) };
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** Requests whose responses do not depend on the time. */
const REQUESTS: readonly Sent[] = [
  { path: '/graphql?query={__typename}' },
  { path: '/graphql?query={__typename}', headers: { accept: 'text/event-stream' } },
  { path: '/graphql', method: 'POST', headers: { ...JSON_TYPE, 'content-length': '26' }, body: [HEIGHT] },
  // Without a length, in pieces.
  { path: '/graphql', method: 'POST', headers: JSON_TYPE, body: [HEIGHT.slice(0, 9), HEIGHT.slice(9)] },
  { path: '/graphql', method: 'POST', headers: JSON_TYPE, body: ['{'] },
  { path: '/graphql', method: 'POST', headers: { 'content-type': 'text/plain' }, body: ['x'] },
  { path: '/schema.graphql', method: 'HEAD' },
  { path: '/openapi.json' },
  { path: '/health' },
  { path: '/', headers: { accept: 'text/html' } },
  { path: '/nowhere' },
];

/** RFC 9110, 7.8: a server may ignore an `Upgrade`, and a client cannot use it to insist on another protocol. */
const PROTOCOLS = ['h2c', 'TLS/1.0', 'websocket, h2c', 'something-new/7'];

/** Compares responses to requests with and without `Upgrade`. */
async function expectSame(origin: string, requests: readonly Sent[], protocols = PROTOCOLS): Promise<void> {
  for (const sent of requests) {
    const expected = await send(origin, sent);
    for (const protocol of protocols) {
      const headers = { ...sent.headers, ...upgradeTo(protocol) };
      expect([protocol, sent, await send(origin, { ...sent, headers })]).toEqual([protocol, sent, expected]);
    }
  }
}

/** Sends requests with an Upgrade, and expects one connection for all of them. */
async function expectOneConnection(origin: string, sent: Sent): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const sockets = new Set<unknown>();
  agent.on('free', (socket) => sockets.add(socket));
  const headers = { ...sent.headers, ...upgradeTo('h2c') };
  for (let n = 0; n < 3; n++) expect(await send(origin, { ...sent, headers }, agent)).toMatchObject({ status: 200 });
  expect(sockets.size).toBe(1);
}

describe('an Upgrade to another protocol', () => {
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  let origin = '';
  beforeAll(async () => {
    // Nothing changes between two requests.
    gateway = await startGateway({ config: { headPollMs: 3_600_000, marketPollMs: 3_600_000 } });
    await gateway.untilReady();
    ({ origin } = new URL(await gateway.app.listen(0, '127.0.0.1')));
  });
  afterAll(() => gateway.close());

  test('is ignored on every path, with and without a body', async () => {
    await expectSame(origin, REQUESTS);
  });

  test('leaves the connection open for the next request', async () => {
    await expectOneConnection(origin, { path: '/graphql', method: 'POST', headers: JSON_TYPE, body: [HEIGHT] });
  });

  test('is ignored where it is to a websocket, but not by GET, or elsewhere than at /graphql', async () => {
    const others = REQUESTS.filter(({ path, method }) => method !== undefined || !path.startsWith('/graphql'));
    await expectSame(origin, others, ['websocket', 'WebSocket']);
  });

  // RFC 9110, 7.8: a server must ignore the Upgrade of a request in HTTP/1.0.
  test('is ignored in HTTP/1.0, also where it is to a websocket', async () => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1');
    socket.write(
      'GET /graphql?query={beaconHeight} HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    const received = await text(socket);
    expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(received).toContain(`{"data":{"beaconHeight":${gateway.sandbox.chain.tip.height}}}`);
  });

  test('does not hide a websocket: its name is compared without case', async () => {
    const headers = { connection: 'upgrade', upgrade: 'WebSocket', 'sec-websocket-version': '13' };
    const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    const sent = request(new URL('/graphql', origin), { headers: { ...headers, ...key } });
    const [[response, socket]] = await Promise.all([once(sent, 'upgrade'), sent.end()]);
    expect(response.statusCode).toBe(101);
    socket.destroy();
  });
});

/** More than the buffers of a connection take: the server waits for the client in between. */
const LONG = Array.from({ length: 100 }, (_, n) => String(n % 10).repeat(100_000));

/** Servers of users, each with the gateway and a page of its own. */
const SERVERS: Readonly<Record<string, (gateway: Awaited<ReturnType<typeof createGateway>>) => Promise<Server>>> = {
  async Express(gateway) {
    const app = express().use(express.json()).use(gateway.handler);
    app.get('/hello', (_request, response) => void response.send('hello'));
    app.get('/long', (_request, response) => void Readable.from(LONG).pipe(response));
    return app.listen(0, '127.0.0.1');
  },
  async Fastify(gateway) {
    const app = Fastify({ forceCloseConnections: true });
    app.get('/hello', () => 'hello');
    app.get('/long', (_request, reply) => reply.send(Readable.from(LONG)));
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
      scope.all('/graphql', (sent, reply) => {
        reply.hijack();
        gateway.handler(sent.raw, reply.raw);
      });
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    return app.server as Server;
  },
};

describe.each(Object.entries(SERVERS))('in a server with %s', (_name, start) => {
  let gateway: Awaited<ReturnType<typeof createGateway>>;
  let server: Server;
  let origin = '';
  beforeAll(async () => {
    gateway = await createGateway({ sandboxBlockMs: 3_600_000, stopWindowMs: 0, historyDatabase: 'off' });
    server = await start(gateway);
    if (!server.listening) await once(server, 'listening');
    server.on('upgrade', gateway.handleUpgrade);
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.close();
    await gateway.close();
    server.closeAllConnections();
  });

  const own = [...REQUESTS.filter(({ path }) => path.startsWith('/graphql')), { path: '/hello' }];

  test('an Upgrade to another protocol is ignored, also on paths of the server', async () => {
    await expect.poll(async () => (await send(origin, REQUESTS[2] as Sent)).status).toBe(200);
    await expectSame(origin, own);
    expect(await take(connectClient(`${origin}/graphql`), '{ __typename }', 1)).toEqual([
      { data: { __typename: 'Query' } },
    ]);
  });

  test('a request without a body leaves the connection open for the next one', async () => {
    await expectOneConnection(origin, { path: '/graphql?query={__typename}' });
  });

  test('a body that arrives slowly is read, and a long response is sent completely', async () => {
    const query = '{ poolPairs(first: 500) { nodes { id key price token1 { id } token2 { id } } } }';
    const body = JSON.stringify({ query: `${query}${' '.repeat(90_000)}` });
    const pieces = [body.slice(0, 10), body.slice(10, 40_000), body.slice(40_000)];
    const posted = { path: '/graphql', method: 'POST', headers: JSON_TYPE, body: pieces };
    await expectSame(origin, [posted, { path: '/long' }], ['h2c']);
  });

  test('an event stream is sent until the client leaves, and a client that resets its connection ends nothing', async () => {
    const headers = { ...upgradeTo('h2c'), accept: 'text/event-stream' };
    for (let n = 0; n < 3; n++) {
      const sent = request(new URL(HEADS, origin), { headers }).end();
      sent.on('error', () => {});
      const [response] = await once(sent, 'response');
      let received = '';
      response.on('data', (chunk: Buffer) => {
        received += chunk;
        if (received.includes('beaconHeight')) response.socket.resetAndDestroy();
      });
      await new Promise((closed) => response.on('error', () => {}).on('close', closed));
    }
    await expect.poll(async () => new Promise((resolve) => server.getConnections((_error, n) => resolve(n)))).toBe(0);
    expect(await send(origin, { path: '/hello' })).toMatchObject({ status: 200, body: 'hello' });
  });
});

test('a server that listens before its gateway is closed gets 503 with an Upgrade too', async () => {
  const gateway = await createGateway({ stopWindowMs: 0, historyDatabase: 'off' });
  const server = createServer(gateway.handler).on('upgrade', gateway.handleUpgrade).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await gateway.close();
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expectSame(origin, [{ path: '/health' }], ['h2c']);
});
