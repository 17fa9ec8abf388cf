import type { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Instant } from '../../domain/instant.ts';
import {
  drain,
  fullBucket,
  msUntilAvailable,
  type RateLimit,
  refill,
  type TokenBucket,
} from '../../domain/token-bucket.ts';
import type { Log } from '../../logging/log.ts';
import type { Metrics, OperationTransport } from '../metrics/metrics.ts';
import { overRate } from '../requests/refusal.ts';
import type { ClientAddresses, ClientIdentity } from './client-address.ts';

/** A token bucket of points for each client. */
export type RateLimits = ReturnType<typeof createRateLimits>;

type RateLimitsOptions = {
  readonly rate: RateLimit;
  readonly clients: ClientAddresses;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly now: () => Instant;
};

/**
 * Maximum number of buckets. One more removes the least recently used, whose client then has a full bucket again. An attacker
 * gains nothing: to remove a bucket he needs this many addresses, each with a full bucket of its own.
 */
const MAX_CLIENTS = 100_000;

/** Minimum time between two log lines about refusals: otherwise a hostile client could fill the log. */
const LOG_INTERVAL_MS = 60_000;

/** Creates the rate limits of one gateway. Each gateway of a fleet counts for itself. Each client has a full bucket at first. */
export function createRateLimits({ rate, clients, metrics, log, now }: RateLimitsOptions) {
  const buckets = new LRUCache<string, TokenBucket>({ max: MAX_CLIENTS });
  const logRefusal = createRefusalLog(log, now);
  const policy = `"default";q=${rate.burst};w=${Math.ceil(rate.burst / rate.pointsPerSecond)}`;

  function bucketOf(client: string): TokenBucket {
    const bucket = refill(buckets.get(client) ?? fullBucket(rate, now()), rate, now());
    buckets.set(client, bucket);
    return bucket;
  }

  return {
    /** Takes the cost of an operation, less the points that were paid before; nothing, with an error, if the client has too few. */
    charge(request: ClientIdentity, transport: OperationTransport, points: number, paid = 0): GraphQLError | undefined {
      const client = clients.of(request);
      const bucket = bucketOf(client);
      if (msUntilAvailable(bucket, rate, points, paid) === 0) {
        buckets.set(client, drain(bucket, points - paid));
        return undefined;
      }
      metrics.rateLimited.inc({ transport });
      logRefusal(client);
      // The paid points are not returned: they paid for the work of measuring the cost.
      return overRate(msUntilAvailable(bucket, rate, points));
    },
    /** Takes the cost of work that is already done. The client may owe points afterwards. */
    debit(request: ClientIdentity, points: number): void {
      const client = clients.of(request);
      buckets.set(client, drain(bucketOf(client), points));
    },
    /**
     * The fields of the IETF draft "RateLimit header fields for HTTP", names and values alternating.
     *
     * @param retryAfter the `retry-after` of the response, in seconds: the draft says that the reset must not be earlier
     */
    headersFor(request: ClientIdentity, retryAfter?: string): readonly [string, string, string, string] {
      const bucket = bucketOf(clients.of(request));
      const remaining = Math.max(0, Math.floor(bucket.thousandths / 1_000));
      const seconds = retryAfter ?? Math.ceil(msUntilAvailable(bucket, rate, rate.burst) / 1_000);
      return ['ratelimit-policy', policy, 'ratelimit', `"default";r=${remaining};t=${seconds}`];
    },
  };
}

/** Creates the log of refusals: one line at the first, later lines with the number since then. */
function createRefusalLog(log: Log, now: () => Instant): (client: string) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let refused = 0;
  return (client) => {
    refused++;
    if (Math.abs(now() - loggedAt) < LOG_INTERVAL_MS) return;
    log.warn({ refused, latest: client }, 'refusing requests over the rate limit');
    loggedAt = now();
    refused = 0;
  };
}

/** The points that one operation takes from the rate limit of its client. Without a rate limit it takes none. */
export class Account {
  /** The points that were charged so far. */
  paid: number;
  readonly #rates: RateLimits | undefined;
  readonly #client: ClientIdentity | undefined;
  readonly #transport: OperationTransport;

  constructor(
    rates: RateLimits | undefined,
    client: ClientIdentity | undefined,
    transport: OperationTransport,
    paid = 0,
  ) {
    this.#rates = rates;
    this.#client = client;
    this.#transport = transport;
    this.paid = paid;
  }

  /** Charges what the operation has not paid yet of its total cost. @returns the error if the client has too few points */
  chargeUpTo(total: number): GraphQLError | undefined {
    if (this.#rates === undefined || this.#client === undefined || total <= this.paid) return undefined;
    const refusal = this.#rates.charge(this.#client, this.#transport, total, this.paid);
    if (refusal === undefined) this.paid = total;
    return refusal;
  }

  /** Charges more points for work that is done already. It may leave the client in debt. */
  debit(points: number): void {
    if (this.#rates === undefined || this.#client === undefined || points <= 0) return;
    this.#rates.debit(this.#client, points);
    this.paid += points;
  }
}
