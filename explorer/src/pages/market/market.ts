import type { ServiceStatus } from '../../app/service-status.ts';
import type { Answer } from '../../client/hooks.ts';
import { type Amount, formatAmount, withUnit } from '../../format/amounts.ts';
import { isOfTokens, nameOfToken, priceOfBase } from '../../format/prices.ts';
import type { MarketPoolFragment, MarketQuery, MarketTokenFragment, PoolQuery } from './market.generated.ts';

/** A token, as the panels of a market need it. */
export type MarketToken = MarketTokenFragment;

/** What the page shows: a market of the market-data host, or a pool alone. All prices are target tokens per base token. */
export type Market = {
  readonly base: MarketToken;
  readonly target: MarketToken;
  /** Undefined for a pool alone. */
  readonly pair: { readonly tickerId: string; readonly poolId: string } | undefined;
  /** The node's pool of the two tokens; undefined if there is none, or if the node cannot be read. */
  readonly pool: MarketPoolFragment | undefined;
  /** All pairs of the host that trade in the pool, with this one. */
  readonly pairs: readonly { readonly tickerId: string; readonly poolId: string }[];
  /** Whether the base is token 1 of the pool, whose own prices are token 1 per token 2. */
  readonly isInverse: boolean;
};

/** The prices of a market and what happened to them. */
export type MarketFigures = {
  readonly price: number | null;
  readonly exactPrice: string | null;
  readonly spotPrice: number | null;
  readonly lastPrice: number | null;
  readonly change: NonNullable<MarketQuery['pair']>['change'];
  /** Traded in the last 24 hours, in whole tokens, by the market-data host. */
  readonly hostVolume: { readonly base: number | null; readonly target: number | null } | undefined;
};

/** A market of the market-data host. */
export function marketOfPair(pair: NonNullable<MarketQuery['pair']>): Market {
  const base = { ...pair.baseToken, symbol: pair.baseToken.symbol ?? pair.base };
  const target = { ...pair.targetToken, symbol: pair.targetToken.symbol ?? pair.target };
  const pool = poolOf(pair);
  return {
    base,
    target,
    pair: { tickerId: pair.tickerId, poolId: pair.poolId },
    pool,
    pairs: pool?.pairs ?? [],
    isInverse: base.tokenId < target.tokenId,
  };
}

/** The pool of a pair, unless it is one of other tokens. */
function poolOf({ poolPair, baseToken, targetToken }: NonNullable<MarketQuery['pair']>) {
  return poolPair != null && isOfTokens(poolPair, baseToken.tokenId, targetToken.tokenId) ? poolPair : undefined;
}

/** A pool alone has the direction of its own prices: its base is token 2. */
export function marketOfPool(pool: NonNullable<PoolQuery['poolPair']>): Market {
  return { base: pool.token2, target: pool.token1, pair: undefined, pool, pairs: [], isInverse: false };
}

/** The figures of a market of the market-data host. */
export function figuresOfPair(pair: NonNullable<MarketQuery['pair']>): MarketFigures {
  const { ticker, change, exactPoolPrice } = pair;
  const pool = poolOf(pair);
  return {
    // The pool is updated at each height. `poolPrice` is the same price, but the pair may have been read before.
    price: priceOfBase(pool, pair.baseToken.tokenId),
    exactPrice: exactPoolPrice,
    spotPrice: spotPriceOfBase(pool, pair.baseToken.tokenId),
    lastPrice: ticker?.lastPrice ?? null,
    change,
    hostVolume: ticker === null ? undefined : { base: ticker.baseVolume, target: ticker.targetVolume },
  };
}

/** The figures of a pool alone. */
export function figuresOfPool(pool: NonNullable<PoolQuery['poolPair']>): MarketFigures {
  const { price, exactPrice, spotPrice, change } = pool;
  return { price, exactPrice, spotPrice, lastPrice: null, change, hostVolume: undefined };
}

/**
 * The highest and the lowest known price of the last 24 hours; undefined if they are not recorded. Those of the history are judged
 * by the ratio of the reserves, so the current price can be beyond them, and it can be newer.
 */
export function rangeOfDay({ price, change }: Pick<MarketFigures, 'price' | 'change'>) {
  if (change?.high == null || change.low == null) return undefined;
  const known = [change.high, change.low, price ?? change.high];
  return { high: Math.max(...known), low: Math.min(...known) };
}

/** The spot price of one base token in target tokens; null if the pool has none. */
export function spotPriceOfBase(
  pool: Pick<MarketPoolFragment, 'token2' | 'spotPrice'> | null | undefined,
  baseId: string,
): number | null {
  if (pool == null || pool.spotPrice === null) return null;
  return pool.token2.tokenId === baseId ? pool.spotPrice : 1 / pool.spotPrice;
}

/** The value in US dollars of the first of these amounts of whole tokens for which it is known; null if there is none. */
export function usdOf(
  ...amounts: readonly (readonly [number | null | undefined, Pick<MarketToken, 'usdPrice'>])[]
): number | null {
  for (const [amount, { usdPrice }] of amounts) if (amount != null && usdPrice !== null) return amount * usdPrice;
  return null;
}

/**
 * What was traded in the last 24 hours, in US dollars: by the market-data host, or of a pool alone by what its reserves show. The
 * amounts of both sides are worth the same, and some hosts send only one.
 */
