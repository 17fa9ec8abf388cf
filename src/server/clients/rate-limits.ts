import type { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Instant } from '../../domain/instant.ts';
import type { RateLimit } from '../../graphql/limits.ts';
import type { Log } from '../../log.ts';
import type { Metrics, OperationTransport } from '../metrics/metrics.ts';
import { overRate } from '../operations/refusal.ts';
import type { Caller, ClientAddresses } from './client-address.ts';
import { drain, fullBucket, msUntilAffordable, refill, type TokenBucket } from './token-bucket.ts';

/** A bucket of points for each client. */
export type RateLimits = {
  /**
   * Takes what something costs, without what was paid for it before, or nothing.
   *
   * @returns why not, where the client has not so many points
   */
  charge(request: Caller, door: OperationTransport, points: number, paid?: number): GraphQLError | undefined;
  /** Takes what something has cost that is done already. It may leave a debt. */
  debit(request: Caller, points: number): void;
  /**
   * Tells a client how it stands, in the fields of the IETF's draft "RateLimit header fields for HTTP".
   *
   * @param retryAfter what the answer says of that, in seconds: the draft asks that it does not point to an earlier moment
   * @returns names and values of headers in turn
   */
  standingHeaders(request: Caller, retryAfter?: string): readonly [string, string, string, string];
};

/** What rate limits are made of. */
export type RateLimitsOptions = {
  readonly rate: RateLimit;
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
  const policy = `"default";q=${rate.burst};w=${Math.ceil(rate.burst / rate.pointsPerSecond)}`;

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
    debit(request, points) {
      const client = clients.of(request);
      buckets.set(client, drain(bucketOf(client), points));
    },
    standingHeaders(request, retryAfter) {
      const bucket = bucketOf(clients.of(request));
      const remaining = Math.max(0, Math.floor(bucket.thousandths / 1_000));
      const seconds = retryAfter ?? Math.ceil(msUntilAffordable(bucket, rate, rate.burst) / 1_000);
      return ['ratelimit-policy', policy, 'ratelimit', `"default";r=${remaining};t=${seconds}`];
    },
  };
}

/** Makes what tells the log of refusals: the first at once, then how many there were. */
function createRefusalLog(log: Log, now: () => Instant): (client: string) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  let refused = 0;
  return (client) => {
    refused++;
    if (Math.abs(now() - toldAt) < LOG_INTERVAL_MS) return;
    log.warn({ refused, latest: client }, 'refusing requests over the rate limit');
    toldAt = now();
    refused = 0;
  };
}
