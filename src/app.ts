import { readFileSync } from 'node:fs';
import type { Config } from './config.ts';
import type { Instant } from './domain/instant.ts';
import { KNOWN_TOKENS, toTokenList } from './domain/token.ts';
import type { Upstream } from './errors.ts';
import type { Service } from './graphql/context.ts';
import { DEFAULT_LIMITS } from './graphql/limits.ts';
import { absentMarketData, absentNode } from './live/absent.ts';
import type { Watcher } from './live/follower.ts';
import { createHeadFollower } from './live/head.ts';
import { createMarketFollower } from './live/market.ts';
import { createOrderBooks } from './live/order-books.ts';
import { createPastStates } from './live/past-states.ts';
import type { Sources } from './loaders/sources.ts';
import { describeError, type Log } from './log.ts';
import { createGateway, type Gateway } from './server/gateway.ts';
import { createHealthRecord, type HealthRecord } from './upstream/health.ts';
import { createHttpClient } from './upstream/http.ts';
import { createMarketDataClient } from './upstream/market-data/client.ts';
import { createNodeClient } from './upstream/node/client.ts';

/** The gateway with all that it follows. */
export type App = Gateway & {
  /** What its answers are made from. */
  readonly service: Service;
  /** Stops following, closes the doors. */
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
  const part: Part = { config, log, now };
  const nodeHealth = createHealthRecord('NODE', now);
  const marketDataHealth = createHealthRecord('MARKET_DATA', now);
  const node = followNode(part, nodeHealth);
  const marketData = followMarketData(part, marketDataHealth);

  const sources: Sources = {
    ...node.sources,
    ...marketData.sources,
    tokens: toTokenList([...KNOWN_TOKENS.values(), ...config.tokens]),
  };
  const service: Service = {
    version: readVersion(),
    isSandbox,
    limits: DEFAULT_LIMITS,
    sources,
    now,
    upstreams: () => [nodeHealth.read(), marketDataHealth.read()],
  };
  const gateway = createGateway(service, log);

  return {
    ...gateway,
    service,
    async close() {
      for (const follower of [sources.head, sources.market.pairs, sources.market.tickers]) follower.stop();
      await gateway.close();
      await Promise.all([node.disconnect(), marketData.disconnect()]);
    },
  };
}

/** The version that package.json gives. */
export function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}

type Part = { readonly config: Config; readonly log: Log; readonly now: () => Instant };

function followNode({ config, log, now }: Part, health: HealthRecord) {
  const [first, ...others] = config.fullnodeUrls;
  if (first === undefined) return { sources: absentNode(), disconnect: async () => {} };

  const { headPollMs: pollMs, upstreamTimeoutMs: timeoutMs } = config;
  const http = createHttpClient({ upstream: 'NODE', timeoutMs, maxBytes: MAX_NODE_ANSWER_BYTES, keepAlive: false });
  const node = createNodeClient({ http, urls: [first, ...others], health });
  const watcher = {
    ...logged(log, 'NODE'),
    disagreed: (chainInfo: number, beaconState: number) =>
      log.warn({ chainInfo, beaconState }, 'the node names two heights, and goes on to after it was asked again'),
  };
  const head = createHeadFollower({ node, pollMs, timeoutMs, now, watcher });
  return { sources: { head, pastStates: createPastStates(node) }, disconnect: http.close };
}

function followMarketData({ config, log, now }: Part, health: HealthRecord) {
  const { marketDataUrl: baseUrl, marketDataPartner: partner } = config;
  if (baseUrl === undefined) return { sources: absentMarketData(), disconnect: async () => {} };

  const { marketPollMs: pollMs, orderBookTtlMs: ttlMs, upstreamTimeoutMs: timeoutMs } = config;
  const maxBytes = MAX_MARKET_DATA_ANSWER_BYTES;
  const http = createHttpClient({ upstream: 'MARKET_DATA', timeoutMs, maxBytes, keepAlive: true });
  const host = createMarketDataClient({ http, baseUrl, partner, health });
  const watcher = logged(log, 'MARKET_DATA');
  const market = createMarketFollower({ host, pollMs, timeoutMs, now, watcher });
  const isListed = (tickerId: string) =>
    [market.pairs, market.tickers].some((list) => list.current()?.market.byTickerId.has(tickerId));
  const orderBooks = createOrderBooks({ host, isListed, ttlMs, timeoutMs, now, watcher });
  return { sources: { market, orderBooks }, disconnect: http.close };
}

function logged(log: Log, upstream: Upstream): Watcher {
  return {
    failed: (error) => log.warn({ upstream, ...describeError(error) }, 'an upstream cannot be read'),
    recovered: () => log.info({ upstream }, 'an upstream can be read again'),
  };
}
