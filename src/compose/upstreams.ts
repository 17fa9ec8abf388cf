import type { Instant } from '../domain/instant.ts';
import { KNOWN_TOKENS } from '../domain/token.ts';
import type { AnyUpstream, Upstream } from '../errors.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { createExchangeVersions } from '../live/chain/exchange-versions.ts';
import type { Head } from '../live/chain/head.ts';
import { createHeadFollower } from '../live/chain/head-follower.ts';
import { createNodes, type Nodes } from '../live/chain/nodes.ts';
import { createPastStates } from '../live/chain/past-states.ts';
import { createPoolCounts } from '../live/chain/pool-counts.ts';
import { createPoolOrders } from '../live/chain/pool-orders.ts';
import { createRecentHeads } from '../live/chain/recent-heads.ts';
import { startBookSweep } from '../live/market/book-sweep.ts';
import { createMarketFollower } from '../live/market/lists.ts';
import { createOrderBooks } from '../live/market/order-books.ts';
import { marketDataNotConfigured, nodesNotConfigured } from '../live/not-configured.ts';
import { fixedTokens, followTokens } from '../live/tokens.ts';
import type { Sources } from '../loaders/sources.ts';
import type { Log } from '../logging/log.ts';
import {
  createCallLog,
  createHeadLog,
  createLostPoolsLog,
  createNodeLog,
  createPushLog,
  createTokenLog,
  createUnreadableLog,
  createUpstreamLog,
  createVersionLog,
} from '../logging/upstream-log.ts';
import type { Metrics } from '../server/metrics/metrics.ts';
import { redactorOf } from '../settings/secrets.ts';
import type { Config } from '../settings/settings.ts';
import { RESERVED_CONNECTIONS } from '../settings/upstream-settings.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { type Bulkhead, createBulkhead } from '../upstream/bulkhead.ts';
import { type Circuit, createCircuit } from '../upstream/circuit.ts';
import { createHealthRecord, type HealthRecord, healthOfAll, type UpstreamHealth } from '../upstream/health.ts';
import { createHttpClient, type HttpClient, type HttpClientOptions } from '../upstream/http.ts';
import { createMarketDataClient } from '../upstream/market-data/client.ts';
import { type BlockPush, createBlockPush } from '../upstream/node/block-push.ts';
import { createNodeClient } from '../upstream/node/client.ts';
import { createPoolsV3Reader } from '../upstream/node/exchange-v3.ts';
import { createPoolDirectories } from '../upstream/node/state-builder.ts';
import { createStateReader } from '../upstream/node/state-reader.ts';
import { createSpacing } from '../upstream/spacing.ts';
import { createTokenService } from '../upstream/token-service.ts';

type SourceOptions = {
  readonly config: Config;
  readonly log: Log;
  readonly now: () => Instant;
  readonly metrics: Metrics;
  readonly tracing?: Tracing | undefined;
  /** The fleet that the gateway is a replica of. */
  readonly fleet?: Fleet | undefined;
};

/** The sources of an upstream. If it is not configured, each read fails. */
type ConnectedUpstream<Name extends keyof Sources> = {
  readonly sources: Pick<Sources, Name>;
  health(): UpstreamHealth;
  disconnect(): Promise<void>;
};

/** A state of the main network has 30 MB; this leaves room to grow. */
const MAX_STATE_BYTES = 128 * 2 ** 20;

/** Of the market-data host and of the token service. */
const MAX_LIST_BYTES = 32 * 2 ** 20;

/** The time between two calls to a node after it has first rejected one with status 429. */
const FIRST_SPACE_MS = 250;

/** The settings of the version. */
const FIXED_VERSIONS = { auto: undefined, v1: 'V1', v3: 'V3' } as const;

/** The nodes, which may have websockets. */
type ConnectedNodes = ConnectedUpstream<'head' | 'nodes' | 'pastStates' | 'poolOrders' | 'pushes'> & {
  /** The fleet polls the nodes; loaders only read their health. */
  readonly sources: { readonly nodes: Pick<Nodes, 'all' | 'poll'> };
  /** Calls a function with each head that is published from now on. */
  onHead(listener: (head: Head) => void): void;
  /** Ends the subscriptions to new blocks, and closes the websockets. */
  unsubscribe(): Promise<void>;
};

