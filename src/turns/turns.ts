import { createFairQueue } from './fair-queue.ts';

/**
 * Yields to the event loop. Resolves in a later turn.
 *
 * @param client whose work continues then; by default, the work counts as a client by itself
 */
export type TakeTurn = (client?: string) => Promise<void>;

/**
 * Creates a queue of callers. A few of them proceed in each turn of the event loop, the first ones in the next turn. Clients take
 * turns: one with many callers in the queue does not delay those of others.
 */
export function createTurnQueue(perTurn = 1): TakeTurn {
  const waiting = createFairQueue<() => void>();

  function release(): void {
    const released = Array.from({ length: perTurn }, waiting.next);
    if (waiting.size() > 0) setImmediate(release);
    for (const proceed of released) proceed?.();
  }

  return (client) => {
    if (waiting.size() === 0) setImmediate(release);
    return new Promise((resolve) => waiting.add(resolve, { client: client ?? Symbol('work') }));
  };
}

/** Creates a limit of the number of callers that proceed in each turn of the event loop, so that other work is done between them. */
export function createTurnLimit(perTurn: number) {
  const waiting: (() => void)[] = [];
  let left = perTurn;

  function release(): void {
    const released = waiting.splice(0, perTurn);
    left = perTurn - released.length;
    if (released.length > 0) setImmediate(release);
    for (const proceed of released) proceed();
  }

  return {
    /** Resolves when the caller may proceed. */
    wait(): Promise<void> {
      if (left === perTurn) setImmediate(release);
      if (left === 0) return new Promise((resolve) => waiting.push(resolve));
      left -= 1;
      return Promise.resolve();
    },
  };
}