export function volumeUsd({ base, target, isInverse }: Market, { hostVolume, change }: MarketFigures): number | null {
  if (hostVolume !== undefined) return usdOf([hostVolume.target || null, target], [hostVolume.base, base]);
  const traded = leastTraded({ isInverse }, { change });
  return traded === undefined ? null : usdOf([Number(traded.base) / 10 ** (base.decimals ?? 0), base]);
}

/** What was traded through the pool in 24 hours at least, as its recorded reserves show it, in smallest units. */
export function leastTraded(
  { isInverse }: Pick<Market, 'isInverse'>,
  { change }: Pick<MarketFigures, 'change'>,
): TradedAmounts | undefined {
  if (change == null) return undefined;
  const { tradedToken1, tradedToken2 } = change;
  return isInverse ? { base: tradedToken1, target: tradedToken2 } : { base: tradedToken2, target: tradedToken1 };
}

/** Why the trades of a pool have no sum. */
export function whyNoVolume(
  isRecorded: boolean,
  { isLoading, errors }: Pick<Answer<unknown>, 'isLoading' | 'errors'>,
): string {
  if (!isRecorded) return 'No trades are recorded.';
  if (errors.length > 0) return 'The trades cannot be read now.';
  return isLoading ? 'Loading…' : 'No trades are recorded.';
}

/** Why the change of a price is not known. */
export function whyNoChange(isRecorded: boolean, historyStatus: ServiceStatus['historyStatus'] | undefined): string {
  if (!isRecorded) return 'No history is recorded for this pool.';
  if (historyStatus === 'UNAVAILABLE') return 'Earlier prices cannot be read now.';
  // A read that has failed is null in the cache, too.
  return 'No earlier price of this pool has been read.';
}

/** What was traded of both tokens of a market, in smallest units. */
export type TradedAmounts = { readonly base: string; readonly target: string };

/** What the trades of a pool were worth in US dollars, by what either side is worth. */
export function tradedUsd({ base, target }: Market, traded: TradedAmounts | undefined): number | null {
  if (traded === undefined) return null;
  const whole = (amount: string, { decimals }: MarketToken) => Number(amount) / 10 ** (decimals ?? 0);
  return usdOf([whole(traded.target, target), target], [whole(traded.base, base), base]);
}

/** The reserve of the base token and that of the target token, in smallest units. */
export function reservesOf({
  pool,
  isInverse,
}: Market): { readonly base: string; readonly target: string } | undefined {
  if (pool === undefined) return undefined;
  const { token1PoolValue, token2PoolValue } = pool;
  return isInverse
    ? { base: token1PoolValue, target: token2PoolValue }
    : { base: token2PoolValue, target: token1PoolValue };
}

/** Whether a side of the pool is empty, so that it has no price and no trade. */
export function isEmptyPool({ token1PoolValue, token2PoolValue }: MarketPoolFragment): boolean {
  return token1PoolValue === '0' || token2PoolValue === '0';
}

/** Whether the pool of a market is one of V3: one of several of the same two tokens, with a fee, orders and virtual amounts. */
export function isOfV3({ pool }: Pick<Market, 'pool'>): boolean {
  return pool?.version === 'V3';
}

/** The virtual amounts of a market, with which prices and swaps are computed; undefined without a pool. */
export function virtualAmountsOf({
  pool,
  isInverse,
}: Market): { readonly base: string; readonly target: string } | undefined {
  if (pool === undefined) return undefined;
  const { token1VirtualValue, token2VirtualValue } = pool;
  return isInverse
    ? { base: token1VirtualValue, target: token2VirtualValue }
    : { base: token2VirtualValue, target: token1VirtualValue };
}

/** What names the pool of a market in a subscription: its two tokens and, in V3, its pool id. */
export function poolKeyOf(market: Market): PoolKey {
  const poolId = market.pool?.poolId;
  return poolId == null ? tokenIdsOf(market) : { ...tokenIdsOf(market), poolId };
}

/** A pool by its tokens and, in V3, its pool id. */
type PoolKey = { readonly token1Id: string; readonly token2Id: string; readonly poolId?: string };

/** The two tokens of a market in the order of the pool. */
export function tokenIdsOf({ base, target, isInverse }: Market): {
  readonly token1Id: string;
  readonly token2Id: string;
} {
  const [token1, token2] = isInverse ? [base, target] : [target, base];
  return { token1Id: token1.tokenId, token2Id: token2.tokenId };
}

/** What a market is called: BTC/PRV. */
export function nameOfMarket({ base, target }: Pick<Market, 'base' | 'target'>): string {
  return `${nameOfToken(base)}/${nameOfToken(target)}`;
}

/** The unit of its prices: PRV per BTC. */
export function unitOfPrice({ base, target }: Pick<Market, 'base' | 'target'>): string {
  return `${nameOfToken(target)} per ${nameOfToken(base)}`;
}

/** What an amount of a token counts: PRV, or its smallest units if its decimals are not known. */
export function unitOfAmount(token: MarketToken): string {
  return token.decimals === null ? `smallest units of ${nameOfToken(token)}` : nameOfToken(token);
}

/** An amount of a token with its unit: 12.5 PRV. */
export function amountWithUnit(amount: Amount, token: MarketToken): string {
  return withUnit(formatAmount(amount, token.decimals), unitOfAmount(token));
}

/** A price of fewer smallest units than this is coarse: the next one is more than a thousandth higher. */
const COARSE_UNITS = 1_000;

/** Whether the documented price has few digits, because it counts whole smallest units of the target token. */
export function isCoarsePrice(price: number | null, target: MarketToken): boolean {
  return price !== null && target.decimals !== null && price * 10 ** target.decimals < COARSE_UNITS;
}
