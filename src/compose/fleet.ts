import { createFleet } from '../fleet/fleet.ts';
import { createRedis } from '../fleet/redis.ts';
import { createRedisLog } from '../logging/upstream-log.ts';
import type { Config } from '../settings/settings.ts';
import type { SourceOptions } from './upstreams.ts';

/** Joins the fleet of the configured Redis. @returns `undefined` if none is configured */
export function connectFleet({ config, log, metrics, now }: Pick<SourceOptions, 'config' | 'log' | 'metrics' | 'now'>) {
  const { redisUrl: urls, redisPrefix: prefix } = config;
  if (urls.length === 0) return undefined;
  const redis = createRedis({ urls, prefix, watcher: createRedisLog(log) });
  const fleet = createFleet({
    redis,
    headsKept: config.maxResumedHeights,
    orderBookTtlMs: config.orderBookTtlMs,
    // A client that waited longer would have stopped waiting when the upstream responds.
    maxWaitMs: config.upstreamTimeoutMs / 2,
    now,
    watcher: metrics.watchFleet(),
    onOtherChain(chain) {
      log.error({ chain }, 'Redis has the fleet of another chain: the gateway works alone; see REDIS_PREFIX');
    },
  });
  return { ...fleet, disconnect: redis.close };
}

/** What is wrong with the settings if the fleet follows another chain. */
export function otherChainProblem({ redisPrefix }: Config, chain: string): string {
  const prefix = JSON.stringify(redisPrefix);
  return `REDIS_PREFIX is ${prefix}, but under this prefix Redis has the fleet of another chain, ${JSON.stringify(chain)}: choose another prefix`;
}
