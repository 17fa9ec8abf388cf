import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { createClientAddresses } from '../../../src/server/clients/client-address.ts';
import { createConnectionLimits } from '../../../src/server/clients/connection-limits.ts';
import { createMetrics } from '../../../src/server/metrics/metrics.ts';
import { startGatewayForTest } from '../../support/gateway.ts';

async function open(max: number | undefined, trustedProxies: readonly string[] = []) {
  const { app } = await startGatewayForTest({ config: { maxConnectionsPerAddress: max, trustedProxies } });
  const url = new URL(await app.listen(0, '127.0.0.1'));

  /** An open connection, after its response if it is accepted. */
  async function hold(): Promise<Socket> {
    const socket = connect(Number(url.port), url.hostname);
    onTestFinished(() => void socket.destroy());
    await ask(socket, '/health');
    return socket;
  }

  async function ask(socket: Socket, target: string, headers = ''): Promise<string> {
    socket.write(`GET ${target} HTTP/1.1\r\nHost: ${url.host}\r\n${headers}\r\n`);
    const [answer] = await once(socket, 'data');
    return String(answer);
  }

  /** The response on a new connection, up to its end if it is closed. */
  async function askOnce(target: string, headers = ''): Promise<string> {
    const socket = connect(Number(url.port), url.hostname);
    socket.write(`GET ${target} HTTP/1.1\r\nHost: ${url.host}\r\n${headers}\r\n`);
    return String(Buffer.concat(await socket.toArray()));
  }

  async function upgrade(headers: Record<string, string> = {}): Promise<WebSocket | number> {
    const socket = new WebSocket(url.href.replace('http', 'ws'), 'graphql-transport-ws', { headers });
    onTestFinished(() => socket.terminate());
    socket.on('error', () => {});
    const refused = once(socket, 'unexpected-response').then(([, response]) => response.statusCode as number);
    return Promise.race([once(socket, 'open').then(() => socket), refused]);
  }

  return { app, url, hold, ask, askOnce, upgrade };
}

const QUERY = '/graphql?query={__typename}';
const BODY =
  '{"errors":[{"message":"This client address has too many open connections. The maximum is 2.","extensions":{"code":"RATE_LIMITED"}}]}';

describe('an address has a maximum number of connections', () => {
  test('one that Node 24 reads again, after an Upgrade that is ignored, counts once', () => {
    const limits = createConnectionLimits(1, createClientAddresses([]), createMetrics('0.0.0'));
    const socket = new Socket();
    for (let n = 0; n < 2; n++) limits.connected(socket);
    expect(limits.isOverLimit(socket)).toBe(false);
    socket.destroy();
  });

  test('one more gets an error and is closed, and is accepted after another has closed', async () => {
    const { hold, ask, askOnce, url } = await open(2);
    const [first, second] = [await hold(), await hold()];
    const [head = '', body] = (await askOnce(QUERY)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n/);
    expect(head).toMatch(/\r\nconnection: close/i);
    expect(head).toMatch(/\r\ncontent-type: application\/json; charset=utf-8/);
    expect(body).toContain(BODY);
    expect(await askOnce(QUERY, 'Accept: application/graphql-response+json\r\n')).toMatch(
      /content-type: application\/graphql-response\+json; charset=utf-8/,
    );

    first.destroy();
    await expect.poll(() => askOnce(QUERY, 'Connection: close\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask(second, QUERY)).toMatch(/^HTTP\/1\.1 200 /);
    const metrics = await (await fetch(new URL('/metrics', url))).text();
    expect(metrics).toMatch(/^pdex_connections_refused_total [2-9]/m);
  });

  test('websockets and HTTP together', async () => {
    const { hold, askOnce, upgrade } = await open(2);
    const socket = await upgrade();
    const other = await hold();
    expect(await upgrade()).toBe(429);
    expect(await askOnce(QUERY)).toMatch(/^HTTP\/1\.1 429 /);
    other.destroy();
    await expect.poll(() => upgrade()).toBeInstanceOf(WebSocket);
    expect((socket as WebSocket).readyState).toBe(WebSocket.OPEN);
  });

  test('health responds on one more too, which is then closed', async () => {
    const { hold, askOnce } = await open(1);
    await hold();
    for (const path of ['/health', '/metrics']) {
      const answer = await askOnce(path);
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(answer).toMatch(/\r\nconnection: close/i);
    }
  });

  test('one more that sends nothing is closed', async () => {
    const { hold, url } = await open(1);
    await hold();
    const silent = connect(Number(url.port), url.hostname);
    silent.on('error', () => {});
    await once(silent, 'close');
  });

  test('without a limit, any number is accepted', async () => {
    const { hold, askOnce } = await open(undefined);
    for (let n = 0; n < 50; n++) await hold();
    expect(await askOnce(QUERY, 'Connection: close\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('behind a proxy, whose connections many clients share', () => {
  const STREAM = '/graphql?query=subscription{head{beaconHeight}}';
  const of = (address: string) => `X-Forwarded-For: ${address}\r\n`;

  test('the open requests of each client count', async () => {
    const { hold, ask, askOnce } = await open(1, ['loopback']);
    const stream = await hold();
    expect(await ask(stream, STREAM, `Accept: text/event-stream\r\n${of('203.0.113.1')}`)).toMatch(/^HTTP\/1\.1 200 /);
    const close = 'Connection: close\r\n';
    expect(await askOnce(QUERY, close + of('203.0.113.1'))).toMatch(/^HTTP\/1\.1 429 /);
    expect(await askOnce(QUERY, close + of('203.0.113.2'))).toMatch(/^HTTP\/1\.1 200 /);
    stream.destroy();
    await expect.poll(() => askOnce(QUERY, close + of('203.0.113.1'))).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('several requests in sequence on one connection count as one', async () => {
    const { hold, ask } = await open(1, ['loopback']);
    const [connection] = [await hold(), await hold(), await hold()];
    for (const address of ['203.0.113.1', '203.0.113.1', '203.0.113.2']) {
      const answer = await ask(connection, QUERY, of(address));
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      expect(answer).not.toMatch(/connection: close/i);
    }
  });

  test('a websocket counts while it is open', async () => {
    const { upgrade, askOnce } = await open(1, ['loopback']);
    const [one, two] = [{ 'x-forwarded-for': '203.0.113.1' }, { 'x-forwarded-for': '203.0.113.2' }];
    const socket = await upgrade(one);
    expect(await upgrade(one)).toBe(429);
    expect(await upgrade(two)).toBeInstanceOf(WebSocket);
    expect(await askOnce(QUERY, `Connection: close\r\n${of('203.0.113.1')}`)).toMatch(/^HTTP\/1\.1 429 /);
    (socket as WebSocket).close();
    await expect.poll(() => upgrade(one)).toBeInstanceOf(WebSocket);
  });
});
