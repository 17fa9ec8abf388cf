import type { MaybePromise } from '../maybe-promise.ts';
import { createDayRanges, createRangeReader } from './day-ranges.ts';
import { type DocumentOptions, type RestDocument, shareDocument } from './document.ts';
import { createOrderBookDocuments, type ReadOrderBook } from './order-books.ts';
import { startPairs } from './pairs.ts';
import { createTickerTexts } from './ticker-texts.ts';
import { startTickers } from './tickers.ts';

/**
 * The REST API: the three documents of a market-data host, in its shapes, from the data that GraphQL operations read. A document
 * is written once for all clients, and again when something that it depends on has changed.
 */
export type RestApi = {
  /** Rejects with the UpstreamError if pairs cannot be read. */
  pairs(): MaybePromise<RestDocument>;
  /** Rejects with the UpstreamError if tickers cannot be read. */
  tickers(): MaybePromise<RestDocument>;
  readonly orderBook: ReadOrderBook;
};

/** Creates the REST API. */
export function createRestApi(options: DocumentOptions): RestApi {
  const { now, sources } = options;
  const dayRanges = createDayRanges({ read: createRangeReader(sources), recordedVersion: sources.history.version });
  const textOf = createTickerTexts();
  return {
    pairs: shareDocument(() => startPairs(options), now),
    tickers: shareDocument(() => startTickers({ ...options, textOf, dayRanges }), now),
    orderBook: createOrderBookDocuments(options),
  };
}
