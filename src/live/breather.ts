/** Lets only a few go on in each turn of the process, so that whatever else waits has its turn between them. */
export type Breather = {
  /** Resolves when the caller may go on. */
  take(): Promise<void>;
};

/** Makes a breather that lets so many go on at once. */
export function createBreather(atOnce: number): Breather {
  const waiting: (() => void)[] = [];
  let left = atOnce;

  function nextTurn(): void {
    const going = waiting.splice(0, atOnce);
    left = atOnce - going.length;
    if (going.length > 0) setImmediate(nextTurn);
    for (const go of going) go();
  }

  return {
    take() {
      if (left === atOnce) setImmediate(nextTurn);
      if (left === 0) return new Promise((resolve) => waiting.push(resolve));
      left -= 1;
      return Promise.resolve();
    },
  };
}
