import type { ExchangeState, PoolDirectory } from './domain/exchange.ts';
import type { Instant } from './domain/instant.ts';
import type { RawOrderBook } from './domain/order-book.ts';
import { createFleet, type Fleet } from './fleet/fleet.ts';
import { createRedis, type Redis } from './fleet/redis.ts';
import { createSharedAccounts, type SharedAccounts } from './fleet/shared-accounts.ts';
import { createSharedOrderBooks } from './fleet/shared-order-books.ts';
import { createSharedStates } from './fleet/shared-states.ts';
import { createSharedTexts, type SharedTexts } from './fleet/shared-texts.ts';
import type { FinalHeight } from './live/chain/past-states.ts';
import type { Observed, ReadOnce } from './live/read-once.ts';
import type { Log } from './log.ts';
import type { Metrics } from './server/metrics/metrics.ts';
import type { Config } from './settings/settings.ts';
import { createFleetLog, createRedisLog } from './upstream-log.ts';

/** Connects to the Redis of the fleet; `undefined` if the gateway is alone. */
export function connectRedis(config: Config, log: Log): Redis | undefined {
  if (config.redisUrl.length === 0) return undefined;
  return createRedis({ urls: config.redisUrl, prefix: config.redisPrefix, watcher: createRedisLog(log) });
}

/** What the replicas of a fleet read once, and count together. */
export type Shared = {
  /** Creates the reads of final states. @param directoryOf the directory of pools with these ids */
  states(directoryOf: (ids: readonly string[]) => PoolDirectory): ReadOnce<FinalHeight, ExchangeState>;
  readonly orderBooks: ReadOnce<string, Observed<RawOrderBook | undefined>>;
  readonly texts: SharedTexts;
  readonly accounts: SharedAccounts;
};

type SharedOptions = {
  readonly redis: Redis;
  readonly config: Config;
  readonly metrics: Metrics;
  readonly now: () => Instant;
};

/** Creates what a replica shares with the others. */
export function createShared({ redis, config, metrics, now }: SharedOptions): Shared {
  const watcher = metrics.watchShared();
  // A client that waited longer would have stopped waiting when the upstream responds.
  const maxWaitMs = config.upstreamTimeoutMs / 2;
  return {
    states: (directoryOf) => createSharedStates({ redis, maxWaitMs, directoryOf, watcher }),
    orderBooks: createSharedOrderBooks({ redis, ttlMs: config.orderBookTtlMs, maxWaitMs, now, watcher }),
    texts: createSharedTexts(redis, watcher),
    accounts: createSharedAccounts(redis, watcher.settled),
  };
}

/** Creates the fleet of a gateway; `undefined` if it is alone. It joins when it is started. */
export function connectFleet(
  redis: Redis | undefined,
  { config, log, now, leaseMs }: { config: Config; log: Log; now: () => Instant; leaseMs?: number | undefined },
): Fleet | undefined {
  if (redis === undefined) return undefined;
  return createFleet({ redis, headsKept: config.maxResumedHeights, now, watcher: createFleetLog(log), leaseMs });
}
