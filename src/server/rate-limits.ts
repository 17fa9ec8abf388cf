import type { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Instant } from '../domain/instant.ts';
import {
  type BucketRate,
  drain,
  fullBucket,
  msUntilAffordable,
  refill,
  type TokenBucket,
} from '../domain/token-bucket.ts';
import type { Log } from '../log.ts';
import type { Asker, ClientAddresses } from './client-address.ts';
import type { Metrics, OperationDoor } from './metrics.ts';
import { overRate } from './refusal.ts';

/** A bucket of points for each client. */
export type RateLimits = {
  /**
   * Takes what something costs, without what was paid for it before, or nothing.
   *
   * @returns why not, where the client has not so many points
   */
  charge(request: Asker, door: OperationDoor, points: number, paid?: number): GraphQLError | undefined;
  /** What a client has. */
  standing(request: Asker): Standing;
  readonly rate: BucketRate;
};

/** What is left to a client, in whole points, and when it has all again. */
export type Standing = { readonly remaining: number; readonly fullInMs: number };

/** What rate limits are made of. */
export type RateLimitsOptions = {
  readonly rate: BucketRate;
  readonly clients: ClientAddresses;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly now: () => Instant;
};

/**
 * How many clients are remembered. Beyond, the one that asked least recently is forgotten, as if it had a full bucket:
 * whoever can make that happen has had as many full buckets of his own.
 */
const MAX_CLIENTS = 100_000;

/** The log tells of refusals this often, however many there are: a hostile client would fill it. */
const LOG_INTERVAL_MS = 60_000;

/** Makes the buckets, all of them full. */
export function createRateLimits({ rate, clients, metrics, log, now }: RateLimitsOptions): RateLimits {
  const buckets = new LRUCache<string, TokenBucket>({ max: MAX_CLIENTS });
  const bucketOf = (client: string) => {
    const known = buckets.get(client);
    return known === undefined ? fullBucket(rate, now()) : refill(known, rate, now());
  };
  const tell = createRefusalLog(log, now);

  return {
    charge(request, door, points, paid = 0) {
      const client = clients.of(request);
      const bucket = bucketOf(client);
      if (msUntilAffordable(bucket, rate, points, paid) === 0) {
        buckets.set(client, drain(bucket, points - paid));
        return undefined;
      }
      buckets.set(client, bucket);
      metrics.limitedRate(door);
      tell(client);
      // What was paid is gone: it was the price of what was done to learn the rest.
      return overRate(msUntilAffordable(bucket, rate, points));
    },
    standing(request) {
      const bucket = bucketOf(clients.of(request));
      return {
        remaining: Math.max(0, Math.floor(bucket.thousandths / 1_000)),
        fullInMs: msUntilAffordable(bucket, rate, rate.burst),
      };
    },
    rate,
  };
}

/** Makes what tells the log of refusals: the first at once, then how many there were. */
function createRefusalLog(log: Log, now: () => Instant): (client: string) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  let refused = 0;
  return (client) => {
    refused++;
    if (Math.abs(now() - toldAt) < LOG_INTERVAL_MS) return;
    log.warn({ refused, latest: client }, 'refusing what is over the rate limit');
    toldAt = now();
    refused = 0;
  };
}
