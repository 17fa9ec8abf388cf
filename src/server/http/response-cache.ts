import { LRUCache } from 'lru-cache';
import type { Instant } from '../../domain/instant.ts';
import type { DataVersion } from './data-version.ts';
import type { EncodedResponse } from './encoded-response.ts';

/**
 * Finished answers that are given again for as long as they would be made the same, by the text of the request. One is kept
 * as soon as its text was asked for twice in its dataVersion.
 *
 * All have whole data, so their bytes are the same in every media type: the text is all that they depend on.
 */
export type ResponseCache = {
  /** The answer that would be made now; `undefined` where none is kept. */
  get(text: string): EncodedResponse | undefined;
  /**
   * Keeps an answer that was begun in that dataVersion, unless its text was looked for only once, or it would not be made the
   * same any more.
   */
  store(text: string, answer: EncodedResponse, begun: DataVersion): void;
  /** How many bytes are held, texts among them. */
  bytes(): number;
};

/** What answers are kept by. */
export type ResponseCacheOptions = {
  /** How many bytes may be held; 0 keeps nothing. */
  readonly maxBytes: number;
  /** What the gateway tells now. */
  readonly dataVersion: () => DataVersion;
  readonly now: () => Instant;
};

/** About what an answer takes beside its bytes: its entry, its record and what it rests on. */
const RECORD_BYTES = 600;

/** So many texts without an answer are remembered, and so many characters of them: they can be long. */
const MAX_MISSED = 1_000;
const MAX_MISSED_CHARACTERS = 1_000_000;

/** A few such answers must not push out all others. */
const SHARE_OF_ONE = 1 / 8;

type Store = LRUCache<string, EncodedResponse>;

/**
 * Makes the keeper. Half of the room is for answers of now: they are gone with the dataVersion that they were made in. The
 * other half is for those that tell of final heights alone, which outlive it.
 */
export function createResponseCache({ maxBytes, dataVersion, now }: ResponseCacheOptions): ResponseCache {
  const half = Math.floor(maxBytes / 2);
  if (half === 0) return { get: () => undefined, store() {}, bytes: () => 0 };

  const final = createStore(half);
  let ofNow = createStore(half);
  let madeIn = dataVersion();
  /** Whether texts without an answer were asked for again, in the dataVersion of now. */
  const missed = new Map<string, boolean>();
  let missedCharacters = 0;

  /** The answers of now: looked at with each request, so that no publication can be missed. */
  function current(): Store {
    const present = dataVersion();
    if (present !== madeIn) {
      madeIn = present;
      ofNow = createStore(half);
      forgetMissed();
    }
    return ofNow;
  }

  /** Most texts that come once never come again, and what is kept of them makes the next collection of garbage longer. */
  function noteMiss(text: string): void {
    const isAgain = missed.has(text);
    if (!isAgain) {
      const isFull = missed.size >= MAX_MISSED || missedCharacters + text.length > MAX_MISSED_CHARACTERS;
      if (isFull) forgetMissed();
      missedCharacters += text.length;
    }
    missed.set(text, isAgain);
  }

  function forgetMissed(): void {
    missed.clear();
    missedCharacters = 0;
  }

  return {
    get(text) {
      const answer = current().get(text) ?? final.get(text);
      if (answer !== undefined && isFresh(answer)) return answer;
      noteMiss(text);
      return undefined;
    },
    store(text, answer, begun) {
      const { dependencies } = answer;
      if (dependencies === undefined || dataVersion() !== begun || !missed.get(text) || !dependencies.areCurrent(now()))
        return;
      (dependencies.areImmutable() ? final : current()).set(text, answer);
    },
    bytes: () => current().calculatedSize + final.calculatedSize,
  };

  /** Order books have a time of their own; everything else ends with its dataVersion. */
  function isFresh({ dependencies }: EncodedResponse): boolean {
    const expiresAt = dependencies?.expiresAt() ?? Number.NEGATIVE_INFINITY;
    return expiresAt === Number.POSITIVE_INFINITY || now() < expiresAt;
  }
}

function createStore(maxBytes: number): Store {
  return new LRUCache({
    maxSize: maxBytes,
    maxEntrySize: Math.max(1, Math.floor(maxBytes * SHARE_OF_ONE)),
    sizeCalculation: ({ body }, text) => body.length + text.length + RECORD_BYTES,
  });
}
