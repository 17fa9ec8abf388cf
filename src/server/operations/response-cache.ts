import { LRUCache } from 'lru-cache';
import type { Instant } from '../../domain/instant.ts';
import type { Service } from '../../graphql/context.ts';
import type { EncodedResponse } from './encoded-response.ts';

/** The version of all published data: the same object until something is published. */
export type DataVersion = object;

/**
 * Creates the function that returns the current version. It compares the head, the pairs, the tickers and the token list by
 * identity each time that it is called. Notifications would not do, because data that becomes too old is not published.
 */
export function createDataVersion({
  head,
  market,
  tokens,
}: Pick<Service['sources'], 'head' | 'market' | 'tokens'>): () => DataVersion {
  const read = () => [
    head.current(),
    market.pairs.current()?.market,
    market.tickers.current()?.market,
    tokens.current(),
  ];
  let version = read();

  return () => {
    const current = read();
    if (current.some((value, index) => value !== version[index])) version = current;
    return version;
  };
}

/**
 * The cache of responses, by the text of the request. A response is used for as long as executing the request again would give
 * the same. It is stored when its text was requested twice in the same version of the data.
 *
 * Responses with errors are not stored, so the bytes are the same in every media type.
 */
export type ResponseCache = ReturnType<typeof createResponseCache>;

type ResponseCacheOptions = {
  /** Maximum size; 0 stores nothing. */
  readonly maxBytes: number;
  readonly now: () => Instant;
};

/** About the memory of an entry beside its text and its body, with its dependencies. */
const ENTRY_BYTES = 800;

/** Maximum size of one entry, as a part of the cache: a few large responses must not evict all others. */
const MAX_PART = 1 / 16;

/** Maximum number of texts that are known to have been requested. */
const MAX_REQUESTED = 10_000;

/** Creates an empty cache. All responses are removed with each new version of the data. */
export function createResponseCache({ maxBytes, now }: ResponseCacheOptions) {
  const responses = new LRUCache<string, EncodedResponse>({
    // For lru-cache, 0 is no limit.
    maxSize: Math.max(1, maxBytes),
    maxEntrySize: Math.max(1, Math.floor(maxBytes * MAX_PART)),
    sizeCalculation: ({ bytes }, text) => bytes + text.length + ENTRY_BYTES,
  });
  /**
   * The hashes of the texts that were requested in the current version, and whether each was requested again.
   *
   * A text is looked up only if its hash was requested before. To look up a string, V8 copies it to the old generation, unless it
   * has an equal one there. For texts that nobody repeats, only full collections would remove the copies.
   */
  const requested = new LRUCache<number, boolean>({ max: MAX_REQUESTED });
  let currentVersion: DataVersion | undefined;

  return {
    /** The response in that version of the data, which is the current one; `undefined` if there is none. */
    get(text: string, version: DataVersion): EncodedResponse | undefined {
      if (version !== currentVersion) {
        currentVersion = version;
        responses.clear();
        requested.clear();
      }
      const hash = hashOf(text);
      const isAgain = requested.get(hash);
      if (!isAgain) requested.set(hash, isAgain === false);
      const response = isAgain === undefined ? undefined : responses.get(text);
      // Order books expire at a time of their own, and the history changes between two versions of the data.
      return response?.facts.dependencies?.areCurrent(now()) ? response : undefined;
    },
    /**
     * Stores a response whose execution started with that version of the data, if its text was requested before and everything
     * that it depends on is still current.
     */
    store(text: string, response: EncodedResponse, version: DataVersion): void {
      const { dependencies } = response.facts;
      if (dependencies === undefined || version !== currentVersion) return;
      // Most texts are requested only once. Storing their responses would make the next garbage collection longer.
      if (!requested.get(hashOf(text)) || !dependencies.areCurrent(now())) return;
      responses.set(text, response);
    },
  };
}

/**
 * About the number of characters of a text that its hash depends on. With 24, a third of all cursors had the hash of another one,
 * with 32 one in a hundred.
 */
const HASHED_CHARACTERS = 32;

/** A number that depends on a part of a text. Different texts can have the same. */
function hashOf(text: string): number {
  const step = Math.max(1, Math.floor(text.length / HASHED_CHARACTERS));
  let hash = text.length;
  for (let at = text.length - 1; at >= 0; at -= step) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return hash;
}
