import { useSyncExternalStore } from 'react';
import { createStore, type WritableStore } from '../client/store.ts';

/**
 * Creates a choice of the reader that the browser keeps and its tabs share. The first one is usual. A browser that stores nothing
 * keeps it until the page is closed.
 */
export function createStoredChoice<Choice extends string>(
  key: string,
  choices: readonly [Choice, ...Choice[]],
): WritableStore<Choice> {
  function read(): Choice {
    let stored: string | null = null;
    try {
      stored = localStorage.getItem(key);
    } catch {
      // It stores nothing.
    }
    return choices.find((choice) => choice === stored) ?? choices[0];
  }

  const store = createStore(read());
  window.addEventListener('storage', (event) => {
    // Another tab has chosen, or the storage was cleared.
    if (event.key === key || event.key === null) store.set(read());
  });
  return {
    ...store,
    set(next) {
      try {
        localStorage.setItem(key, next);
      } catch {
        // It stores nothing.
      }
      store.set(next);
    },
  };
}

/** The choice of the reader. */
export function useStoredChoice<Choice extends string>({ subscribe, get }: WritableStore<Choice>): Choice {
  return useSyncExternalStore(subscribe, get);
}
