import { once } from 'node:events';
import type { Server } from 'node:http';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { OpenResponses } from './http/open-responses.ts';
import type { WebSocketTransport } from './websocket/transport.ts';

/** What stops, and how long it takes at most. */
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
 * Stops the server gracefully. During the stop window it answers on, each response the last on its connection, while
 * websockets are closed with 1001 and event streams are aborted one by one, so that clients do not reconnect all at once.
 * Then it accepts nothing more, and waits for requests in progress. Without clients it stops at once.
 */
export async function stopServer(options: StopOptions): Promise<void> {
  const { server, responses, webSockets, stopWindowMs, stopTimeoutMs } = options;
  if (!server.listening) return webSockets.close(0, stopTimeoutMs);

  const closed = once(server, 'close');
  const isAlone = (await promisify(server.getConnections.bind(server))()) === 0;
  const windowMs = isAlone ? 0 : stopWindowMs;
  const silent = responses.unusedConnections();
  responses.closeAfterResponse();
  const left = Promise.all([webSockets.close(windowMs, stopTimeoutMs), responses.abortStreams(windowMs)]);
  await sleep(windowMs);

  const timeout = sleep(stopTimeoutMs, undefined, { ref: false });
  await Promise.race([untilAllAccepted(server), timeout]);
  server.close();
  for (const socket of silent) if (socket.bytesRead === 0) socket.destroy();
  await Promise.race([Promise.all([closed, left, responses.abortStreams(0)]), timeout]);
  server.closeAllConnections();
  webSockets.terminate();
  await closed;
}

/** New connections do not keep the port open longer than this. */
const ACCEPTING_MS = 500;

/**
 * Waits until no connection waits to be accepted: Node accepts one in each turn of the event loop, and the system resets those
 * that wait when their port closes, as it does connections with bytes that nobody has read.
 */
async function untilAllAccepted(server: Server): Promise<void> {
  const end = performance.now() + ACCEPTING_MS;
  let hasAccepted = true;
  server.on('connection', () => {
    hasAccepted = true;
  });
  while (hasAccepted && performance.now() < end) {
    hasAccepted = false;
    await immediate();
  }
}
