import type { ServerResponse } from 'node:http';

/**
 * Breaks off answers whose readers take nothing of what waits for them: each within two periods after bytes began to wait.
 * A reader that is slow but moves is left alone, and so is an answer that is not ready yet.
 *
 * Server-sent events have no pong, so this is all that the gateway can see: what the system's buffers have taken counts as
 * read, until the system itself gives the connection up.
 *
 * @param answers those under way, as they come and go
 * @returns how to stop
 */
export function abortStalledReaders(answers: Iterable<ServerResponse>, periodMs: number): () => void {
  const stalledMs = periodMs * 0.75;

  // Not from the beginning of each answer: Yoga switches its socket's clock off before it sends.
  const timer = setInterval(() => {
    for (const answer of answers) {
      if (answer.writableLength > 0 && answer.listenerCount('timeout') === 0) watch(answer, stalledMs);
    }
  }, periodMs / 4);
  return () => clearInterval(timer);
}

/** The socket's own clock starts anew with each byte that moves, also in the middle of a large write. */
function watch(answer: ServerResponse, stalledMs: number): void {
  answer.setTimeout(stalledMs, () => {
    if (answer.writableLength > 0) answer.destroy();
  });
}
