import type { Pair } from '../domain/market.ts';
import type { Loaders } from '../loaders/loaders.ts';
import { createDayRanges, createDayTrades } from './day-figures.ts';
import { cacheDocuments, type DocumentOptions, listTexts, startDocument, type WrittenDocument } from './document.ts';
import { writeOrderBook } from './order-books.ts';
import { writeCandles, writeTrades } from './pool-documents.ts';
import { writeTickers } from './tickers.ts';
import { writeHistory, writeSearch, writeSymbol } from './udf.ts';

/** The path of the description of the REST API. */
export const OPEN_API_PATH = '/openapi.json';

/** How all other paths of the REST API begin. */
export const REST_PREFIX = '/api/';

/** How the paths of TradingView's Universal Datafeed begin, which are the same for all partners. */
export const UDF_PREFIX = '/udf/';

/** The paths of the documents of a market-data host, of candles and of trades. */
export type RestPaths = ReturnType<typeof restPaths>;

/** The documented paths of a market-data host, with the segment that names the partner. */
export function restPaths(partner: string) {
  const base = `${REST_PREFIX}v1/public/${partner}`;
  return {
    /** How all others begin. */
    base,
    pairs: `${base}/pairs`,
    tickers: `${base}/tickers`,
    orderBook: `${base}/orderbook`,
    candles: `${base}/candles`,
    trades: `${base}/historical_trades`,
  };
}

/**
 * Creates the REST API: the three documents of a market-data host in its shapes, trades, and candles also as TradingView's
 * Universal Datafeed, from the data that GraphQL operations read. A document is written once for all clients, and again when something
 * that it depends on has changed. Each rejects with the errors of what writes it.
 *
 * @param maxCandles the maximum number of candles in a document
 */
export function createRestApi(options: DocumentOptions, maxCandles: number) {
  const { now, sources } = options;
  const figures = { dayRanges: createDayRanges(sources), dayTrades: createDayTrades(sources) };
  /** Caches documents by the parameters that they are written from, or one document without parameters. */
  const cached = <Parameters>(write: (parameters: Parameters, loaders: Loaders) => Promise<WrittenDocument>) =>
    cacheDocuments<Parameters>(
      (parameters, requester) =>
        startDocument(options, (loaders) => write(parameters, loaders), { maxCandles, requester }),
      now,
    );
  return {
    pairs: cached<void>((_none, loaders) => writePairs(loaders)),
    tickers: cached<void>((_none, loaders) => writeTickers(loaders, { ...options, ...figures })),
    orderBook: cached(writeOrderBook),
    candles: cached(writeCandles),
    trades: cached(writeTrades),
    udf: { symbol: cached(writeSymbol), search: cached(writeSearch), history: cached(writeHistory) },
  };
}

/** Writes `/pairs`. @throws UpstreamError */
async function writePairs({ market, sources }: Loaders): Promise<WrittenDocument> {
  const { rows } = await market.pairs.all();
  const { pairs } = sources.market;
  return {
    texts: listTexts('pairs', rows.values().map(pairText)),
    rows: rows.length,
    staleSince: () => (pairs.isFailing() ? pairs.newest()?.observedAt : undefined),
  };
}

function pairText({ tickerId, baseId, base, targetId, target, poolId }: Pair): string {
  return JSON.stringify({
    ticker_id: tickerId,
    base_id: baseId,
    base,
    target_id: targetId,
    target,
    pool_id: poolId,
  });
}
