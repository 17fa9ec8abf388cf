import type { Pair, Ticker } from '../../domain/market.ts';
import type { RawOrderBook } from '../../domain/order-book.ts';
import { UpstreamBadStatusError } from '../../errors.ts';
import type { Circuit } from '../circuit.ts';
import { createDocumentReader } from '../decode.ts';
import type { HealthRecord } from '../health.ts';
import type { HttpClient } from '../http.ts';
import { createAddresses } from './addresses.ts';
import { readOrderBook } from './decode.ts';
import { createPairsReader, createTickersReader, type Rows } from './rows.ts';

/** The three reads of a market-data host. Each throws an UpstreamError where it fails. */
export type MarketDataClient = {
  /** @param previous a reading before: rows that say the same are the same, and a list of which all are is the same list */
  pairs(previous?: readonly Pair[]): Promise<Rows<Pair>>;
  /** Likewise. */
  tickers(previous?: readonly Ticker[]): Promise<Rows<Ticker>>;
  /** `undefined` where the host says that it has no book of that name. */
  orderBook(tickerId: string): Promise<RawOrderBook | undefined>;
};

/** What a market-data client is made of. */
export type MarketDataClientOptions = {
  readonly http: HttpClient;
  /** With or without the documented path, or the beginning of it. */
  readonly baseUrl: URL;
  /** The path segment that names the integrating partner, unless the URL names one. */
  readonly partner: string;
  readonly health: HealthRecord;
  readonly circuit: Circuit;
};

/** An order book is parsed whole. */
const MAX_BOOK_BYTES = 32 * 2 ** 20;

/** Makes a client of a market-data host. */
export function createMarketDataClient(options: MarketDataClientOptions): MarketDataClient {
  const { http, baseUrl, partner, health, circuit } = options;

  const address = createAddresses(baseUrl, partner);

  /** A call of those that follow the market. */
  function follow<T>(method: string, ask: () => Promise<T>): Promise<T> {
    return circuit.run(() => health.watch(method, ask()));
  }

  async function orderBook(tickerId: string): Promise<RawOrderBook | undefined> {
    const url = address('orderbook');
    url.searchParams.set('ticker_id', tickerId);
    try {
      return await http.request({ url }, createDocumentReader(MAX_BOOK_BYTES, readOrderBook));
    } catch (error) {
      if (saysUnknownTicker(error)) return undefined;
      throw error;
    }
  }

  return {
    pairs: (previous) => follow('pairs', () => http.request({ url: address('pairs') }, createPairsReader(previous))),
    tickers: (previous) =>
      follow('tickers', () => http.request({ url: address('tickers') }, createTickersReader(previous))),
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
