/** Calls functions that send responses together, at the end of the turn of the event loop in which the first was added. */
export type WriteBatch = (send: () => void) => void;

/** When the first function has waited for this long, all are called at once. */
const MAX_WAIT_MS = 1;

/**
 * Creates the batch. Responses that are sent one right after the other wake up a client on the same machine, or a proxy, once.
 * Otherwise each of them does, which takes longer than creating a small response.
 */
export function createWriteBatch(): WriteBatch {
  let waiting: (() => void)[] = [];
  let firstAddedAt = 0;

  function flush(): void {
    const batch = waiting;
    waiting = [];
    for (const send of batch) send();
  }

  return (send) => {
    if (waiting.length === 0) {
      firstAddedAt = performance.now();
      setImmediate(flush);
    }
    waiting.push(send);
    if (performance.now() - firstAddedAt > MAX_WAIT_MS) flush();
  };
}
