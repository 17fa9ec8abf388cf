import { onTestFinished } from 'vitest';
import { type Upstream, UpstreamBusyError, UpstreamRpcError } from '../../src/errors.ts';
import { createExchangeVersions, type ExchangeVersions } from '../../src/live/chain/exchange-versions.ts';
import type { NodeWatcher } from '../../src/live/chain/node.ts';
import { createNodes, type Nodes, type NodesOptions } from '../../src/live/chain/nodes.ts';
import { createPoolCounts, type PoolCounts } from '../../src/live/chain/pool-counts.ts';
import { type Bulkhead, createBulkhead } from '../../src/turns/bulkhead.ts';
import type { Requester } from '../../src/turns/fair-queue.ts';
import { type Circuit, createCircuit } from '../../src/upstream/circuit.ts';
import { createHealthRecord, type HealthRecord } from '../../src/upstream/health.ts';
import { createHttpClient, type HttpClient, type HttpClientOptions } from '../../src/upstream/http.ts';
import { createMarketDataClient, type MarketDataClient } from '../../src/upstream/market-data/client.ts';
import { createNodeClient, type NodeClient } from '../../src/upstream/node/client.ts';
import { createPoolDirectories } from '../../src/upstream/node/pools-reader.ts';
import { createPoolsV3Reader } from '../../src/upstream/node/pools-v3.ts';
import type { ResponseReader } from '../../src/upstream/response-body.ts';
import { createSpacing } from '../../src/upstream/spacing.ts';

/** An HTTP client with time and room for everything, or as the options say. It is closed after the test. */
export function httpForTest(upstream: Upstream, options: Partial<HttpClientOptions> = {}): HttpClient {
  const keepAlive = upstream === 'MARKET_DATA';
  const patient = { timeoutMs: 10_000, maxBytes: 2 ** 22, keepAlive, maxConnections: 16 };
  const http = createHttpClient({ upstream, ...patient, ...options });
  onTestFinished(http.close);
  return http;
}

/** Reads a response as text. */
export function textReader(): ResponseReader<string> {
  const chunks: Buffer[] = [];
  return { write: (chunk) => void chunks.push(Buffer.from(chunk)), end: () => Buffer.concat(chunks).toString() };
}

/** A circuit whose pauses are too short to be noticed. */
export function circuitForTest(): Circuit {
  return createCircuit({ maxPauseMs: 0.001 });
}

/** A client of the node at that address. */
export function nodeAt(
  url: URL | string,
  options: Partial<HttpClientOptions> = {},
): { client: NodeClient; health: HealthRecord } {
  const http = httpForTest('NODE', options);
  const health = createHealthRecord('NODE', () => 100);
  const directories = createPoolDirectories();
  const poolsV3Reader = createPoolsV3Reader(directories);
  const circuit = circuitForTest();
  const spacing = createSpacing(1);
  return {
    client: createNodeClient({
      name: new URL(url).host,
      http,
      url: new URL(url),
      health,
      circuit,
      spacing,
      directories,
      poolsV3Reader,
    }),
    health,
  };
}

/** A client of the market-data host at that address. */
export function marketDataAt(
  url: URL | string,
  { partner = 'market-data', ...options }: Partial<HttpClientOptions> & { readonly partner?: string } = {},
): { client: MarketDataClient; health: HealthRecord } {
  const http = httpForTest('MARKET_DATA', options);
  const health = createHealthRecord('MARKET_DATA', () => 100);
  const baseUrl = new URL(url);
  return { client: createMarketDataClient({ http, baseUrl, partner, health, circuit: circuitForTest() }), health };
}

/** Creates watchers of nodes that ignore everything. */
export const UNWATCHED = (): NodeWatcher => ({
  failed() {},
  recovered() {},
  pastStates: { failed() {}, recovered() {} },
});

/** The versions of an exchange of which only the first is read. */
export function onlyV1(): ExchangeVersions {
  return createExchangeVersions({ fixed: 'V1', probeMs: 60_000, onChange() {} });
}

/** What a node without the third version of the exchange responds. */
export const WITHOUT_V3: Pick<
  NodeClient,
  'newestPoolsV3' | 'earlierPoolsV3' | 'newestParamsV3' | 'earlierParamsV3' | 'probeV3' | 'poolOrders' | 'beaconBlock'
> = {
  newestPoolsV3: unknownMethod,
  earlierPoolsV3: unknownMethod,
  newestParamsV3: unknownMethod,
  earlierParamsV3: unknownMethod,
  probeV3: unknownMethod,
  poolOrders: unknownMethod,
  beaconBlock: unknownMethod,
};

async function unknownMethod(): Promise<never> {
  throw new UpstreamRpcError(-1002, {});
}

/** These nodes, with time to respond and pauses too short to be noticed, or as the options say. */
export function nodesOf(clients: NodesOptions['clients'], options: Partial<NodesOptions> = {}): Nodes {
  return createNodes({
    clients,
    versions: onlyV1(),
    timeoutMs: 5_000,
    graceMs: 1_000,
    maxPauseMs: 1,
    watch: UNWATCHED,
    ...options,
  });
}

/** Any requester, if it makes no difference which. */
export const SOMEONE: Requester = { client: 'someone' };

/** A bulkhead with room for all calls of a test at once. */
export function roomyBulkhead(upstream: Upstream): Bulkhead {
  return createBulkhead({
    busy: () => new UpstreamBusyError(upstream),
    maxConcurrent: 100,
    maxQueued: 0,
    maxWaitMs: 10_000,
  });
}

/** Counts of pools whose losses nobody is notified of. */
export function uncounted(): PoolCounts {
  return createPoolCounts(() => {});
}
