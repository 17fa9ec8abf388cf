import type { Subscribe, Subscriber, Subscription } from './subscriber.ts';

/** Values that come until `return` is called, which also ends a `next` that waits. */
export type AsyncValues<T> = AsyncIterableIterator<T, undefined>;

/** What an iterator that is iterated gives: one function for all, of which there can be one for each of many thousands. */
export function returnThis<T>(this: T): T {
  return this;
}

/** What an iterator gives at its end. */
export const ITERATOR_END = { done: true, value: undefined } as const;

/**
 * Iterates what can be listened to, from the first `next` on: who iterates nothing leaves nothing open.
 *
 * Not an async generator: `return` on one waits until a pending `next` is settled, which would keep a subscriber that has
 * gone until the next value comes.
 */
export function toAsyncValues<T>(subscribe: Subscribe<T>): AsyncValues<T> {
  const waiting: PromiseWithResolvers<IteratorResult<T, undefined>>[] = [];
  // Let go of once it was called: it can hold on to all that a subscription came with.
  let start: Subscribe<T> | undefined = subscribe;
  let subscription: Subscription | undefined;
  let isOver = false;

  const subscriber: Subscriber<T> = {
    onNext(value) {
      waiting.shift()?.resolve({ done: false, value });
      if (waiting.length > 0) subscription?.request();
    },
    onError(error) {
      waiting.shift()?.reject(error);
      end();
    },
  };

  function end(): void {
    isOver = true;
    for (const { resolve } of waiting.splice(0)) resolve(ITERATOR_END);
  }

  return {
    [Symbol.asyncIterator]: returnThis,
    next() {
      if (isOver) return Promise.resolve(ITERATOR_END);
      const next = Promise.withResolvers<IteratorResult<T, undefined>>();
      subscription ??= start?.(subscriber);
      start = undefined;
      if (waiting.push(next) === 1) subscription?.request();
      return next.promise;
    },
    return() {
      subscription?.cancel();
      end();
      return Promise.resolve(ITERATOR_END);
    },
  };
}

/** Turns values into others; what becomes `undefined` is passed over. Ends with its source. */
export function mapAsyncValues<T, U>(source: AsyncValues<T>, map: (value: T) => U | undefined): AsyncValues<U> {
  return {
    [Symbol.asyncIterator]: returnThis,
    async next() {
      for (;;) {
        const result = await source.next();
        if (result.done) return ITERATOR_END;
        const value = map(result.value);
        if (value !== undefined) return { done: false, value };
      }
    },
    async return() {
      await source.return?.();
      return ITERATOR_END;
    },
  };
}
