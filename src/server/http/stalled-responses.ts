import type { ServerResponse } from 'node:http';

/**
 * Aborts responses whose clients do not read them, within two periods after bytes began to wait. A client that reads slowly is
 * not disconnected, and neither is one whose response is not ready yet.
 *
 * Server-sent events have no pong. Bytes in the buffers of the operating system count as read, until the operating system
 * closes the connection.
 *
 * @param responses those in progress
 * @returns how to stop it
 */
export function abortStalledResponses(responses: Iterable<ServerResponse>, periodMs: number): () => void {
  const stalledMs = periodMs * 0.75;

  // Yoga resets the timeout of the socket before it sends, so the timeout cannot be set when a response begins.
  const timer = setInterval(() => {
    for (const response of responses) {
      if (response.writableLength > 0 && response.listenerCount('timeout') === 0) watch(response, stalledMs);
    }
  }, periodMs / 4);
  return () => clearInterval(timer);
}

/** Each byte that is sent restarts the timeout of the socket, also in the middle of a large write. */
function watch(response: ServerResponse, stalledMs: number): void {
  response.setTimeout(stalledMs, () => {
    if (response.writableLength > 0) response.destroy();
  });
}
