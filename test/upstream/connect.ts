import { onTestFinished } from 'vitest';
import type { Upstream } from '../../src/errors.ts';
import { createNodes, type Nodes } from '../../src/live/chain/nodes.ts';
import { createPoolCounts, type PoolCounts } from '../../src/live/chain/pool-counts.ts';
import type { ResponseReader } from '../../src/upstream/body.ts';
import { type Bulkhead, createBulkhead } from '../../src/upstream/bulkhead.ts';
import { type Circuit, createCircuit } from '../../src/upstream/circuit.ts';
import type { Requester } from '../../src/upstream/fair-queue.ts';
import { createHealthRecord, type HealthRecord } from '../../src/upstream/health.ts';
import { createHttpClient, type HttpClient, type HttpClientOptions } from '../../src/upstream/http.ts';
import { createMarketDataClient, type MarketDataClient } from '../../src/upstream/market-data/client.ts';
import { createNodeClient, type NodeClient } from '../../src/upstream/node/client.ts';
import { createStateReader } from '../../src/upstream/node/state-reader.ts';
import { createSpacing } from '../../src/upstream/spacing.ts';

/** A transport that has time and room for everything, or as it is said; it goes with the test. */
export function httpForTest(upstream: Upstream, options: Partial<HttpClientOptions> = {}): HttpClient {
  const keepAlive = upstream === 'MARKET_DATA';
  const patient = { timeoutMs: 10_000, maxBytes: 2 ** 22, keepAlive, maxConnections: 16 };
  const http = createHttpClient({ upstream, ...patient, ...options });
  onTestFinished(http.close);
  return http;
}

/** Reads an answer as the text that it is. */
export function textReader(): ResponseReader<string> {
  const chunks: Buffer[] = [];
  return { write: (chunk) => void chunks.push(Buffer.from(chunk)), end: () => Buffer.concat(chunks).toString() };
}

/** A circuit whose pauses are too short to be noticed. */
export function hardyCircuit(): Circuit {
  return createCircuit({ maxPauseMs: 0.001 });
}

/** A client of the node at that address. */
export function nodeAt(
  url: URL | string,
  options: Partial<HttpClientOptions> = {},
): { client: NodeClient; health: HealthRecord } {
  const http = httpForTest('NODE', options);
  const health = createHealthRecord('NODE', () => 100);
  const stateReader = createStateReader();
  const circuit = hardyCircuit();
  const spacing = createSpacing({ firstMs: 1 });
  return {
    client: createNodeClient({
      name: new URL(url).host,
      http,
      url: new URL(url),
      health,
      circuit,
      spacing,
      stateReader,
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
  return { client: createMarketDataClient({ http, baseUrl, partner, health, circuit: hardyCircuit() }), health };
}

/** Makes watchers that ignore what they are told. */
export const UNWATCHED = () => ({ failed() {}, recovered() {} });

/** These nodes, of which each is waited for. */
export function nodesOf(...clients: [NodeClient, ...NodeClient[]]): Nodes {
  return createNodes({ clients, timeoutMs: 5_000, graceMs: 1_000, watch: UNWATCHED });
}

/** Whoever asks, where that makes no difference. */
export const SOMEONE: Requester = { client: 'someone' };

/** Turns for as much as a test asks at once. */
export function turnsFor(upstream: Upstream): Bulkhead {
  return createBulkhead(upstream, { atOnce: 100, waiting: 0, waitMs: 10_000 });
}

/** Counts of pools whose losses nobody is notified of. */
export function uncounted(): PoolCounts {
  return createPoolCounts(() => {});
}