/** Starts to follow the chain of the configured nodes. */
export function connectNodes(options: SourceOptions): ConnectedNodes {
  const { config, log, now, tracing, fleet } = options;
  const { fullnodeUrl, headPollMs: pollMs, upstreamTimeoutMs: timeoutMs } = config;
  const headers = config.fullnodeHeaders;
  const http = httpOf(options, { upstream: 'NODE', maxBytes: MAX_STATE_BYTES, keepAlive: false, headers });
  const directories = createPoolDirectories();
  const stateReader = createStateReader(directories);
  const poolsV3Reader = createPoolsV3Reader(directories);
  const [first, ...others] = fullnodeUrl.map((url, n) => {
    const name = nameOf(url, fullnodeUrl.slice(0, n));
    const health = healthOf(options, 'NODE', name);
    const circuit = circuitOf(options, 'NODE', name);
    const spacing = createSpacing(Math.min(FIRST_SPACE_MS, config.upstreamMaxPauseMs));
    return createNodeClient({ name, http, url, health, circuit, spacing, stateReader, poolsV3Reader });
  });
  if (first === undefined) {
    const none = notConfigured(nodesNotConfigured(), healthOf(options, 'NODE', 'none'));
    return { ...none, onHead() {}, unsubscribe: async () => {} };
  }

  const versions = createExchangeVersions({
    fixed: FIXED_VERSIONS[config.exchangeVersion],
    probeMs: config.exchangeProbeMs,
    onChange: createVersionLog(log),
  });
  const nodes = createNodes({
    clients: [first, ...others],
    versions,
    timeoutMs,
    graceMs: pollMs / 2,
    maxPauseMs: config.upstreamMaxPauseMs,
    watch: createNodeLog(log, fullnodeUrl.length),
  });
  const poolCounts = createPoolCounts(createLostPoolsLog(log));
  const together = fleet?.chain({ nodes, directoryOf: directories.of });
  const recent = createRecentHeads(config.maxResumedHeights);
  const bulkhead = bulkheadOf(options, 'NODE');
  const pastStates = createPastStates({
    nodes,
    versions,
    bulkhead,
    poolCounts,
    served: recent.all,
    readOnce: together?.states,
  });
  const poolOrders = createPoolOrders({ nodes, bulkhead });
  const headListeners: ((head: Head) => void)[] = [];
  const head = createHeadFollower({
    nodes,
    versions,
    poolCounts,
    pollMs,
    timeoutMs,
    maxBlockAgeMs: config.maxBlockAgeMs,
    recent,
    now,
    watcher: createHeadLog(log, (head) => {
      for (const listener of headListeners) listener(head);
    }),
    fleetPoll: together?.heads(pastStates),
    tracing,
  });
  const pushes: readonly BlockPush[] = config.fullnodeWsUrl.flatMap((url, n) => {
    const name = nodes.all[n]?.name;
    if (url === undefined || name === undefined) return [];
    const { received: onBlock, changed: onChange } = head.push;
    const watcher = createPushLog(log, name);
    return [createBlockPush({ name, url, headers, proxies: config, timeoutMs, onBlock, onChange, watcher })];
  });
  return {
    sources: { head, nodes, pastStates, poolOrders, pushes },
    health: () => healthOfAll(nodes.status().map(({ health }) => health)),
    onHead: (listener) => void headListeners.push(listener),
    async unsubscribe() {
      await Promise.all(pushes.map((push) => push.close()));
    },
    disconnect: http.close,
  };
}

/** Starts to follow the configured market-data host. */
export function connectMarketData(options: SourceOptions): ConnectedUpstream<'market' | 'orderBooks'> {
  const { config, log, now, tracing, fleet } = options;
  const { marketDataUrl: baseUrl, marketDataPartner: partner, upstreamTimeoutMs: timeoutMs } = config;
  const health = healthOf(options, 'MARKET_DATA', baseUrl?.host ?? 'none');
  if (baseUrl === undefined) return notConfigured(marketDataNotConfigured(), health);

  const { marketPollMs: pollMs, marketMaxAgeMs: maxAgeMs, orderBookTtlMs: ttlMs } = config;
  const headers = config.marketDataHeaders;
  const http = httpOf(options, { upstream: 'MARKET_DATA', maxBytes: MAX_LIST_BYTES, keepAlive: true, headers });
  const circuit = circuitOf(options, 'MARKET_DATA', baseUrl.host);
  const report = createUnreadableLog(log, now);
  const host = createMarketDataClient({ http, baseUrl, partner, health, circuit, report });
  const watch = createUpstreamLog(log, 'MARKET_DATA');
  const market = createMarketFollower({
    host,
    pollMs,
    timeoutMs,
    maxAgeMs,
    now,
    watch,
    tracing,
    fleetPolls: fleet?.market,
  });
  const isListed = (tickerId: string) =>
    [market.pairs, market.tickers].some((list) => list.newest()?.market.byTickerId.has(tickerId));
  const bulkhead = bulkheadOf(options, 'MARKET_DATA');
  const readOnce = fleet?.orderBooks;
  const orderBooks = createOrderBooks({ host, bulkhead, isListed, ttlMs, timeoutMs, now, watch, tracing, readOnce });
  const { bookSweepPerMinute: perMinute } = config;
  const sweep = { orderBooks, tickers: market.tickers, isBusy: bulkhead.isBusy, perMinute, now };
  // Only the tickers of the REST API show the prices of books that no client requests.
  const stopSweep = config.rest && perMinute > 0 ? startBookSweep(sweep) : () => {};
  return {
    sources: { market, orderBooks },
    health: health.read,
    disconnect() {
      stopSweep();
      return http.close();
    },
  };
}

