import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Whether a request opens a websocket, as RFC 6455, 4.1 requires it. Any other `Upgrade` is ignored, and that of HTTP/1.0 too:
 * RFC 9110, 7.8.
 */
export function isWebSocketUpgrade({ method, httpVersion, headers }: IncomingMessage): boolean {
  return method === 'GET' && httpVersion === '1.1' && headers.upgrade?.toLowerCase() === 'websocket';
}

/** A connection, with the server that Node has accepted it for. */
type AcceptedSocket = Socket & { readonly server: Server };

/** Hands a request of the event `upgrade` back to its server, as if it had no `Upgrade`. */
export function handleWithoutUpgrade(request: IncomingMessage, upgraded: Duplex, head: Buffer): void {
  const socket = request.socket as AcceptedSocket;
  // Newer versions of Node read the body of such a request. Node 24 leaves it in the connection.
  if (upgraded === socket && request.readableLength === 0) readAgain(request, socket, head);
  else respond(request, socket, upgraded);
}

/** Makes the server read the request again, without `Upgrade`, and then all others of the connection. */
function readAgain(request: IncomingMessage, socket: AcceptedSocket, rest: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = rawHeaders.flatMap((name, n) =>
    n % 2 === 1 || name.toLowerCase() === 'upgrade' ? [] : `${name}: ${rawHeaders[n + 1]}\r\n`,
  );
  const head = `${method} ${url} HTTP/${httpVersion}\r\n${lines.join('')}\r\n`;
  socket.unshift(Buffer.concat([Buffer.from(head, 'latin1'), rest]));
  socket.server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket);
}

/** Makes the server respond. Node reads no further request then, so that the connection is closed. */
function respond(request: IncomingMessage, socket: AcceptedSocket, upgraded: Duplex): void {
  // `express.json()` does not read the body of a request with this flag.
  Object.assign(request, { upgrade: false });
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  // Node does these for other requests. Without the first, a reset connection would end the process.
  upgraded.on('error', () => socket.destroy());
  socket.on('drain', () => response.emit('drain'));
  response.on('finish', () => socket.destroySoon());
  socket.server.emit('request', request, response);
}
