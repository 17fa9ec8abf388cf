import { toShortestDecimal } from '../domain/amount.ts';
import { poolPairAt } from '../domain/exchange.ts';
import { placeWithPriceOf, type Ticker } from '../domain/market.ts';
import type { OrderBook } from '../domain/order-book.ts';
import { liquidityIn, type PoolPair, poolPairId } from '../domain/pool-pair.ts';
import { basePrice, tokenPrice } from '../domain/price.ts';
import { liquidityUsd } from '../domain/usd-prices.ts';
import type { Head } from '../live/chain/head.ts';
import type { Loaders } from '../loaders/loaders.ts';
import type { TokenLoader } from '../loaders/token.ts';
import { priceOfTrade } from '../loaders/trades.ts';
import type { DayFigures, DayRange, DayTrades } from './day-figures.ts';
import { type DocumentOptions, listTexts, type WrittenDocument } from './document.ts';

/** A book that was read longer ago says nothing about the current bid and ask: three rounds of the sweep, within these bounds. */
const MIN_BOOK_AGE_MS = 60_000;
const MAX_BOOK_AGE_MS = 600_000;

/** A list with more tickers is not written again for each order book that is read, but at most once in this time. */
const MAX_SHORT_LIST = 500;
const LONG_LIST_MS = 1_000;

type TickersOptions = DocumentOptions & {
  readonly dayRanges: DayFigures<DayRange>;
  readonly dayTrades: DayFigures<DayTrades>;
};

/**
 * Writes `/tickers`. Everything that is not known is left out, and no upstream is called for it, except for the
 * trades of the block. The document waits for the figures of 24 hours, but not for long.
 *
 * @throws UpstreamError if tickers cannot be read
 */
export async function writeTickers(loaders: Loaders, options: TickersOptions): Promise<WrittenDocument> {
  const { sources, dependencies, tokens } = loaders;
  const { now, marketMaxAgeMs, dayRanges, dayTrades, bookSweepPerMinute } = options;
  const { orderBooks } = sources;
  const { tickers } = sources.market;

  /** The current head, unless it is stale and too old. */
  function headInUse(): Head | undefined {
    const head = sources.head.current();
    const isTooOld = head !== undefined && now() - head.time > marketMaxAgeMs && sources.head.isStale();
    return isTooOld ? undefined : head;
  }

  const { rows, byTickerId } = await loaders.market.tickers.all();
  const head = headInUse();
  dependencies.dependOn(headInUse, head, sources.head.nextAt);
  const [ranges, trades] = await Promise.all([figuresOf(dayRanges), figuresOf(dayTrades)]);
  const [writtenAt, reads] = [now(), orderBooks.reads()];
  dependencies.dependOn(
    () => (rows.length > MAX_SHORT_LIST && Math.abs(now() - writtenAt) < LONG_LIST_MS ? reads : orderBooks.reads()),
    reads,
    () => Number.POSITIVE_INFINITY,
  );
  const prices = head && sources.usdPrices(head.exchange, tokens.list);
  const threeRoundsMs = bookSweepPerMinute && (3 * 60_000 * byTickerId.size) / bookSweepPerMinute;
  const maxBookAgeMs = Math.min(MAX_BOOK_AGE_MS, Math.max(MIN_BOOK_AGE_MS, threeRoundsMs));

  /** The figures of the head; `undefined` if they cannot be read soon. */
  async function figuresOf<Figures>({ at, known }: DayFigures<Figures>) {
    if (head === undefined) return undefined;
    const found = await at(head, () => new Set(rows.flatMap((row) => placeWithPriceOf(head.exchange, row) ?? [])));
    dependencies.dependOn(
      () => known(head),
      found,
      () => found && sources.head.nextAt(),
    );
    return found;
  }

  function bookOf({ tickerId }: Ticker): OrderBook | undefined {
    const snapshot = orderBooks.newest(tickerId);
    const at = now();
    // The clock can have been set back since.
    if (snapshot === undefined || Math.abs(at - snapshot.observedAt) >= maxBookAgeMs) return undefined;
    dependencies.expireAt(snapshot.observedAt + maxBookAgeMs, at);
    return snapshot.book;
  }

  function tickerText(ticker: Ticker): string {
    const place = head && placeWithPriceOf(head.exchange, ticker);
    if (head === undefined || place === undefined) return writeTicker(ticker, bookOf(ticker), tokens);
    const pool = poolPairAt(head.exchange, place);
    const id = poolPairId(pool);
    const usd = prices && liquidityUsd(prices, pool);
    const figures = { range: ranges?.get(id), trades: trades?.get(id), usd };
    return writeTicker(ticker, bookOf(ticker), tokens, { pool, ...figures });
  }

  return {
    texts: listTexts('tickers', rows.values().map(tickerText)),
    rows: rows.length,
    height: head?.beaconHeight,
    staleSince() {
      const readAt = tickers.isFailing() ? tickers.newest()?.observedAt : undefined;
      const madeAt = sources.head.isStale() ? head?.time : undefined;
      return readAt === undefined || madeAt === undefined ? (readAt ?? madeAt) : Math.min(readAt, madeAt);
    },
  };
}

