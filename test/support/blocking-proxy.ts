import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { listen } from '../../src/sandbox/http/listen.ts';
import type { ServedGateway } from './served-gateway.ts';

/** What a proxy does with websockets: it passes them on, or one of the things that proxies in the wild do instead. */
export type WebSocketFace = 'open' | 'refused' | 'reset' | 'unanswered' | 'swallowed';

/** An HTTP/1.1 proxy in front of a gateway, as a gateway for a page. */
export type BlockingProxy = ServedGateway & {
  /** What it does with each websocket from now on. Those that are open are closed. */
  face: WebSocketFace;
  /** Number of event streams that are open through it. */
  readonly openStreams: () => number;
  /** Number of websockets that clients have tried to open. */
  readonly attempts: () => number;
  /** Ends all connections, as a proxy does that allows each a certain time. */
  cutStreams(): void;
};

/** Starts a proxy for one test. */
export async function startBlockingProxy(gateway: ServedGateway, face: WebSocketFace): Promise<BlockingProxy> {
  const target = new URL(gateway.url);
  const to = { host: target.hostname, port: target.port };
  const streams = new Set<ServerResponse>();
  const sockets = new Set<Duplex>();
  const swallowing = new WebSocketServer({ noServer: true, handleProtocols: () => 'graphql-transport-ws' });
  let attempts = 0;

  const server: Server = createServer((incoming, response) => {
    const { method, url, headers } = incoming;
    const passed = request({ ...to, method, path: url, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (answer.headers['content-type'] === 'text/event-stream') streams.add(response);
      answer.on('error', () => response.destroy()).pipe(response);
    });
    passed.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    response.on('close', () => {
      streams.delete(response);
      passed.destroy();
    });
    incoming.pipe(passed);
  });
  server.on('upgrade', (upgrade: IncomingMessage, socket: Duplex, head: Buffer) => {
    attempts += 1;
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
    if (proxy.face === 'open') passOn(upgrade, socket, head);
    else if (proxy.face === 'refused') socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    else if (proxy.face === 'reset') socket.destroy();
    else if (proxy.face === 'swallowed') swallowing.handleUpgrade(upgrade, socket, head, () => {});
  });

  function passOn({ url, rawHeaders }: IncomingMessage, socket: Duplex, head: Buffer): void {
    const lines = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []));
    const passed = connect({ host: to.host, port: Number(to.port) });
    passed.write([`GET ${url} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
    passed.write(head);
    passed.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => passed.destroy());
    socket.pipe(passed).pipe(socket);
  }

  const url = `http://127.0.0.1:${await listen(server, { host: '127.0.0.1', port: 0 })}`;
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
  });
  let current = face;
  const proxy: BlockingProxy = {
    ...gateway,
    url: `${url}${target.pathname}`,
    webSocketUrl: `${url}${target.pathname}`.replace('http', 'ws'),
    get face() {
      return current;
    },
    set face(next) {
      current = next;
      for (const socket of sockets) socket.destroy();
    },
    openStreams: () => streams.size,
    attempts: () => attempts,
    cutStreams() {
      for (const response of streams) response.destroy();
    },
  };
  return proxy;
}
