import { nativeLiquidity, type PoolPair, poolPairId } from './pool-pair.ts';

/** `NATIVE_LIQUIDITY_DESC`: most of the native coin first; pools without it last, by id. */
export type PoolPairOrder = 'ID_ASC' | 'ID_DESC' | 'NATIVE_LIQUIDITY_DESC';

/** Pools in an order: an array of them, or what gives them as one does. */
export type PoolPairList = {
  readonly length: number;
  at(index: number): PoolPair | undefined;
  /** @param start not below 0 @param end not below 0 */
  slice(start?: number, end?: number): PoolPair[];
};

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
export function cutPage(pools: PoolPairList, request: PageRequest, order: PoolPairOrder): Page<PoolPair> {
  const { after, before, size, fromEnd } = request;
  const firstFrom = (position: PoolPairPosition, atLeast: 0 | 1) =>
    firstIndex(pools, (pool) => comparePositions(positionOf(pool), position, order) >= atLeast);

  const low = after === undefined ? 0 : firstFrom(after, 1);
  const high = before === undefined ? pools.length : Math.max(low, firstFrom(before, 0));
  const start = fromEnd ? Math.max(low, high - size) : low;
  const end = fromEnd ? high : Math.min(high, low + size);

  return {
    items: pools.slice(start, end),
    totalCount: pools.length,
    hasNextPage: end < pools.length,
    hasPreviousPage: start > 0,
  };
}

/** The first index from which on all pools are so, by halving; the length where none is. */
function firstIndex(pools: PoolPairList, isSo: (pool: PoolPair) => boolean): number {
  let low = 0;
  let high = pools.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const pool = pools.at(middle);
    if (pool === undefined || isSo(pool)) high = middle;
    else low = middle + 1;
  }
  return low;
}
