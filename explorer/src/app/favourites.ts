import { useSyncExternalStore } from 'react';
import { createStore } from '../client/store.ts';

const KEY = 'pdex-favourites';

/** The pool ids of the favourites, as the browser stores them. */
const favourites = createStore<ReadonlySet<string>>(readFavourites() ?? new Set());

/** False if the browser has refused to store them: then this page alone knows them. */
let isStored = true;

window.addEventListener('storage', ({ key }) => {
  // Another tab has chosen, or the storage was cleared.
  if (key === KEY || key === null) favourites.set(readFavourites() ?? favourites.get());
});

/** The pool ids of the markets that the reader has marked. */
export function useFavourites(): ReadonlySet<string> {
  return useSyncExternalStore(favourites.subscribe, favourites.get);
}

/** Whether one of the pairs of a market is marked. */
export function isFavourite(marked: ReadonlySet<string>, poolIds: readonly string[]): boolean {
  return poolIds.some((id) => marked.has(id));
}

/** Marks a market by its first pool id, or removes the marks of all. */
export function toggleFavourite(poolIds: readonly string[]): void {
  // Another tab may have stored more than this one has received.
  const marked = new Set((isStored && readFavourites()) || favourites.get());
  const [first] = poolIds;
  if (isFavourite(marked, poolIds)) for (const id of poolIds) marked.delete(id);
  else if (first !== undefined) marked.add(first);
  try {
    localStorage.setItem(KEY, JSON.stringify([...marked]));
    isStored = true;
  } catch {
    isStored = false;
    // A browser that stores nothing keeps them until the page is closed.
  }
  favourites.set(marked);
}

/** Undefined if the browser lets the page store nothing. */
function readFavourites(): ReadonlySet<string> | undefined {
  let text: string | null;
  try {
    text = localStorage.getItem(KEY);
  } catch {
    return undefined;
  }
  try {
    const stored: unknown = JSON.parse(text ?? '[]');
    return new Set(Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : []);
  } catch {
    return new Set();
  }
}
