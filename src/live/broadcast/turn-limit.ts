import { setImmediate as nextTurn } from 'node:timers/promises';

/** Lets only a few callers proceed in each turn of the event loop, so that other work is done between them. */
type TurnLimit = {
  /** Resolves when the caller may proceed. */
  wait(): Promise<void>;
};

/** Creates a queue of which one caller proceeds in each turn of the event loop, and none in the turn in which it waits. */
export function createTurnQueue(): TurnLimit {
  let last = Promise.resolve();
  return {
    wait() {
      last = last.then(() => nextTurn());
      return last;
    },
  };
}

/** Creates a limit of the number of callers in each turn. */
export function createTurnLimit(perTurn: number): TurnLimit {
  const waiting: (() => void)[] = [];
  let left = perTurn;

  function release(): void {
    const released = waiting.splice(0, perTurn);
    left = perTurn - released.length;
    if (released.length > 0) setImmediate(release);
    for (const proceed of released) proceed();
  }

  return {
    wait() {
      if (left === perTurn) setImmediate(release);
      if (left === 0) return new Promise((resolve) => waiting.push(resolve));
      left -= 1;
      return Promise.resolve();
    },
  };
}
