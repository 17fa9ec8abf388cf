/** Lets only a few go on in each turn of the process, so that whatever else waits has its turn between them. */
export type TurnLimit = {
  /** Resolves when the caller may go on. */
  wait(): Promise<void>;
};

/** Makes a breather that lets so many go on at once. */
export function createTurnLimit(atOnce: number): TurnLimit {
  const waiting: (() => void)[] = [];
  let left = atOnce;

  function nextTurn(): void {
    const going = waiting.splice(0, atOnce);
    left = atOnce - going.length;
    if (going.length > 0) setImmediate(nextTurn);
    for (const go of going) go();
  }

  return {
    wait() {
      if (left === atOnce) setImmediate(nextTurn);
      if (left === 0) return new Promise((resolve) => waiting.push(resolve));
      left -= 1;
      return Promise.resolve();
    },
  };
}
