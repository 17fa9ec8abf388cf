import type { Pair } from '../domain/market.ts';
import type { Loaders } from '../loaders/loaders.ts';
import { writeCandles } from './candles.ts';
import { createDayRanges, createDayTrades } from './day-figures.ts';
import {
  cacheByParameters,
  cacheDocument,
  type DocumentOptions,
  listTexts,
  startDocument,
  type WrittenDocument,
} from './document.ts';
import { createOrderBookDocuments } from './order-books.ts';
import { writeTickers } from './tickers.ts';
import { writeTrades } from './trades.ts';
import { writeHistory, writeSearch, writeSymbol } from './udf.ts';

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
  const writeAllTickers = (loaders: Loaders) => writeTickers(loaders, { ...options, ...figures });
  return {
    pairs: cacheDocument(() => startDocument(options, writePairs), now),
    tickers: cacheDocument(() => startDocument(options, writeAllTickers), now),
    orderBook: createOrderBookDocuments(options),
    candles: cacheByParameters(options, maxCandles, writeCandles),
    trades: cacheByParameters(options, maxCandles, writeTrades),
    udf: {
      symbol: cacheByParameters(options, maxCandles, writeSymbol),
      search: cacheByParameters(options, maxCandles, writeSearch),
      history: cacheByParameters(options, maxCandles, writeHistory),
    },
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
