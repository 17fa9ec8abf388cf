import type { Listen, Listener, Listening } from './listen.ts';

/** Values that come until `return` is called, which also ends a `next` that waits. */
export type Values<T> = AsyncIterableIterator<T, undefined>;

/** What an iterator that is iterated gives: one function for all, of which there can be one for each of many thousands. */
export function itself<T>(this: T): T {
  return this;
}

/** What an iterator gives at its end. */
export const END = { done: true, value: undefined } as const;

/**
 * Iterates what can be listened to, from the first `next` on: who iterates nothing leaves nothing open.
 *
 * Not an async generator: `return` on one waits until a pending `next` is settled, which would keep a listener that has
 * gone until the next value comes.
 */
export function valuesOf<T>(listen: Listen<T>): Values<T> {
  const waiting: PromiseWithResolvers<IteratorResult<T, undefined>>[] = [];
  // Let go of once it was called: it can hold on to all that a subscription came with.
  let start: Listen<T> | undefined = listen;
  let listening: Listening | undefined;
  let isOver = false;

  const listener: Listener<T> = {
    hear(value) {
      waiting.shift()?.resolve({ done: false, value });
      if (waiting.length > 0) listening?.next();
    },
    fail(error) {
      waiting.shift()?.reject(error);
      end();
    },
  };

  function end(): void {
    isOver = true;
    for (const { resolve } of waiting.splice(0)) resolve(END);
  }

  return {
    [Symbol.asyncIterator]: itself,
    next() {
      if (isOver) return Promise.resolve(END);
      const next = Promise.withResolvers<IteratorResult<T, undefined>>();
      listening ??= start?.(listener);
      start = undefined;
      if (waiting.push(next) === 1) listening?.next();
      return next.promise;
    },
    return() {
      listening?.end();
      end();
      return Promise.resolve(END);
    },
  };
}

/** Turns values into others; what becomes `undefined` is passed over. Ends with its source. */
export function mapValues<T, U>(source: Values<T>, map: (value: T) => U | undefined): Values<U> {
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
      return END;
    },
  };
}
