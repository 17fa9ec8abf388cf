import { once } from 'node:events';
import type { Server } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { OpenResponses } from './http/open-responses.ts';
import { MAX_PENDING } from './http/server.ts';
import type { WebSocketTransport } from './websocket/transport.ts';

/** What is stopped, and how fast. */
export type StopOptions = {
  readonly server: Server;
  readonly responses: OpenResponses;
  readonly webSockets: WebSocketTransport;
  /** Over how long websockets and event streams are closed. */
  readonly stopWindowMs: number;
  /** How long requests in progress may take after that. */
  readonly stopTimeoutMs: number;
};

/**
 * Stops the server gracefully. During the stop window it still accepts requests, with `connection: close` in each response, and
 * closes websockets with 1001 and event streams one by one, so that clients do not reconnect all at once. Then it closes the
 * port, and waits for requests in progress. Without connections it stops at once.
 *
 * A server that does not listen has no connections of its own: another server closes them, after it has sent the responses.
 */
export async function stopServer(options: StopOptions): Promise<void> {
  const { server, responses, webSockets, stopWindowMs, stopTimeoutMs } = options;
  const isListening = server.listening;
  const closed = isListening && once(server, 'close');
  const isUnused = isListening
    ? (await promisify(server.getConnections.bind(server))()) === 0
    : webSockets.isUnused() && responses.isUnused();
  const windowMs = isUnused ? 0 : stopWindowMs;
  const unused = responses.unusedConnections();
  const closing = Promise.all([webSockets.close(windowMs, stopTimeoutMs), responses.abortStreams(windowMs)]);
  await sleep(windowMs);

  const timeout = sleep(stopTimeoutMs, undefined, { ref: false });
  if (isListening) await Promise.race([untilNoneIsPending(server), timeout]);
  server.close();
  // Node 26 has closed them with the port, Node 24 has not.
  for (const socket of unused) if (socket.bytesRead === 0) socket.destroy();
  await Promise.race([Promise.all([closed, closing, responses.abortStreams(0), responses.untilEnded()]), timeout]);
  server.closeAllConnections();
  webSockets.terminate();
  await Promise.all([closed, responses.abortStreams(0)]);
}

/**
 * Waits until no connection is pending. Node accepts one in each turn of the event loop. When the port closes, the operating
 * system resets pending connections, and connections with unread bytes. It waits for as many connections as can be pending, at most.
 */
async function untilNoneIsPending(server: Server): Promise<void> {
  let accepted = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  for (let before = -1; accepted > before && accepted <= MAX_PENDING; ) {
    before = accepted;
    await nextTurn();
  }
}
