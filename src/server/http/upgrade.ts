import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Whether a request opens a websocket, as RFC 6455, 4.1 requires it. Any other `Upgrade` is ignored, and that of HTTP/1.0 too:
 * RFC 9110, 7.8.
 */
export function isWebSocketUpgrade({ method, httpVersion, headers }: IncomingMessage): boolean {
  return method === 'GET' && httpVersion === '1.1' && headers.upgrade?.toLowerCase() === 'websocket';
}

/**
 * Hands a request of the event `upgrade` back to its server, as if it had no `Upgrade`. Node reads no further request from such a
 * connection, so that it is closed after the response.
 */
export function handleWithoutUpgrade(request: IncomingMessage, upgraded: Duplex): void {
  const socket = request.socket as typeof request.socket & { readonly server: Server };
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
