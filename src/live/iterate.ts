/** Values that come until `return` is called, which also ends a `next` that waits. */
export type Values<T> = AsyncIterableIterator<T, undefined>;

/** What an iterator that is iterated gives: one function for all, of which there can be one for each of many thousands. */
export function itself<T>(this: T): T {
  return this;
}

const END = { done: true, value: undefined } as const;

/**
 * Turns values into others; what becomes `undefined` is passed over. Ends with its source.
 *
 * @param onReturn told once the source has ended because this was returned
 */
export function mapValues<T, U>(source: Values<T>, map: (value: T) => U | undefined, onReturn?: () => void): Values<U> {
  return {
    [Symbol.asyncIterator]: itself,
    async next() {
      for (;;) {
        const result = await source.next();
        if (result.done) return END;
        const value = map(result.value);
        if (value !== undefined) return { done: false, value };
      }
    },
    async return() {
      await source.return?.();
      onReturn?.();
      return END;
    },
  };
}
