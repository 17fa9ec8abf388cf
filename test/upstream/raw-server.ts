import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A server that does to each connection what a test says, so that an answer can break anywhere. */
export type RawServer = {
  readonly url: URL;
  /** The bytes of each connection's request, in the order of the connections. */
  readonly requests: readonly string[];
};

/** Starts a server for one test. `answer` is called once for each connection, when its request is whole. */
export async function startRawServer(answer: (socket: Socket, connection: number) => void): Promise<RawServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    let request = '';
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes) => {
      request += bytes.toString('latin1');
      if (!isWhole(request)) return;
      requests.push(request);
      answer(socket, requests.length);
      request = '';
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), requests };
}

/** The bytes of an answer with status 200, of which the connection's end is the end. */
export function bytesOf(body: string, contentType = 'application/json', status = '200 OK'): string {
  return `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: ${contentType}\r\n\r\n${body}`;
}

function isWhole(request: string): boolean {
  const end = request.indexOf('\r\n\r\n');
  const length = /^content-length: (\d+)$/im.exec(request)?.[1] ?? 0;
  return end >= 0 && request.length >= end + 4 + Number(length);
}