function notConfigured<Own>(sources: Own, health: HealthRecord) {
  return { sources, health: health.read, disconnect: async () => {} };
}

/** The host of a URL, with a number if several URLs have the same. The path can have a key, so it is left out. */
function nameOf({ host }: URL, before: readonly URL[]): string {
  const same = before.filter((url) => url.host === host).length;
  return same === 0 ? host : `${host} (${same + 1})`;
}

function healthOf<Name extends AnyUpstream>(
  { now, metrics, log }: SourceOptions,
  upstream: Name,
  host: string,
): HealthRecord<Name> {
  const logCall = createCallLog(log, host);
  return createHealthRecord(upstream, now, (call) => {
    metrics.recordUpstreamCall(call, host);
    logCall?.(call);
  });
}

/** Starts to follow the token service, if there is one. */
export function connectTokens(options: SourceOptions): Omit<ConnectedUpstream<'tokens'>, 'health'> {
  const { config, log, now, tracing } = options;
  const { tokensUrl: url, tokensPollMs: pollMs, upstreamTimeoutMs: timeoutMs, tokensFile: configured } = config;
  const known = [...KNOWN_TOKENS.values()];
  if (url === undefined)
    return { sources: { tokens: fixedTokens([...known, ...configured]) }, disconnect: async () => {} };

  const http = httpOf(options, { upstream: 'TOKENS', maxBytes: MAX_LIST_BYTES, keepAlive: false });
  const host = createTokenService({ http, url, health: healthOf(options, 'TOKENS', url.host) });
  const watcher = createTokenLog(log);
  const tokens = followTokens({ host, known, configured, pollMs, timeoutMs, now, watcher, tracing });
  return { sources: { tokens }, disconnect: http.close };
}

type HostOptions = Pick<HttpClientOptions, 'upstream' | 'maxBytes' | 'keepAlive' | 'headers'>;

function httpOf({ config, metrics, log, tracing }: SourceOptions, host: HostOptions): HttpClient {
  return createHttpClient({
    ...host,
    timeoutMs: config.upstreamTimeoutMs,
    maxConnections: config.upstreamMaxConnections,
    redact: redactorOf(config),
    proxies: config,
    tracing,
    onRead(bytes) {
      metrics.recordUpstreamBytes(host.upstream, bytes);
      log.trace({ upstream: host.upstream, bytes }, 'upstream response read');
    },
  });
}

function circuitOf({ config, metrics, log, fleet }: SourceOptions, upstream: Upstream, host: string): Circuit {
  metrics.setCircuitOpen(upstream, host, false);
  const onChange = (isOpen: boolean) => {
    metrics.setCircuitOpen(upstream, host, isOpen);
    log.debug({ upstream, host }, isOpen ? 'circuit open: the gateway pauses requests to the host' : 'circuit closed');
  };
  const isPolled = () => fleet?.status().isConnected !== true;
  return createCircuit({ maxPauseMs: config.upstreamMaxPauseMs, isPolled, onChange });
}

function bulkheadOf({ config }: SourceOptions, upstream: Upstream): Bulkhead {
  return createBulkhead(upstream, {
    maxConcurrent: config.upstreamMaxConnections - RESERVED_CONNECTIONS,
    maxQueued: config.upstreamMaxWaiting,
    maxWaitMs: config.upstreamTimeoutMs / 2,
  });
}
