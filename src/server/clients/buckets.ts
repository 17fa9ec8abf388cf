import { LRUCache } from 'lru-cache';
import type { Instant } from '../../domain/instant.ts';
import { drain, fullBucket, type RateLimit, refill, type TokenBucket } from '../../domain/token-bucket.ts';

/** The token bucket of one client. */
type ClientBucket = {
  /** The points that the client can spend now. */
  level(): TokenBucket;
  /** Takes points from what `level` has just returned. The client may owe points afterwards. */
  take(points: number): void;
};

/** The token buckets of all clients, each of which is full at first. */
export type Buckets = {
  /** The bucket of a client. It must be used at once, because it can be removed later. */
  of(client: string): ClientBucket;
};

/**
 * Maximum number of buckets. One more removes the least recently used, whose client then has a full bucket again. An attacker
 * gains nothing: to remove a bucket he needs this many addresses, each with a full bucket of its own.
 */
const MAX_CLIENTS = 100_000;

/** Creates the buckets of one gateway. Each gateway of a fleet counts for itself. */
export function createBuckets(rate: RateLimit, now: () => Instant): Buckets {
  const buckets = new LRUCache({ max: MAX_CLIENTS, memoMethod: () => new OwnBucket(rate, now) });
  return { of: (client) => buckets.memo(client) };
}

class OwnBucket implements ClientBucket {
  readonly #rate: RateLimit;
  readonly #now: () => Instant;
  #bucket: TokenBucket;

  constructor(rate: RateLimit, now: () => Instant) {
    this.#rate = rate;
    this.#now = now;
    this.#bucket = fullBucket(rate, now());
  }

  level(): TokenBucket {
    this.#bucket = refill(this.#bucket, this.#rate, this.#now());
    return this.#bucket;
  }

  take(points: number): void {
    this.#bucket = drain(this.#bucket, points);
  }
}
