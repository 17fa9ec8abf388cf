import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';

/** How long a text may be to be kept: honest documents are far shorter. */
const MAX_CHARACTERS = 20_000;

/** How many characters are kept in all; a parsed document takes about 130 bytes for each. */
const MAX_CHARACTERS_IN_ALL = 500_000;

/** What Yoga keeps of documents, so that one that is asked again is not parsed and validated again. */
export type DocumentCaches = {
  readonly documentCache: LRUCache<string, DocumentNode>;
  readonly errorCache: { get(text: string): undefined; set(text: string, error: unknown): void };
};

/** Makes caches that are bounded by size: by number alone, a client could fill the memory with large texts. */
export function createDocumentCaches(): DocumentCaches {
  return {
    documentCache: new LRUCache({
      maxSize: MAX_CHARACTERS_IN_ALL,
      maxEntrySize: MAX_CHARACTERS,
      sizeCalculation: (_document, text) => text.length + 1,
    }),
    // What cannot be parsed is refused again as cheaply as it was the first time.
    errorCache: { get: () => undefined, set() {} },
  };
}