/** The pool of a ticker. The others are `undefined` where they are not known. */
type PoolOfTicker = {
  readonly pool: PoolPair;
  readonly range: DayRange | undefined;
  readonly trades: DayTrades | undefined;
  /** The value of both reserves in US dollars. */
  readonly usd: number | undefined;
};

function writeTicker(
  ticker: Ticker,
  book: OrderBook | undefined,
  tokens: TokenLoader,
  { pool, range, trades, usd }: Partial<PoolOfTicker> = {},
): string {
  const priceOf = (each: PoolPair) => tokenPrice(basePrice, each, ticker.baseId, tokens.list);
  // The highest price of one token is the lowest of the other.
  const prices = range ? [range.highest, range.lowest].map(priceOf) : [];
  const known = prices.filter((price) => price !== undefined);
  const text = JSON.stringify({
    ticker_id: ticker.tickerId,
    base_id: ticker.baseId,
    base_currency: ticker.base,
    target_id: ticker.targetId,
    target_currency: ticker.target,
    pool_id: ticker.poolId,
    // The documented fields are always there.
    last_price: ticker.lastPrice ?? null,
    base_volume: ticker.baseVolume ?? null,
    target_volume: ticker.targetVolume ?? null,
    bid: book?.bids[0]?.price,
    ask: book?.asks[0]?.price,
    high: known.length > 0 ? Math.max(...known) : undefined,
    low: known.length > 0 ? Math.min(...known) : undefined,
    pool_price: pool && priceOf(pool),
    pool_last_price:
      pool && trades?.lastTrade && priceOfTrade({ trade: trades.lastTrade, pool }, ticker.baseId, tokens.list),
  });
  if (pool === undefined) return text;
  return `${text.slice(0, -1)}${exactTexts(ticker, { pool, trades }, tokens)}${usd === undefined ? '' : `,"liquidity_in_usd":${usd}`}}`;
}

/** Amounts in whole tokens, as JSON numbers with all their digits: a double would round them. */
function exactTexts(
  ticker: Ticker,
  { pool, trades }: Pick<PoolOfTicker, 'pool' | 'trades'>,
  tokens: TokenLoader,
): string {
  const { baseId, targetId } = ticker;
  const [baseDecimals, targetDecimals] = [tokens.decimalsOf(baseId), tokens.decimalsOf(targetId)];
  if (targetDecimals === undefined) return '';
  const liquidity = `,"liquidity":${toShortestDecimal(liquidityIn(pool, targetId), targetDecimals)}`;
  const volume = trades?.volume;
  if (volume === undefined || baseDecimals === undefined) return liquidity;
  const { token1, token2, isComplete } = volume;
  const [base, target] = pool.token1Id === baseId ? [token1, token2] : [token2, token1];
  const amounts = `"pool_base_volume":${toShortestDecimal(base, baseDecimals)},"pool_target_volume":${toShortestDecimal(target, targetDecimals)}`;
  return `${liquidity},${amounts},"is_pool_volume_complete":${isComplete}`;
}
