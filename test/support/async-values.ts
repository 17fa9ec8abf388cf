import type { Subscribe, Subscriber, Subscription } from '../../src/live/broadcast/broadcast.ts';

/** Values that arrive until `return` is called, which also ends a pending `next`. */
export type AsyncValues<T> = AsyncIterableIterator<T, undefined>;

const END = { done: true, value: undefined } as const;

/**
 * Turns a source into an async iterator. It subscribes at the first `next`, so an iterator that is never used leaves no
 * subscription open.
 *
 * It is not an async generator: `return` on one waits until a pending `next` is settled, which would keep the subscription
 * of a client that has gone until the next value.
 */
export function toAsyncValues<T>(subscribe: Subscribe<T>): AsyncValues<T> {
  const waiting: PromiseWithResolvers<IteratorResult<T, undefined>>[] = [];
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
    for (const { resolve } of waiting.splice(0)) resolve(END);
  }

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      if (isOver) return Promise.resolve(END);
      const next = Promise.withResolvers<IteratorResult<T, undefined>>();
      subscription ??= subscribe(subscriber);
      if (waiting.push(next) === 1) subscription?.request();
      return next.promise;
    },
    return() {
      subscription?.cancel();
      end();
      return Promise.resolve(END);
    },
  };
}
