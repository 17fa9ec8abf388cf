import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import type { Instant } from '../domain/instant.ts';
import type { Service } from '../graphql/context.ts';
import { type AddressLimits, mapLimits } from '../graphql/limits.ts';
import { schema } from '../graphql/schema.ts';
import { createHistoryStore } from '../history/store-client.ts';
import { createClosedIntervals } from '../loaders/closed-intervals.ts';
import { createDivergenceRankings } from '../loaders/divergence-ranking.ts';
import { createHistoryCache } from '../loaders/history-cache.ts';
import { createPoolCache, createUsdPrices } from '../loaders/pool-cache.ts';
import type { Sources } from '../loaders/sources.ts';
import type { Log } from '../logging/log.ts';
import type { SandboxHosts } from '../sandbox/sandbox.ts';
import { createGatewayServer } from '../server/gateway-server.ts';
import { createMetrics } from '../server/metrics/metrics.ts';
import { type PersistedDocuments, preparePersistedDocuments } from '../server/operations/persisted-queries.ts';
import { type BuiltExplorer, readExplorer } from '../server/pages/explorer-files.ts';
import { ConfigError } from '../settings/kinds.ts';
import { MAX_INT32 } from '../settings/readers.ts';
import { DEFAULT_BURST_SECONDS } from '../settings/server-settings.ts';
import type { Config } from '../settings/settings.ts';
import { startTracing } from '../tracing/start.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { connectFleet, otherChainProblem } from './fleet.ts';
import { type CreateStore, startRecording } from './history.ts';
import { connectNodes } from './nodes.ts';
import { connectMarketData, connectTokens } from './upstreams.ts';

/** The gateway with its sources. */
export type App = ReturnType<typeof createApp>;

/** What an app is created with. */
type AppOptions = {
  readonly config: Config;
  /** Whether the config points to the built-in sandbox. */
  readonly isSandbox: boolean;
  readonly log: Log;
  readonly now?: () => Instant;
  readonly tracing?: Tracing | undefined;
  /** The persisted documents; by default, they are prepared from the config. */
  readonly documents?: PersistedDocuments;
  /** The explorer; by default, it is off. */
  readonly explorer?: BuiltExplorer;
  /** Creates the store of the history. */
  readonly createStore?: CreateStore;
  /** How long a read of the history may take; five seconds by default. */
  readonly historyTimeoutMs?: number;
};

/**
 * Starts the app of a process or of the library: if no upstream is configured, with the built-in sandbox as both.
 *
 * @throws ConfigError if a persisted document cannot be executed, or if the fleet follows another chain
 */
