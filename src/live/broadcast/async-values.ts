import type { Subscribe, Subscriber, Subscription } from './broadcast.ts';

/** Values that arrive until `return` is called, which also ends a pending `next`. */
export type AsyncValues<T> = AsyncIterableIterator<T, undefined>;

/** `Symbol.asyncIterator` of an iterator. There can be many thousands of iterators, so they share one function. */
export function returnThis<T>(this: T): T {
  return this;
}

/** What an iterator returns at its end. */
export const ITERATOR_END = { done: true, value: undefined } as const;

/**
 * Turns a source into an async iterator. It subscribes at the first `next`, so an iterator that is never used leaves no
 * subscription open.
 *
 * It is not an async generator: `return` on one waits until a pending `next` is settled, which would keep the subscription
 * of a client that has gone until the next value.
 */
export function toAsyncValues<T>(subscribe: Subscribe<T>): AsyncValues<T> {
  const waiting: PromiseWithResolvers<IteratorResult<T, undefined>>[] = [];
  // It is released once it was called, because it can refer to everything that came with the subscription.
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
