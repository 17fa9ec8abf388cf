import { readFileSync } from 'node:fs';
import type { Config } from './config.ts';
import type { Instant } from './domain/instant.ts';
import { KNOWN_TOKENS, toTokenList } from './domain/token.ts';
import type { Upstream } from './errors.ts';
import type { Service } from './graphql/context.ts';
import { DEFAULT_LIMITS, type Limits } from './graphql/limits.ts';
import { absentMarketData, absentNode } from './live/absent.ts';
import { createHeadFollower } from './live/head.ts';
import { createMarketFollower } from './live/market.ts';
import { createOrderBooks } from './live/order-books.ts';
import { createPastStates } from './live/past-states.ts';
import type { Sources } from './loaders/sources.ts';
import type { Log } from './log.ts';
import { createGateway, type Gateway } from './server/gateway.ts';
import { createMetrics, type Metrics } from './server/metrics.ts';
import { createHealthRecord, type HealthRecord } from './upstream/health.ts';
import { createHttpClient } from './upstream/http.ts';
import { createMarketDataClient } from './upstream/market-data/client.ts';
import { createNodeClient } from './upstream/node/client.ts';
import { createUpstreamLog } from './upstream-log.ts';

/** The gateway with all that it follows. */
export type App = Gateway & {
  /** What its answers are made from. */
  readonly service: Service;
  /** Closes the doors, then stops following. */
  close(): Promise<void>;
};

/** What an app is made of. */
export type AppOptions = {
  readonly config: Config;
  /** Whether what the config points at is the built-in sandbox. */
  readonly isSandbox: boolean;
  readonly log: Log;
  readonly now?: () => Instant;
};

/** A state of the largest main network has 30 MB; this leaves room to grow. */
const MAX_NODE_ANSWER_BYTES = 128 * 2 ** 20;
const MAX_MARKET_DATA_ANSWER_BYTES = 32 * 2 ** 20;

/** Puts the parts together: upstream clients, what follows them, what shares their readings, and the doors. */
export function createApp({ config, isSandbox, log, now = Date.now }: AppOptions): App {
  const version = readVersion();
  const metrics = createMetrics(version);
  const part: Part = { config, log, now, metrics };
  const nodeHealth = createHealthRecord('NODE', now, metrics.calledUpstream);
  const marketDataHealth = createHealthRecord('MARKET_DATA', now, metrics.calledUpstream);
  const node = followNode(part, nodeHealth);
  const marketData = followMarketData(part, marketDataHealth);

  const sources: Sources = {
    ...node.sources,
    ...marketData.sources,
    tokens: toTokenList([...KNOWN_TOKENS.values(), ...config.tokens]),
  };
  const service: Service = {
    version,
    isSandbox,
    limits: limitsOf(config),
    sources,
    now,
    configured: configuredIn(config),
    upstreams: () => [nodeHealth.read(), marketDataHealth.read()],
  };
  const { graphiql, corsOrigins, keepAliveMs, stopWindowMs, stopTimeoutMs } = config;
  const gateway = createGateway({
    service,
    metrics,
    log,
    graphiql,
    corsOrigins,
    keepAliveMs,
    stopWindowMs,
    stopTimeoutMs,
  });

  return {
    ...gateway,
    service,
    async close() {
      await gateway.close();
      for (const follower of [sources.head, sources.market.pairs, sources.market.tickers]) follower.stop();
      await Promise.all([node.disconnect(), marketData.disconnect()]);
    },
  };
}

/** The version that package.json gives. */
export function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}

type Part = {
  readonly config: Config;
  readonly log: Log;
  readonly now: () => Instant;
  readonly metrics: Metrics;
};

/** The limits among the settings: every one that there is by default. */
function limitsOf(config: Config): Limits {
  const names = Object.keys(DEFAULT_LIMITS) as (keyof Limits)[];
  return Object.fromEntries(names.map((name) => [name, config[name]])) as Limits;
}

function configuredIn({ fullnodeUrls, marketDataUrl }: Config): ReadonlySet<Upstream> {
  return new Set<Upstream>([
    ...(fullnodeUrls.length > 0 ? (['NODE'] as const) : []),
    ...(marketDataUrl === undefined ? [] : (['MARKET_DATA'] as const)),
  ]);
}

function followNode({ config, log, now, metrics }: Part, health: HealthRecord) {
  const [first, ...others] = config.fullnodeUrls;
  if (first === undefined) return { sources: absentNode(), disconnect: async () => {} };

  const { headPollMs: pollMs, upstreamTimeoutMs: timeoutMs } = config;
  const onRead = (bytes: number) => metrics.readUpstream('NODE', bytes);
  const maxBytes = MAX_NODE_ANSWER_BYTES;
  const http = createHttpClient({ upstream: 'NODE', timeoutMs, maxBytes, keepAlive: false, onRead });
  const node = createNodeClient({ http, urls: [first, ...others], health });
  const watcher = {
    ...createUpstreamLog(log, 'NODE')(),
    disagreed: (chainInfo: number, beaconState: number) =>
      log.warn({ chainInfo, beaconState }, 'the node names two heights, and goes on to after it was asked again'),
  };
  const head = createHeadFollower({ node, pollMs, timeoutMs, now, watcher });
  return { sources: { head, pastStates: createPastStates(node) }, disconnect: http.close };
}

function followMarketData({ config, log, now, metrics }: Part, health: HealthRecord) {
  const { marketDataUrl: baseUrl, marketDataPartner: partner } = config;
  if (baseUrl === undefined) return { sources: absentMarketData(), disconnect: async () => {} };

  const { marketPollMs: pollMs, orderBookTtlMs: ttlMs, upstreamTimeoutMs: timeoutMs } = config;
  const maxBytes = MAX_MARKET_DATA_ANSWER_BYTES;
  const onRead = (bytes: number) => metrics.readUpstream('MARKET_DATA', bytes);
  const http = createHttpClient({ upstream: 'MARKET_DATA', timeoutMs, maxBytes, keepAlive: true, onRead });
  const host = createMarketDataClient({ http, baseUrl, partner, health });
  const watch = createUpstreamLog(log, 'MARKET_DATA');
  const market = createMarketFollower({ host, pollMs, timeoutMs, now, watch });
  const isListed = (tickerId: string) =>
    [market.pairs, market.tickers].some((list) => list.current()?.market.byTickerId.has(tickerId));
  const orderBooks = createOrderBooks({ host, isListed, ttlMs, timeoutMs, now, watcher: watch() });
  return { sources: { market, orderBooks }, disconnect: http.close };
}
