import { LRUCache } from 'lru-cache';
import type { Instant } from '../../domain/instant.ts';
import type { DataVersion } from './data-version.ts';
import type { EncodedResponse } from './encoded-response.ts';

/**
 * The cache of responses, by the text of the request. A response is used for as long as executing the request again would give
 * the same. It is stored when its text was requested twice in the same version of the data.
 *
 * Responses with errors are not stored, so the bytes are the same in every media type.
 */
export type ResponseCache = {
  /** The current response; `undefined` if there is none. */
  get(text: string): EncodedResponse | undefined;
  /**
   * Stores a response whose execution started with that version of the data, if its text was requested before and everything
   * that it depends on is still current.
   */
  store(text: string, response: EncodedResponse, version: DataVersion): void;
  /** The size of the cache, with the texts. */
  bytes(): number;
};

/** What the cache needs. */
type ResponseCacheOptions = {
  /** Maximum size; 0 stores nothing. */
  readonly maxBytes: number;
  /** The current version of the data. */
  readonly dataVersion: () => DataVersion;
  /** The token list, which is a part of that version. Responses about final heights depend on it, because prices do. */
  readonly tokenList: () => object;
  readonly now: () => Instant;
};

/** About the memory of an entry beside its text and its body, with its dependencies. */
const ENTRY_BYTES = 600;

/** Maximum number of cache misses that are noted. */
const MAX_MISSES = 1_000;

/** Maximum size of one entry, as a part of its store: a few large responses must not evict all others. */
const MAX_PART = 1 / 8;

/**
 * A number that depends on a part of a text. Different texts can have the same.
 *
 * A text is looked up by it first. To look up a string, V8 copies it to the old generation, unless it has an equal one there. For
 * texts that nobody repeats, only full collections would remove the copies.
 */
type TextHash = number;

/** Responses by the texts of their requests. */
type Store = { readonly responses: LRUCache<string, EncodedResponse>; readonly hashes: Set<TextHash> };

/**
 * Creates an empty cache. Half of its size is for responses about current data, which are removed with each new version of the
 * data. The other half is for responses that are about final heights only, which stay until the token list changes.
 */
export function createResponseCache({ maxBytes, dataVersion, tokenList, now }: ResponseCacheOptions): ResponseCache {
  const half = Math.floor(maxBytes / 2);
  if (half === 0) return { get: () => undefined, store() {}, bytes: () => 0 };

  let final = createStore(half);
  let current = createStore(half);
  let currentVersion = dataVersion();
  let knownTokens = tokenList();
  /** The misses in the current version, and whether each was requested again. */
  const missed = new Map<TextHash, boolean>();

  /** The responses about current data. The version is compared with each request, so that no publication is missed. */
  function currentStore(): Store {
    const version = dataVersion();
    if (version !== currentVersion) {
      currentVersion = version;
      current = createStore(half);
      if (tokenList() !== knownTokens) final = createStore(half);
      knownTokens = tokenList();
      missed.clear();
    }
    return current;
  }

  /** Most texts are requested only once. Storing their responses would make the next garbage collection longer. */
  function noteMiss(hash: TextHash): void {
    const isAgain = missed.has(hash);
    if (!isAgain && missed.size >= MAX_MISSES) missed.clear();
    missed.set(hash, isAgain);
  }

  return {
    get(text) {
      const hash = hashOf(text);
      const response = find(currentStore(), hash, text) ?? find(final, hash, text);
      if (response !== undefined && isFresh(response)) return response;
      noteMiss(hash);
      return undefined;
    },
    store(text, response, version) {
      const { dependencies } = response;
      const hash = hashOf(text);
      if (dependencies === undefined || dataVersion() !== version || !missed.get(hash)) return;
      if (!dependencies.areCurrent(now())) return;
      const { responses, hashes } = dependencies.areImmutable() ? final : currentStore();
      responses.set(text, response);
      // A response that would take too much of the cache is not in it.
      if (responses.has(text)) hashes.add(hash);
    },
    bytes: () => currentStore().responses.calculatedSize + final.responses.calculatedSize,
  };

  /** Order books expire at a time of their own, and the history changes between two versions of the data. */
  function isFresh({ dependencies }: EncodedResponse): boolean {
    if (dependencies === undefined) return false;
    // Most responses expire at no time of their own, so the clock need not be read.
    return dependencies.areCurrent(dependencies.expiresAt() === Number.POSITIVE_INFINITY ? 0 : now());
  }
}

function createStore(maxBytes: number): Store {
  const hashes = new Set<TextHash>();
  const responses = new LRUCache<string, EncodedResponse>({
    maxSize: maxBytes,
    maxEntrySize: Math.max(1, Math.floor(maxBytes * MAX_PART)),
    sizeCalculation: ({ bytes }, text) => bytes + text.length + ENTRY_BYTES,
    dispose: (_response, text) => void hashes.delete(hashOf(text)),
  });
  return { responses, hashes };
}

function find({ responses, hashes }: Store, hash: TextHash, text: string): EncodedResponse | undefined {
  return hashes.has(hash) ? responses.get(text) : undefined;
}

/**
 * About the number of characters of a text that its hash depends on. With 24, a third of all cursors had the hash of another one,
 * with 32 one in a hundred.
 */
const HASHED_CHARACTERS = 32;

function hashOf(text: string): TextHash {
  const step = Math.max(1, Math.floor(text.length / HASHED_CHARACTERS));
  let hash = text.length;
  for (let at = text.length - 1; at >= 0; at -= step) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return hash;
}
