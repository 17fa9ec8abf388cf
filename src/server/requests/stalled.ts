import type { Socket } from 'node:net';

/**
 * Creates a check that is repeated at intervals: whether bytes wait for a client, and none has left since the last check. The timeout
 * of a socket cannot show this, because bytes that the client sends restart it too.
 *
 * @param blocked the socket in which bytes wait; `null` or `undefined` while none do
 */
export function createStallCheck(blocked: () => Socket | null | undefined): () => boolean {
  let before: number | undefined;
  return () => {
    const sent = sentBytes(blocked());
    const isStalled = sent !== undefined && sent === before;
    before = sent;
    return isStalled;
  };
}

/** How Node writes to a socket. It counts all bytes of a write as written when the write begins. With TLS, it has a parent: TCP. */
type Handle = { readonly bytesWritten: number; readonly writeQueueSize: number; readonly _parent?: Handle };

/**
 * How many bytes the operating system has taken, also in the middle of a large write. `NaN`, which equals nothing, for TLS over a stream
 * that is no socket: whether its client reads cannot be seen.
 */
function sentBytes(socket: Socket | null | undefined): number | undefined {
  const handle = (socket as { readonly _handle?: Handle | null } | null | undefined)?._handle;
  // TLS counts a write as waiting until all of it has left.
  const tcp = handle?._parent ?? handle;
  return tcp ? tcp.bytesWritten - tcp.writeQueueSize : undefined;
}
