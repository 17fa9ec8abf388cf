import { MAX_DECIMALS, toDecimal } from './amount.ts';
import { hasPrice, type PoolPair } from './pool-pair.ts';
import type { PoolReserves } from './reserves.ts';
import { amountReceived } from './swap.ts';
import type { TokenId, TokenList } from './token.ts';

const POWERS_OF_10 = Array.from({ length: MAX_DECIMALS + 1 }, (_, exponent) => Number(`1e${exponent}`));

/**
 * Token 1 needed to buy one whole token 2, after the specification's "Price derivation": the pool keeps the product of
 * its reserves constant. Each operation of `x = ceil((T2 * T1) / (T2 + 10^d2))`, then `(T1 - x) / 10^d1`, is one rounding to a double.
 * With reserves above 2^53, these roundings can exceed the price, so that it is 0 or negative.
 *
 * @returns `undefined` for a pool with an empty side, which has no price
 */
export function priceOfToken2(pool: PoolReserves, decimals1: number, decimals2: number): number | undefined {
  if (!hasPrice(pool)) return undefined;

  const [reserve1, reserve2] = [Number(pool.reserve1), Number(pool.reserve2)];
  const remaining1 = Math.ceil((reserve2 * reserve1) / (reserve2 + powerOf10(decimals2)));
  return (reserve1 - remaining1) / powerOf10(decimals1);
}

/** Token 2 needed to buy one whole token 1: {@link priceOfToken2} with the sides exchanged. */
export function priceOfToken1(pool: PoolReserves, decimals1: number, decimals2: number): number | undefined {
  return priceOfToken2(exchanged(pool), decimals2, decimals1);
}

function exchanged({ reserve1, reserve2 }: PoolReserves): PoolReserves {
  return { reserve1: reserve2, reserve2: reserve1 };
}

/**
 * {@link priceOfToken2} in exact integer arithmetic, written with all the decimals of token 1.
 *
 * The documented floating-point price differs from it by up to 18 smallest units, and by more above 2^53.
 */
export function exactPriceOfToken2(pool: PoolReserves, decimals1: number, decimals2: number): string | undefined {
  if (!hasPrice(pool)) return undefined;
  return toDecimal(amountReceived(pool.reserve2, pool.reserve1, 10n ** BigInt(decimals2)), decimals1);
}

/**
 * What one whole base token costs in target tokens, by the documented formula: {@link priceOfToken2} where the base is
 * token 2 of the pool, else {@link priceOfToken1}.
 */
export function basePrice(pool: PoolPair, baseId: TokenId, decimals1: number, decimals2: number): number | undefined {
  return (pool.token2Id === baseId ? priceOfToken2 : priceOfToken1)(pool, decimals1, decimals2);
}

/** {@link basePrice} in exact integer arithmetic, written with all the decimals of the target token. */
export const exactBasePrice: TokenFormula<string> = (pool, baseId, decimals1, decimals2) =>
  pool.token2Id === baseId
    ? exactPriceOfToken2(pool, decimals1, decimals2)
    : exactPriceOfToken2(exchanged(pool), decimals2, decimals1);

/** A formula for the price of one token of a pool in its other token. */
export type TokenFormula<Price> = (
  pool: PoolPair,
  tokenId: TokenId,
  decimals1: number,
  decimals2: number,
) => Price | undefined;

/** The price of one token of a pool; `undefined` if the decimals of a token are unknown, or if the formula gives no price. */
export function tokenPrice<Price>(
  formula: TokenFormula<Price>,
  pool: PoolPair,
  tokenId: TokenId,
  tokens: TokenList,
): Price | undefined {
  const decimals1 = tokens.get(pool.token1Id)?.decimals;
  const decimals2 = tokens.get(pool.token2Id)?.decimals;
  return decimals1 === undefined || decimals2 === undefined ? undefined : formula(pool, tokenId, decimals1, decimals2);
}

/** Token 1 per token 2 by the ratio of the reserves: the price of an infinitely small trade. */
export function spotPriceOfToken2(pool: PoolPair, decimals1: number, decimals2: number): number | undefined {
  if (!hasPrice(pool)) return undefined;

  return Number(pool.reserve1) / powerOf10(decimals1) / (Number(pool.reserve2) / powerOf10(decimals2));
}

/** The double nearest to 10^exponent. `**` is not exact for some exponents above 22, which differ between runtimes. */
export function powerOf10(exponent: number): number {
  return POWERS_OF_10[exponent] ?? Number.NaN;
}

/** The difference of two prices. */
export function absoluteChange(from: number | undefined, to: number | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : to - from;
}

/** `100 * (to / from - 1)`; `undefined` if a price is missing or the first one is not above 0. */
export function percentChange(from: number | undefined, to: number | undefined): number | undefined {
  if (from === undefined || to === undefined || from <= 0) return undefined;
  const percent = 100 * (to / from - 1);
  return Number.isFinite(percent) ? percent : undefined;
}

/** The bounds of a price; at least one is set. */
type PriceBounds = { readonly above?: number | undefined; readonly below?: number | undefined };

/** A price that crossed a bound. */
export type CrossedBound = {
  readonly bound: number;
  /** Whether the price rose above it; otherwise it fell below it. */
  readonly isAbove: boolean;
  readonly price: number;
  readonly previousPrice: number;
};

/** Which bound a price crossed: it was at the bound or on the other side before. `undefined` if it crossed none. */
export function crossedBound(
  previousPrice: number | undefined,
  price: number | undefined,
  { above, below }: PriceBounds,
): CrossedBound | undefined {
  if (previousPrice === undefined || price === undefined) return undefined;
  if (above !== undefined && previousPrice <= above && price > above)
    return { bound: above, isAbove: true, price, previousPrice };
  if (below !== undefined && previousPrice >= below && price < below)
    return { bound: below, isAbove: false, price, previousPrice };
  return undefined;
}
