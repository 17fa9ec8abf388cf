import { toDecimal } from '../domain/decimal.ts';
import type { Pair, Ticker } from '../domain/market.ts';
import { liquidityIn, type PoolPair } from '../domain/pool-pair.ts';
import { basePrice } from '../domain/price.ts';
import type { DayRange } from './day-ranges.ts';

/** What the gateway knows about a ticker beside what the market-data host sends; `undefined` where it is not known. */
type KnownOfTicker = {
  readonly bid: number | undefined;
  readonly ask: number | undefined;
  /** The pool of the two tokens, and the decimals of its tokens. */
  readonly pool: PoolPair | undefined;
  readonly decimals1: number | undefined;
  readonly decimals2: number | undefined;
  readonly range: DayRange | undefined;
};

/** Writes a ticker as JSON. @param liquidityUsd the value of its pool in US dollars */
export type TickerText = (ticker: Ticker, known: KnownOfTicker, liquidityUsd: number | undefined) => string;

/**
 * Creates the function that writes tickers. Most pools do not change from one height to the next, so the last text of a ticker is
 * kept, without the value in US dollars, which changes with the prices of the tokens.
 */
export function createTickerTexts(): TickerText {
  const written = new WeakMap<Ticker, { readonly known: KnownOfTicker; readonly text: string }>();

  return (ticker, known, liquidityUsd) => {
    const before = written.get(ticker);
    const text = before !== undefined && areSame(before.known, known) ? before.text : write(ticker, known);
    if (text !== before?.text) written.set(ticker, { known, text });
    return liquidityUsd === undefined ? text : `${text.slice(0, -1)},"liquidity_in_usd":${liquidityUsd}}`;
  };
}

function areSame(a: KnownOfTicker, b: KnownOfTicker): boolean {
  return (
    haveSameReserves(a.pool, b.pool) &&
    haveSameReserves(a.range?.highest, b.range?.highest) &&
    haveSameReserves(a.range?.lowest, b.range?.lowest) &&
    a.bid === b.bid &&
    a.ask === b.ask &&
    a.decimals1 === b.decimals1 &&
    a.decimals2 === b.decimals2
  );
}

function haveSameReserves(a: PoolPair | undefined, b: PoolPair | undefined): boolean {
  return a?.reserve1 === b?.reserve1 && a?.reserve2 === b?.reserve2;
}

function write(ticker: Ticker, { bid, ask, pool, decimals1, decimals2, range }: KnownOfTicker): string {
  const priceOf = (each: PoolPair) =>
    decimals1 === undefined || decimals2 === undefined
      ? undefined
      : basePrice(each, ticker.baseId, decimals1, decimals2);
  const poolPrice = pool && priceOf(pool);
  const prices = range && [range.highest, range.lowest, ...(pool ? [pool] : [])].map(priceOf);
  const known = prices?.filter((price) => price !== undefined) ?? [];
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
    bid,
    ask,
    // The range may have been read a moment ago: the current price counts too. The highest price of one token is the lowest of
    // the other.
    high: known.length > 0 ? Math.max(...known) : undefined,
    low: known.length > 0 ? Math.min(...known) : undefined,
    pool_price: poolPrice,
  });
  // A double would round it.
  const liquidity = pool && liquidityText(ticker, pool, decimals1, decimals2);
  return liquidity === undefined ? text : `${text.slice(0, -1)},"liquidity":${liquidity}}`;
}

/** In whole target tokens, as a JSON number with all its digits. */
function liquidityText({ targetId }: Pair, pool: PoolPair, decimals1?: number, decimals2?: number): string | undefined {
  const decimals = pool.token1Id === targetId ? decimals1 : decimals2;
  const text = decimals === undefined ? undefined : toDecimal(liquidityIn(pool, targetId), decimals);
  return text?.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
