import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { listen } from '../../src/sandbox/http/listen.ts';

/** Starts a gateway for one test that accepts every connection, subscription and request, and then sends nothing. */
export async function startSilentGateway() {
  const requested = Promise.withResolvers<void>();
  const server = createServer(() => requested.resolve());
  // Before the websockets: they would pass on the error of a port that is in use, and no other port would be tried.
  const url = new URL(`http://127.0.0.1:${await listen(server, { host: '127.0.0.1', port: 0 })}/graphql`);
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    socket.on('message', (text) => {
      const { type } = JSON.parse(String(text));
      if (type === 'connection_init') socket.send('{"type":"connection_ack"}');
      else requested.resolve();
    });
  });
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
    server.closeAllConnections();
  });
  return {
    url,
    /** Resolves when the first operation has arrived. */
    requested: requested.promise,
  };
}
