import type { Instant } from '../domain/instant.ts';
import { KNOWN_TOKENS } from '../domain/token.ts';
import { type AnyUpstream, type Upstream, UpstreamBusyError } from '../errors.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { startBookSweep } from '../live/market/book-sweep.ts';
import { createMarketFollower } from '../live/market/market-follower.ts';
import { createOrderBooks } from '../live/market/order-books.ts';
import { marketDataNotConfigured } from '../live/not-configured.ts';
import { fixedTokens, followTokens } from '../live/tokens.ts';
import type { Log } from '../logging/log.ts';
import { createTokenLog, createUnreadableLog, createUpstreamLog } from '../logging/upstream-log.ts';
import type { Metrics } from '../server/metrics/metrics.ts';
import { redactorOf } from '../settings/secrets.ts';
import type { Config } from '../settings/settings.ts';
import { RESERVED_CONNECTIONS } from '../settings/upstream-settings.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { type Bulkhead, createBulkhead } from '../turns/bulkhead.ts';
import { type Circuit, createCircuit } from '../upstream/circuit.ts';
import { createHealthRecord, type HealthRecord } from '../upstream/health.ts';
import { createHttpClient, type HttpClient, type HttpClientOptions } from '../upstream/http.ts';
import { createMarketDataClient } from '../upstream/market-data/client.ts';
import { createTokenService } from '../upstream/token-service.ts';

/** What the sources of all upstreams are created with. */
export type SourceOptions = {
  readonly config: Config;
  readonly log: Log;
  readonly now: () => Instant;
  readonly metrics: Metrics;
  readonly tracing?: Tracing | undefined;
  /** The fleet that the gateway is a replica of. */
  readonly fleet?: Fleet | undefined;
};

/** Of the market-data host and of the token service. */
const MAX_LIST_BYTES = 32 * 2 ** 20;

/** Starts to follow the configured market-data host. If none is configured, each read fails. */
export function connectMarketData(options: SourceOptions) {
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
  const followed = { host, timeoutMs, now, watch, tracing };
  const market = createMarketFollower({ ...followed, pollMs, maxAgeMs, fleetPolls: fleet?.market });
  function isListed(tickerId: string): boolean | undefined {
    const found = [market.pairs, market.tickers].map((list) => list.newest()?.market.byTickerId.has(tickerId));
    return found.includes(true) || (found.includes(undefined) ? undefined : false);
  }
  const bulkhead = bulkheadOf(options, 'MARKET_DATA', roomForClients(config));
  const orderBooks = createOrderBooks({ ...followed, bulkhead, isListed, ttlMs, readOnce: fleet?.orderBooks });
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

/** The sources of an upstream that is not configured. */
export function notConfigured<Own>(sources: Own, health: HealthRecord) {
  return { sources, health: health.read, disconnect: async () => {} };
}

/** Creates the health record of a host, which counts and logs its calls. */
export function healthOf<Name extends AnyUpstream>(
  { now, metrics, log }: SourceOptions,
  upstream: Name,
  host: string,
): HealthRecord<Name> {
  const isLogged = log.isLevelEnabled('debug');
  return createHealthRecord(upstream, now, (call) => {
    metrics.recordUpstreamCall(call, host);
    const { method, outcome, seconds } = call;
    if (isLogged)
      log.debug({ upstream, host, method, outcome, ms: Math.round(seconds * 10_000) / 10 }, 'upstream call');
  });
}

/** Starts to follow the token service, if there is one. */
export function connectTokens(options: SourceOptions) {
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

/** Creates the HTTP client of an upstream. */
export function httpOf({ config, metrics, log, tracing }: SourceOptions, host: HostOptions): HttpClient {
  return createHttpClient({
    ...host,
    timeoutMs: config.upstreamTimeoutMs,
    maxConnections: config.upstreamMaxConnections,
    redact: redactorOf(config),
    proxies: config,
    tracing,
    onRead(bytes) {
      metrics.bytesRead.inc({ upstream: host.upstream }, bytes);
      log.trace({ upstream: host.upstream, bytes }, 'upstream response read');
    },
  });
}

/** Creates the circuit of a host. */
export function circuitOf({ config, metrics, log, fleet }: SourceOptions, upstream: Upstream, host: string): Circuit {
  metrics.circuitOpen.set({ upstream, host }, 0);
  const onChange = (isOpen: boolean) => {
    metrics.circuitOpen.set({ upstream, host }, Number(isOpen));
    log.debug({ upstream, host }, isOpen ? 'circuit open: the gateway pauses requests to the host' : 'circuit closed');
  };
  const isPolled = () => fleet?.status().isConnected !== true;
  return createCircuit({ maxPauseMs: config.upstreamMaxPauseMs, isPolled, onChange });
}

/** How many connections to an upstream the calls that clients cause can use. */
export const roomForClients = (config: Config) => config.upstreamMaxConnections - RESERVED_CONNECTIONS;

/** Creates a bulkhead of calls that clients cause. */
export function bulkheadOf({ config }: SourceOptions, upstream: Upstream, maxConcurrent: number): Bulkhead {
  return createBulkhead({
    busy: () => new UpstreamBusyError(upstream),
    maxConcurrent,
    maxQueued: config.upstreamMaxWaiting,
    maxWaitMs: config.upstreamTimeoutMs / 2,
  });
}
