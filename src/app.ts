import { readFileSync } from 'node:fs';
import type { Instant } from './domain/instant.ts';
import { KNOWN_TOKENS, toTokenList } from './domain/token.ts';
import type { Upstream } from './errors.ts';
import type { Service } from './graphql/context.ts';
import { type AddressLimits, mapLimits } from './graphql/limits.ts';
import { createPoolCache } from './loaders/pool-cache.ts';
import type { Sources } from './loaders/sources.ts';
import type { Log } from './log.ts';
import { createGateway, type Gateway } from './server/gateway.ts';
import { createMetrics } from './server/metrics/metrics.ts';
import { MAX_INT32 } from './settings/readers.ts';
import { type Config, DEFAULT_BURST_SECONDS } from './settings/settings.ts';
import { connectMarketData, connectNodes } from './upstreams.ts';

/** The gateway with its sources. */
export type App = Gateway & {
  /** What operations are executed with. */
  readonly service: Service;
  /** Closes the server, then the followers and their connections. */
  close(): Promise<void>;
};

/** What an app is created with. */
export type AppOptions = {
  readonly config: Config;
  /** Whether the config points to the built-in sandbox. */
  readonly isSandbox: boolean;
  readonly log: Log;
  readonly now?: () => Instant;
};

/** Creates upstream clients, followers, sources and the server. */
export function createApp({ config, isSandbox, log, now = Date.now }: AppOptions): App {
  const version = readVersion();
  const metrics = createMetrics(version, isSandbox);
  const sourceOptions = { config, log, now, metrics };
  const nodes = connectNodes(sourceOptions);
  const marketData = connectMarketData(sourceOptions);

  const sources: Sources = {
    ...nodes.sources,
    ...marketData.sources,
    pools: createPoolCache(),
    tokens: toTokenList([...KNOWN_TOKENS.values(), ...config.tokens]),
  };
  const service: Service = {
    version,
    isSandbox,
    limits: { ...mapLimits((name) => config[name]), ...addressLimitsOf(config) },
    sources,
    now,
    configured: configuredIn(config),
    upstreams: () => [nodes.health(), marketData.health()],
  };
  const gateway = createGateway({ ...config, service, metrics, log });

  return {
    ...gateway,
    service,
    async close() {
      await gateway.close();
      for (const follower of [sources.head, sources.market.pairs, sources.market.tickers]) follower.stop();
      await Promise.all([nodes.disconnect(), marketData.disconnect()]);
    },
  };
}

/** The version in package.json. */
export function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}

/** The limits of client addresses. */
function addressLimitsOf({ rateLimitPerSecond, rateLimitBurst, maxConnectionsPerAddress }: Config): AddressLimits {
  const rate = rateLimitPerSecond && {
    pointsPerSecond: rateLimitPerSecond,
    burst: rateLimitBurst ?? Math.min(DEFAULT_BURST_SECONDS * rateLimitPerSecond, MAX_INT32),
  };
  return { rate: rate || undefined, maxConnectionsPerAddress };
}

function configuredIn({ fullnodeUrls, marketDataUrl }: Config): ReadonlySet<Upstream> {
  return new Set<Upstream>([
    ...(fullnodeUrls.length > 0 ? (['NODE'] as const) : []),
    ...(marketDataUrl === undefined ? [] : (['MARKET_DATA'] as const)),
  ]);
}
