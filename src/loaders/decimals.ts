import { areDecimals, MAX_DECIMALS } from '../domain/decimal.ts';
import type { PoolPair } from '../domain/pool-pair.ts';
import { BadUserInputError } from '../errors.ts';
import type { TokenLoader } from './token.ts';

/** Decimals that a client gives for the two tokens of a pool; they come before those that are known. */
export type DecimalsArguments = {
  readonly decimals1?: number | null | undefined;
  readonly decimals2?: number | null | undefined;
};

/**
 * A price of a pool by one of the formulas, with the decimals given or known.
 *
 * @returns `undefined` where the decimals of a token are neither, or where the formula gives none
 * @throws BadUserInputError for decimals that cannot be
 */
export function quote<Price>(
  formula: (pool: PoolPair, decimals1: number, decimals2: number) => Price | undefined,
  pool: PoolPair,
  { decimals1, decimals2 }: DecimalsArguments,
  tokens: TokenLoader,
): Price | undefined {
  const d1 = requireDecimals('decimals1', decimals1) ?? tokens.decimalsOf(pool.token1Id);
  const d2 = requireDecimals('decimals2', decimals2) ?? tokens.decimalsOf(pool.token2Id);
  return d1 === undefined || d2 === undefined ? undefined : formula(pool, d1, d2);
}

function requireDecimals(name: string, decimals: number | null | undefined): number | undefined {
  if (decimals == null || areDecimals(decimals)) return decimals ?? undefined;
  throw new BadUserInputError(`${name} is ${decimals}: a token has 0 to ${MAX_DECIMALS} decimals.`);
}
