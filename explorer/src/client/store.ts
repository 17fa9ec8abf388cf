/** A value that changes, and whoever wants to know when it does. */
export type Store<Value> = {
  get(): Value;
  /** @returns a function that ends it */
  subscribe(listener: () => void): () => void;
};

/** A store with its setter. A value that is already there notifies nobody. */
export type WritableStore<Value> = Store<Value> & { set(value: Value): void };

/** Creates a store, in the form that React's `useSyncExternalStore` takes. */
export function createStore<Value>(initial: Value): WritableStore<Value> {
  const listeners = new Set<() => void>();
  let value = initial;
  return {
    get: () => value,
    set(next) {
      if (Object.is(value, next)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
