import { itself, type Values } from './iterate.ts';

/**
 * A value that is replaced from time to time, and those who want to hear of it. Each listener has one slot: a newer value
 * replaces one that it has not taken yet, so a slow listener passes values over and nothing ever queues for it.
 */
export type Latest<T> = {
  current(): T | undefined;
  publish(value: T): void;
  /** The current value at once, where there is one, then each one published. Ends when `return` is called on it. */
  listen(): Values<T>;
  listeners(): number;
  /** How often a value was replaced in a listener's slot before it was taken. */
  skipped(): number;
};

/** Each listener has something to send: told all at once, ten thousand would keep everyone else waiting. */
const TOLD_AT_ONCE = 16;

/** Makes a {@link Latest} that holds nothing yet. */
export function createLatest<T>(): Latest<T> {
  let current: { readonly value: T } | undefined;
  const listeners = new Set<Listener<T>>();
  /** Those who were not told the current value yet. */
  const behind = new Set<Listener<T>>();
  let isTelling = false;
  let skipped = 0;

  /**
   * Tells a few, and the others once the process has had a turn for whatever else waits. Each turn goes on where the one
   * before has stopped: from the beginning, a set is walked over all that was taken out of it.
   */
  function tellSome(toTell: Iterator<Listener<T>, undefined>): void {
    for (let told = 0; told < TOLD_AT_ONCE && behind.size > 0; told++) {
      const { value: listener } = toTell.next();
      if (listener === undefined) break;
      behind.delete(listener);
      if (current !== undefined) skipped += Number(listener.offer(current.value));
    }
    isTelling = behind.size > 0;
    if (isTelling) setImmediate(tellSome, toTell);
  }

  return {
    current: () => current?.value,
    publish(value) {
      current = { value };
      for (const listener of listeners) {
        if (behind.has(listener)) skipped += 1;
        behind.add(listener);
      }
      if (!isTelling) tellSome(behind.values());
    },
    listen() {
      const listener = createListener<T>(() => {
        listeners.delete(listener);
        behind.delete(listener);
      });
      listeners.add(listener);
      if (current !== undefined) listener.offer(current.value);
      return listener.values;
    },
    listeners: () => listeners.size,
    skipped: () => skipped,
  };
}

type Listener<T> = {
  /** @returns whether it took the place of a value that was not taken */
  offer(value: T): boolean;
  readonly values: Values<T>;
};

/**
 * Not an async generator: `return` on one waits until a pending `next` is settled, which would keep a listener that has
 * gone until the next value comes.
 */
function createListener<T>(onEnd: () => void): Listener<T> {
  let slot: { readonly value: T } | undefined;
  const waiting: ((result: IteratorResult<T, undefined>) => void)[] = [];
  let ended = false;

  function end(): Promise<IteratorResult<T, undefined>> {
    ended = true;
    slot = undefined;
    onEnd();
    for (const resolve of waiting.splice(0)) resolve({ done: true, value: undefined });
    return Promise.resolve({ done: true, value: undefined });
  }

  return {
    offer(value) {
      const resolve = waiting.shift();
      const isSkip = slot !== undefined;
      if (resolve === undefined) slot = { value };
      else resolve({ done: false, value });
      return isSkip;
    },
    values: {
      [Symbol.asyncIterator]: itself,
      next() {
        if (ended) return Promise.resolve({ done: true, value: undefined });
        if (slot !== undefined) {
          const { value } = slot;
          slot = undefined;
          return Promise.resolve({ done: false, value });
        }
        return new Promise((resolve) => waiting.push(resolve));
      },
      return: end,
    },
  };
}
