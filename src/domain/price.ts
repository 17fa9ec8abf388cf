import { MAX_DECIMALS, toDecimal } from './amount.ts';
import { isNonEmpty, type PoolPair } from './pool-pair.ts';
import type { Reserves } from './reserves.ts';
import { amountReceived } from './swap.ts';
import type { TokenId, TokenList } from './token.ts';

const POWERS_OF_10 = Array.from({ length: MAX_DECIMALS + 1 }, (_, exponent) => Number(`1e${exponent}`));

/**
 * Token 1 needed to buy one whole token 2, after the specification's "Price derivation": the pool keeps the product of
 * its reserves constant, and `ceil` is taken in floating point, to the last bit.
 *
 * @returns `undefined` for a pool with an empty side, which has no price
 */
export function priceOfToken2(pool: Reserves, decimals1: number, decimals2: number): number | undefined {
  return documentedPrice(pool.reserve1, pool.reserve2, decimals1, decimals2);
}

/** Token 2 needed to buy one whole token 1: {@link priceOfToken2} with the sides exchanged. */
export function priceOfToken1(pool: Reserves, decimals1: number, decimals2: number): number | undefined {
  return documentedPrice(pool.reserve2, pool.reserve1, decimals2, decimals1);
}

/**
 * {@link priceOfToken2} in exact integer arithmetic, written with all the decimals of token 1.
 *
 * The documented floating-point price differs from it by up to 18 smallest units, and by more above 2^53.
 */
export function exactPriceOfToken2(pool: PoolPair, decimals1: number, decimals2: number): string | undefined {
  return exactPrice(pool.reserve1, pool.reserve2, decimals1, decimals2);
}

/**
 * What one whole base token costs in target tokens, by the documented formula: {@link priceOfToken2} where the base is
 * token 2 of the pool, else {@link priceOfToken1}.
 */
export function basePrice(pool: PoolPair, baseId: TokenId, decimals1: number, decimals2: number): number | undefined {
  return (pool.token2Id === baseId ? priceOfToken2 : priceOfToken1)(pool, decimals1, decimals2);
}

/** {@link basePrice} in exact integer arithmetic, written with all the decimals of the target token. */
export function exactBasePrice(
  pool: PoolPair,
  baseId: TokenId,
  decimals1: number,
  decimals2: number,
): string | undefined {
  if (pool.token2Id === baseId) return exactPriceOfToken2(pool, decimals1, decimals2);
  return exactPrice(pool.reserve2, pool.reserve1, decimals2, decimals1);
}

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
  if (!isNonEmpty(pool)) return undefined;

  return Number(pool.reserve1) / powerOf10(decimals1) / (Number(pool.reserve2) / powerOf10(decimals2));
}

/** `x = ceil((T2 * T1) / (T2 + 10^d2))`, then `(T1 - x) / 10^d1`: each operation is one rounding to a double. */
function documentedPrice(paid: bigint, bought: bigint, decimalsPaid: number, decimalsBought: number) {
  if (paid === 0n || bought === 0n) return undefined;

  const [reservePaid, reserveBought] = [Number(paid), Number(bought)];
  const remaining = Math.ceil((reserveBought * reservePaid) / (reserveBought + powerOf10(decimalsBought)));
  return (reservePaid - remaining) / powerOf10(decimalsPaid);
}

/** The same formula in whole numbers: the remaining reserve is rounded up. */
function exactPrice(paid: bigint, bought: bigint, decimalsPaid: number, decimalsBought: number) {
  if (paid === 0n || bought === 0n) return undefined;

  return toDecimal(amountReceived(bought, paid, 10n ** BigInt(decimalsBought)), decimalsPaid);
}

/** The double nearest to 10^exponent. `**` is not exact for some exponents above 22, which differ between runtimes. */
function powerOf10(exponent: number): number {
  return POWERS_OF_10[exponent] ?? Number.NaN;
}
