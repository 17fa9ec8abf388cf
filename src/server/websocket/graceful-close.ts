import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import type { ClientSocket } from './client-socket.ts';

/** How long a client may take to complete the closing handshake. */
const HANDSHAKE_MS = 1_000;

/** Notes an operation of a websocket that is prepared or executed, until it settles. @returns the operation */
export function trackOperation<T>(socket: ClientSocket, operation: Promise<T>): Promise<T> {
  socket.inProgress ??= new Set();
  socket.inProgress.add(operation);
  const remove = () => {
    socket.inProgress?.delete(operation);
    if (socket.inProgress?.size === 0) socket.inProgress = undefined;
  };
  operation.then(remove, remove);
  return operation;
}

/**
 * Closes a websocket with 1001 when its operations in progress have been answered, and terminates it if its client does not
 * complete the closing handshake: both within about this time.
 */
export async function closeGracefully(socket: ClientSocket, timeoutMs: number): Promise<void> {
  await Promise.race([untilIdle(socket), sleep(timeoutMs - HANDSHAKE_MS, undefined, { ref: false })]);
  if (socket.readyState === socket.CLOSED) return;
  const timer = setTimeout(() => socket.terminate(), HANDSHAKE_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.close(1001, 'Going away');
}

async function untilIdle(socket: ClientSocket): Promise<void> {
  while (socket.inProgress !== undefined) {
    await Promise.allSettled(socket.inProgress);
    // In this turn of the event loop, graphql-ws sends the errors of operations that are refused.
    await immediate();
  }
}
