/** Sends what is ready, at the end of the turn of the event loop in which the first of it came. */
export type WriteBatch = (send: () => void) => void;

/** Once the first has waited for so long while others were made, all go. */
const MAX_WAIT_MS = 1;

/**
 * Makes an outbox. Answers that are sent one right after the other wake their reader once: one by one, as each is made, they
 * wake it each time, which takes longer than making a small answer.
 */
export function createWriteBatch(): WriteBatch {
  let waiting: (() => void)[] = [];
  let since = 0;

  function flush(): void {
    const ready = waiting;
    waiting = [];
    for (const send of ready) send();
  }

  return (send) => {
    if (waiting.length === 0) {
      since = performance.now();
      setImmediate(flush);
    }
    waiting.push(send);
    if (performance.now() - since > MAX_WAIT_MS) flush();
  };
}
