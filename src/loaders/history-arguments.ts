import type { CandleInterval } from '../domain/candle.ts';
import type { Instant } from '../domain/instant.ts';
import { BadUserInputError } from '../errors.ts';
import { requireAtLeast, requireBetween } from './argument-ranges.ts';
import { type DecimalsArguments, requireDecimals } from './pool-price.ts';

/** The arguments of `PoolPair.candles`. */
export type CandlesArguments = DecimalsArguments & {
  readonly interval: CandleInterval;
  readonly from?: Instant | null | undefined;
  readonly to?: Instant | null | undefined;
  readonly last?: number | null | undefined;
};

/** The arguments of `PoolPair.change`. */
export type ChangeArguments = DecimalsArguments & { readonly hours?: number | null | undefined };

/** The arguments of `PoolPair.sparkline`. */
export type SparklineArguments = ChangeArguments & { readonly points?: number | null | undefined };

/** How many candles are returned if `last` is not set. */
export const DEFAULT_CANDLES = 100;

/** The hours of a window if `hours` is not set. */
export const DEFAULT_HOURS = 24;

/** The values of a sparkline if `points` is not set. */
export const DEFAULT_POINTS = 24;

/** How many gaps are returned if `first` is not set. */
export const DEFAULT_GAPS = 100;

/** How many blocks are returned if `last` is not set. */
export const DEFAULT_BLOCKS = 60;

/** An hour, in milliseconds. */
export const HOUR_MS = 3_600_000;

const MIN_POINTS = 2;
const MAX_POINTS = 500;

/** Checks what no limit decides about. @throws BadUserInputError */
export function requireCandleArguments(args: CandlesArguments): void {
  requireDecimals(args);
  const { from, to, last } = args;
  if (from != null && to != null && from >= to)
    throw new BadUserInputError('from is not before to. An interval that begins at to is not part of the result.');
  requireAtLeast(1, 'last', last);
}

/** Checks what no limit decides about. @throws BadUserInputError */
export function requireChangeArguments(args: ChangeArguments): void {
  requireDecimals(args);
  requireAtLeast(1, 'hours', args.hours);
}

/** Checks what no limit decides about. @throws BadUserInputError */
export function requireSparklineArguments(args: SparklineArguments): void {
  requireChangeArguments(args);
  requireBetween(MIN_POINTS, MAX_POINTS, 'points', args.points);
}

/** The error of two tokens that have no pool. */
export function noPool(): BadUserInputError {
  return new BadUserInputError('The exchange has no pool of token1Id and token2Id.');
}
