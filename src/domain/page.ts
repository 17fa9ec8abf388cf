import type { PoolPairOrder } from './exchange.ts';
import { nativeLiquidity, type PoolPair, poolPairId } from './pool-pair.ts';

/** Where a pool stands in any of the orders. */
export type PoolPairPosition = { readonly id: string; readonly nativeLiquidity: bigint | undefined };

/** Which part of a list a client wants: `first` from `after` on, or `last` before `before`. */
export type PageRequest = {
  readonly after?: PoolPairPosition | undefined;
  readonly before?: PoolPairPosition | undefined;
  readonly size: number;
  readonly fromEnd: boolean;
};

/** A part of a list, and whether there is more of it on either side. */
export type Page<T> = {
  readonly items: readonly T[];
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
};

/** Where that pool stands. */
export function positionOf(pool: PoolPair): PoolPairPosition {
  return { id: poolPairId(pool), nativeLiquidity: nativeLiquidity(pool) };
}

/**
 * Whether the first stands before, at (0) or after the second.
 *
 * `NATIVE_LIQUIDITY_DESC` puts most of the native coin first; equal pools and those without it are in order of their ids.
 */
export function comparePositions(a: PoolPairPosition, b: PoolPairPosition, order: PoolPairOrder): number {
  const byId = a.id < b.id ? -1 : Number(a.id > b.id);
  if (order === 'ID_ASC') return byId;
  if (order === 'ID_DESC') return -byId;

  const left = a.nativeLiquidity ?? -1n;
  const right = b.nativeLiquidity ?? -1n;
  if (left === right) return byId;
  return left > right ? -1 : 1;
}

/**
 * Cuts a page out of a list that is in that order.
 *
 * The pools that the positions name need not be in the list: in a block that replaced another they can be elsewhere.
 */
export function cutPage(pools: readonly PoolPair[], request: PageRequest, order: PoolPairOrder): Page<PoolPair> {
  const { after, before, size, fromEnd } = request;
  const isBehind = (position: PoolPairPosition | undefined, atLeast: number) => (pool: PoolPair) =>
    position !== undefined && comparePositions(positionOf(pool), position, order) >= atLeast;

  const low = after === undefined ? 0 : indexOrEnd(pools, isBehind(after, 1));
  const high = before === undefined ? pools.length : Math.max(low, indexOrEnd(pools, isBehind(before, 0)));
  const start = fromEnd ? Math.max(low, high - size) : low;
  const end = fromEnd ? high : Math.min(high, low + size);

  return {
    items: pools.slice(start, end),
    totalCount: pools.length,
    hasNextPage: end < pools.length,
    hasPreviousPage: start > 0,
  };
}

function indexOrEnd<T>(items: readonly T[], predicate: (item: T) => boolean): number {
  const index = items.findIndex(predicate);
  return index < 0 ? items.length : index;
}