export async function startApp(config: Config, log: Log) {
  const documents = readDocuments(config);
  const isSandbox = config.fullnodeUrl.length === 0 && config.marketDataUrl === undefined;
  const { sandboxBlockMs: blockMs, sandboxExchange: exchange } = config;
  // The code of the sandbox is loaded only here.
  const sandbox = isSandbox
    ? await (await import('../sandbox/sandbox.ts')).createSandboxHosts({ blockMs, exchange })
    : undefined;
  let app: App | undefined;
  const close = async () => {
    await app?.close();
    await sandbox?.close();
  };
  try {
    if (sandbox) log.warn('the built-in sandbox simulates the node and the market data: no price is real');
    const effective = sandbox ? withSandbox(sandbox, config) : config;
    const tracing = await startTracing({ ...config, version: readVersion(), log });
    const explorer = await readExplorer(config, log);
    app = createApp({ config: effective, isSandbox, log, tracing, documents, explorer });
    const otherChain = await app.otherChain();
    if (otherChain !== undefined) throw new ConfigError([otherChainProblem(config, otherChain)]);
    return {
      ...app,
      /** Whether browsers get the explorer. */
      hasExplorer: typeof explorer !== 'string',
      /** The hosts of its upstreams. */
      upstreams: {
        node: effective.fullnodeUrl.map(({ host }) => host),
        marketData: effective.marketDataUrl?.host,
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The settings with the sandbox as both upstreams, and with its tokens. The configured tokens override them. */
function withSandbox(sandbox: SandboxHosts, config: Config): Config {
  const tokens = sandbox.chain.tokens
    .filter((token) => token.symbol !== undefined)
    .map(({ id, symbol, decimals }) => ({ tokenId: id, symbol, decimals }));
  const [node, push, marketDataUrl] = [
    new URL(sandbox.nodeUrl),
    new URL(sandbox.pushUrl),
    new URL(sandbox.marketDataUrl),
  ];
  return {
    ...config,
    fullnodeUrl: [node],
    fullnodeWsUrl: [push],
    marketDataUrl,
    // It is in this process, where no proxy reaches it.
    noProxy: [...config.noProxy, node.host, push.host, marketDataUrl.host],
    tokensFile: [...tokens, ...config.tokensFile],
  };
}

/** Creates upstream clients, followers, sources and the server. */
export function createApp({
  config,
  isSandbox,
  log,
  now = Date.now,
  tracing,
  documents = readDocuments(config),
  explorer = 'off',
  createStore = createHistoryStore,
  historyTimeoutMs,
}: AppOptions) {
  const version = readVersion();
  const metrics = createMetrics(version, isSandbox);
  const fleet = connectFleet({ config, log, metrics, now });
  const sourceOptions = { config, log, now, metrics, tracing, fleet };
  const nodes = connectNodes(sourceOptions);
  const marketData = connectMarketData(sourceOptions);
  const tokens = connectTokens(sourceOptions);
  const recording = startRecording({
    config,
    isSandbox,
    log,
    createStore,
    readTimeoutMs: historyTimeoutMs,
    sources: nodes.sources,
    fleet,
  });
  nodes.onHead(recording.add);

  const followed = { ...nodes.sources, ...recording.sources, ...marketData.sources, ...tokens.sources };
  const pools = createPoolCache(followed.tokens.status && followed.tokens.current);
  const sources: Sources = {
    ...followed,
    pools,
    usdPrices: createUsdPrices(config.usdTokens, pools),
    divergences: createDivergenceRankings(followed),
    historyCache: createHistoryCache(recording.sources.history, recording.sources.historyQueue),
    closedIntervals: createClosedIntervals(nodes.sources.head),
  };
  const service: Service = {
    version,
    isSandbox,
    limits: { ...mapLimits((name) => config[name]), ...addressLimitsOf(config) },
    sources,
    now,
    configured: { NODE: config.fullnodeUrl.length > 0, MARKET_DATA: config.marketDataUrl !== undefined },
    upstreams: () => [nodes.health(), marketData.health()],
    fleet: fleet?.status,
  };
  const server = createGatewayServer({ ...config, documents, explorer, service, metrics, log, tracing });

  return {
    ...server,
    /** What operations are executed with. */
    service,
    /** The fleet that it is a replica of; `undefined` if it is alone. */
    fleet,
    /** The name of the other chain that its fleet follows, after a few seconds at most; `undefined` if it is the same. */
    otherChain: async () => fleet?.otherChain(nodes.sources.nodes),
    /** Closes the server, then the followers and their connections. */
    async close(): Promise<void> {
      // Another replica records the history from now on.
      fleet?.leave();
      // Before the server closes: a process that is killed before it unsubscribes leaves a leak in the node.
      const unsubscribed = nodes.unsubscribe();
      await server.close();
      for (const follower of [sources.head, sources.market.pairs, sources.market.tickers, sources.tokens])
        follower.stop();
      await Promise.all([recording.close(), tracing?.close(MAX_FLUSH_MS)]);
      const disconnected = [nodes, marketData, tokens].map((upstream) => upstream.disconnect());
      await Promise.all([unsubscribed, ...disconnected]);
      fleet?.disconnect();
    },
  };
}

/** Maximum time to send the last spans. All responses have been sent by then. */
const MAX_FLUSH_MS = 1_000;

/** Prepares the persisted documents. @throws ConfigError with each document that cannot be executed, and its first error */
function readDocuments({ persistedDocuments, ...limits }: Config): PersistedDocuments {
  if (persistedDocuments === undefined) return new Map();
  const { documents, problems } = preparePersistedDocuments(persistedDocuments, { schema, limits });
  if (problems.length > 0) throw new ConfigError(problems);
  return documents;
}

/** The version in package.json. */
export function readVersion(): string {
  const path = findPackageJSON(import.meta.url) ?? '';
  return JSON.parse(readFileSync(path, 'utf8')).version;
}

/** The limits of client addresses. */
function addressLimitsOf({ rateLimitPerSecond, rateLimitBurst, maxConnectionsPerAddress }: Config): AddressLimits {
  const rate = rateLimitPerSecond && {
    pointsPerSecond: rateLimitPerSecond,
    burst: rateLimitBurst ?? Math.min(DEFAULT_BURST_SECONDS * rateLimitPerSecond, MAX_INT32),
  };
  return { rate: rate || undefined, maxConnectionsPerAddress };
}
