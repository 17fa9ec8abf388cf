import type { MaybePromise } from '../domain/maybe-promise.ts';
import type { Loaders } from '../loaders/loaders.ts';
import { type CandlesRequest, writeCandles } from './candles.ts';
import { createDayRanges, createRangeReader } from './day-ranges.ts';
import {
  cacheByParameters,
  cacheDocument,
  type DocumentOptions,
  type RestDocument,
  startDocument,
} from './document.ts';
import { createOrderBookDocuments, type ReadOrderBook } from './order-books.ts';
import { writePairs } from './pairs.ts';
import { writeTickers } from './tickers.ts';
import { type SearchRequest, writeHistory, writeSearch, writeSymbol } from './udf.ts';

/**
 * The REST API: the three documents of a market-data host in its shapes, and candles also as TradingView's Universal Datafeed, from
 * the data that GraphQL operations read. A document is written once for all clients, and again when something that it depends on has changed.
 */
export type RestApi = {
  /** Rejects with the UpstreamError if pairs cannot be read. */
  pairs(): MaybePromise<RestDocument>;
  /** Rejects with the UpstreamError if tickers cannot be read. */
  tickers(): MaybePromise<RestDocument>;
  readonly orderBook: ReadOrderBook;
  /** Like `symbol`, `search` and `history`, it rejects with the errors of what writes it. */
  candles: ReadDocument<Parameters<typeof writeCandles>[0]>;
  readonly udf: {
    symbol: ReadDocument<{ readonly symbol: string }>;
    search: ReadDocument<SearchRequest>;
    history: ReadDocument<CandlesRequest>;
  };
};

type ReadDocument<Request> = (request: Request) => MaybePromise<RestDocument>;

/** Creates the REST API. @param maxCandles the maximum number of candles in a document */
export function createRestApi(options: DocumentOptions, maxCandles: number): RestApi {
  const { now, sources } = options;
  const dayRanges = createDayRanges({ read: createRangeReader(sources), recordedVersion: sources.history.version });
  const writeAllTickers = (loaders: Loaders) => writeTickers(loaders, { ...options, dayRanges });
  return {
    pairs: cacheDocument(() => startDocument(options, writePairs), now),
    tickers: cacheDocument(() => startDocument(options, writeAllTickers), now),
    orderBook: createOrderBookDocuments(options),
    candles: cacheByParameters(options, maxCandles, writeCandles),
    udf: {
      symbol: cacheByParameters(options, maxCandles, writeSymbol),
      search: cacheByParameters(options, maxCandles, writeSearch),
      history: cacheByParameters(options, maxCandles, writeHistory),
    },
  };
}
