import type { Pair } from '../domain/market.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { ChangeArguments, SparklineArguments } from './history-arguments.ts';
import type { Loaders } from './loaders.ts';
import type { PriceChange } from './price-changes.ts';

/**
 * The change of the price of a pair's base token in the node's pool of the same two tokens.
 *
 * @returns `undefined` if there is no such pool, or while nothing is recorded
 * @throws BadUserInputError, HistoryUnavailableError, UpstreamError
 */
export function changeOf(
  { baseId, targetId }: Pair,
  args: ChangeArguments,
  { exchange, history }: Pick<Loaders, 'exchange' | 'history'>,
): MaybePromise<PriceChange | undefined> {
  return andThen(exchange.poolPair(baseId, targetId), (pool) => pool && history.change(pool, args, baseId));
}

/**
 * The prices of a pair's base token at moments in the past, in the node's pool of the same two tokens.
 *
 * @returns `undefined` if there is no such pool
 * @throws BadUserInputError, HistoryUnavailableError, UpstreamError
 */
export function sparklineOf(
  { baseId, targetId }: Pair,
  args: SparklineArguments,
  { exchange, history }: Pick<Loaders, 'exchange' | 'history'>,
): MaybePromise<readonly (number | undefined)[] | undefined> {
  return andThen(exchange.poolPair(baseId, targetId), (pool) => pool && history.sparkline(pool, args, baseId));
}
