import { readFileSync } from 'node:fs';
import type { Instant } from './domain/instant.ts';
import { KNOWN_TOKENS, toTokenList } from './domain/token.ts';
import type { Upstream } from './errors.ts';
import type { Service } from './graphql/context.ts';
import { type AddressLimits, mapLimits } from './graphql/limits.ts';
import { schema } from './graphql/schema.ts';
import { createPoolCache } from './loaders/pool-cache.ts';
import type { Sources } from './loaders/sources.ts';
import type { Log } from './log.ts';
import { startTracing } from './opentelemetry/start.ts';
import { createSandbox, type Sandbox } from './sandbox/sandbox.ts';
import { createGatewayServer, type GatewayServer } from './server/gateway-server.ts';
import { createMetrics } from './server/metrics/metrics.ts';
import { type PersistedDocuments, preparePersistedDocuments } from './server/operations/persisted-documents.ts';
import { ConfigError } from './settings/config-error.ts';
import { MAX_INT32 } from './settings/readers.ts';
import { type Config, DEFAULT_BURST_SECONDS } from './settings/settings.ts';
import type { Tracing } from './tracing.ts';
import { connectMarketData, connectNodes } from './upstreams.ts';

/** The gateway with its sources. */
export type App = GatewayServer & {
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
  readonly tracing?: Tracing | undefined;
  /** The persisted documents; by default, they are prepared from the config. */
  readonly documents?: PersistedDocuments;
};

/** An app that is started, and the hosts of its upstreams. */
export type StartedApp = App & {
  readonly upstreams: { readonly node: readonly string[]; readonly marketData: string | undefined };
};

/**
 * Starts the app of a process or of the library: if no upstream is configured, with the built-in sandbox as both.
 *
 * @throws ConfigError if a persisted document cannot be executed
 */
export async function startApp(config: Config, log: Log): Promise<StartedApp> {
  const documents = readDocuments(config);
  const isSandbox = config.fullnodeUrls.length === 0 && config.marketDataUrl === undefined;
  const sandbox = isSandbox ? await createSandbox({ blockMs: config.sandboxBlockMs }) : undefined;
  if (sandbox) log.warn('the built-in sandbox simulates the node and the market data: no price is real');

  const effective = sandbox ? withSandbox(sandbox, config) : config;
  const tracing = await startTracing({ ...config, version: readVersion(), log });
  const app = createApp({ config: effective, isSandbox, log, tracing, documents });
  return {
    ...app,
    upstreams: {
      node: effective.fullnodeUrls.map(({ host }) => host),
      marketData: effective.marketDataUrl?.host,
    },
    async close() {
      await app.close();
      await sandbox?.close();
    },
  };
}

/** The settings with the sandbox as both upstreams, and with its tokens. The configured tokens override them. */
function withSandbox(sandbox: Sandbox, config: Config): Config {
  const tokens = sandbox.chain.tokens
    .filter((token) => token.symbol !== undefined)
    .map(({ id, symbol, decimals }) => ({ tokenId: id, symbol, decimals }));
  return {
    ...config,
    fullnodeUrls: [new URL(sandbox.nodeUrl)],
    marketDataUrl: new URL(sandbox.marketDataUrl),
    tokens: [...tokens, ...config.tokens],
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
}: AppOptions): App {
  const version = readVersion();
  const metrics = createMetrics(version, isSandbox);
  const sourceOptions = { config, log, now, metrics, tracing };
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
  const server = createGatewayServer({ ...config, documents, service, metrics, log, tracing });

  return {
    ...server,
    service,
    async close() {
      await server.close();
      for (const follower of [sources.head, sources.market.pairs, sources.market.tickers]) follower.stop();
      await Promise.all([nodes.disconnect(), marketData.disconnect(), tracing?.close(MAX_FLUSH_MS)]);
    },
  };
}

/** Maximum time to send the last spans. Requests have been answered by then. */
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
