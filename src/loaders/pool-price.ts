import { MAX_DECIMALS } from '../domain/amount.ts';
import { type Pair, placeWithPriceOf } from '../domain/market.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import type { PoolPair } from '../domain/pool-pair.ts';
import type { PoolKey } from '../domain/pool-selection.ts';
import { priceOfToken1, priceOfToken2, type TokenFormula, tokenPrice } from '../domain/price.ts';
import type { Reserves } from '../domain/reserves.ts';
import type { TokenId, TokenList } from '../domain/token.ts';
import { BadUserInputError } from '../errors.ts';
import { requireBetween, type SentArguments } from './arguments.ts';
import type { ExchangeLoader } from './exchange.ts';
import type { TokenLoader } from './token.ts';

/** The arguments of a price. They take precedence over the decimals in the token list. */
export type DecimalsArguments = SentArguments<{ decimals1: number; decimals2: number }>;

/**
 * The price of a pool by one of the formulas.
 *
 * @returns `undefined` if the decimals of a token are unknown and not set by an argument, or if the formula gives no price
 */
export function poolPrice<Price>(
  formula: (pool: PoolPair, decimals1: number, decimals2: number) => Price | undefined,
  pool: PoolPair,
  { decimals1, decimals2 }: DecimalsArguments,
  tokens: TokenList,
): Price | undefined {
  const d1 = decimals1 ?? tokens.get(pool.token1Id)?.decimals;
  const d2 = decimals2 ?? tokens.get(pool.token2Id)?.decimals;
  return d1 === undefined || d2 === undefined ? undefined : formula(pool, d1, d2);
}

/** The price of one pool from its reserves at any height. */
export type PriceOf = (reserves: Reserves | undefined) => number | undefined;

/**
 * Creates the function that computes the prices of one token of a pool in the other. They are all `undefined` if the decimals of a
 * token are unknown.
 */
export function createPriceOfBase(
  pool: PoolPair,
  args: DecimalsArguments,
  tokens: TokenList,
  baseId: TokenId,
): PriceOf {
  const formula = baseId === pool.token1Id ? priceOfToken1 : priceOfToken2;
  return (reserves) => reserves && poolPrice((_pool, d1, d2) => formula(reserves, d1, d2), pool, args, tokens);
}

/**
 * Reads something of the pool of a pair at the height of the response.
 *
 * @returns `undefined` if there is no pool whose price is that of the pair; see {@link placeWithPriceOf}
 * @throws UpstreamError
 */
export function withPoolOf<T>(
  pair: Pair,
  exchange: ExchangeLoader,
  read: (pool: PoolPair) => MaybePromise<T>,
): MaybePromise<T | undefined> {
  return andThen(
    exchange.find((state) => placeWithPriceOf(state, pair)),
    (pool) => pool && read(pool),
  );
}

/**
 * The price of one base token of a pair in target tokens, from its pool at the height of the response.
 *
 * @returns `undefined` if there is no such pool, if the decimals of a token are unknown, or if the formula gives no price
 */
export function pairPrice<Price>(
  formula: TokenFormula<Price>,
  pair: Pair,
  { exchange, tokens }: { readonly exchange: ExchangeLoader; readonly tokens: TokenLoader },
): MaybePromise<Price | undefined> {
  return withPoolOf(pair, exchange, (pool) => tokenPrice(formula, pool, pair.baseId, tokens.list));
}

/** Checks the arguments of a price. @throws BadUserInputError */
export function requireDecimals({ decimals1, decimals2 }: DecimalsArguments): void {
  requireBetween(0, MAX_DECIMALS, 'decimals1', decimals1);
  requireBetween(0, MAX_DECIMALS, 'decimals2', decimals2);
}

/** The error of two tokens that have no pool, or none with that pool id. */
export function noPool({ poolId }: Pick<PoolKey, 'poolId'>): BadUserInputError {
  const named = poolId == null ? '' : ' with that poolId';
  return new BadUserInputError(`The exchange has no pool of token1Id and token2Id${named}.`);
}
