import type { Pair, Ticker } from '../../domain/market.ts';
import type { RawOrderBook } from '../../domain/order-book.ts';
import { UpstreamBadStatusError } from '../../errors.ts';
import type { Circuit } from '../circuit.ts';
import { createDocumentReader } from '../decode.ts';
import type { HealthRecord } from '../health.ts';
import type { HttpClient } from '../http.ts';
import { type Rows, readOrderBook, readPairs, readTickers } from './decode.ts';

/** The three reads of a market-data host. Each throws an UpstreamError where it fails. */
export type MarketDataClient = {
  pairs(): Promise<Rows<Pair>>;
  tickers(): Promise<Rows<Ticker>>;
  /** `undefined` where the host says that it has no book of that name. */
  orderBook(tickerId: string): Promise<RawOrderBook | undefined>;
};

/** What a market-data client is made of. */
export type MarketDataClientOptions = {
  readonly http: HttpClient;
  readonly baseUrl: URL;
  /** The path segment that names the integrating partner. */
  readonly partner: string;
  readonly health: HealthRecord;
  readonly circuit: Circuit;
};

/** A row has about half a kilobyte, so this is 60,000 of them. */
const MAX_DOCUMENT_BYTES = 32 * 2 ** 20;

/** Makes a client of a market-data host. */
export function createMarketDataClient(options: MarketDataClientOptions): MarketDataClient {
  const { http, baseUrl, partner, health, circuit } = options;

  function address(endpoint: string): URL {
    const url = new URL(baseUrl);
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/api/v1/public/${encodeURIComponent(partner)}/${endpoint}`;
    return url;
  }

  /** A call of those that follow the market. */
  function follow<T>(method: string, ask: () => Promise<T>): Promise<T> {
    return circuit.run(() => health.watch(method, ask()));
  }

  function get<T>(url: URL, read: (document: unknown) => T): Promise<T> {
    return http.request({ url }, createDocumentReader(MAX_DOCUMENT_BYTES, read));
  }

  async function orderBook(tickerId: string): Promise<RawOrderBook | undefined> {
    const url = address('orderbook');
    url.searchParams.set('ticker_id', tickerId);
    try {
      return await get(url, readOrderBook);
    } catch (error) {
      if (saysUnknownTicker(error)) return undefined;
      throw error;
    }
  }

  return {
    pairs: () => follow('pairs', () => get(address('pairs'), readPairs)),
    tickers: () => follow('tickers', () => get(address('tickers'), readTickers)),
    orderBook: (tickerId) => circuit.pass(() => health.watch('orderbook', orderBook(tickerId))),
  };
}

/** What a host does for an unknown ticker is not specified: 400 or 404 with JSON, or 200 without sides. */
function saysUnknownTicker(error: unknown): boolean {
  return error instanceof UpstreamBadStatusError && [400, 404].includes(error.status) && isJsonObject(error.body);
}

function isJsonObject(text: string): boolean {
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null;
  } catch {
    return false;
  }
}
