import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request as send } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Certificate } from './certificate.ts';

/** A proxy that forwards requests and opens tunnels. */
export type TestProxy = {
  readonly url: URL;
  /** What it was asked for, such as `GET http://host/path` or `CONNECT host:443`. */
  readonly asked: readonly string[];
  /** The headers of each of these requests. */
  readonly headers: readonly IncomingHttpHeaders[];
};

type TestProxyOptions = {
  /** The addresses behind names that only the proxy can resolve. */
  readonly hosts?: Readonly<Record<string, string>>;
  /** The only user and password that it serves, as `user:password`. */
  readonly credentials?: string;
  /** The status with which it refuses to open tunnels. */
  readonly refusesTunnels?: number;
  /** Serves over TLS. */
  readonly certificate?: Certificate;
};

/** Starts a forward proxy for one test. */
export async function startForwardProxy(options: TestProxyOptions = {}): Promise<TestProxy> {
  const { hosts = {}, credentials, refusesTunnels, certificate } = options;
  const asked: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const sockets = new Set<Socket>();
  const server = certificate === undefined ? createServer() : createTlsServer(certificate);

  /** @returns whether the client may use the proxy */
  function record(request: IncomingMessage): boolean {
    asked.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
    if (credentials === undefined) return true;
    return request.headers['proxy-authorization'] === `Basic ${Buffer.from(credentials).toString('base64')}`;
  }

  function keep<Any extends Socket>(socket: Any): Any {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy());
  }

  server.on('connection', keep);
  server.on('request', (request, response) => {
    if (!record(request)) return void response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end('who are you?');
    const url = new URL(request.url ?? '');
    const { 'proxy-authorization': _, ...forwarded } = request.headers;
    const target = send(`http://${hosts[url.host] ?? url.host}${url.pathname}${url.search}`, {
      method: request.method,
      headers: forwarded,
    });
    target.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    target.on('error', () => response.writeHead(502).end('no such host'));
    request.pipe(target);
  });
  server.on('connect', (request, socket: Socket) => {
    keep(socket);
    const status = record(request) ? refusesTunnels : 407;
    if (status !== undefined) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const { hostname, port } = new URL(`tcp://${hosts[request.url ?? ''] ?? request.url}`);
    const target = keep(connect(Number(port), hostname));
    target.once('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(target).pipe(socket);
    });
    target.once('close', () => socket.destroy());
    socket.once('close', () => target.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const scheme = certificate === undefined ? 'http' : 'https';
  return { url: new URL(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`), asked, headers };
}
