import { firstIndexWhere } from './binary-search.ts';
import { isTradable, nativeLiquidity, type PoolPair, poolPairId } from './pool-pair.ts';

/**
 * `NATIVE_LIQUIDITY_DESC`: descending by what they hold of the native coin; pools without it last, by id.
 * `NON_EMPTY_FIRST`: by id; pools with an empty side last, by id.
 */
export type PoolPairOrder = 'ID_ASC' | 'ID_DESC' | 'NATIVE_LIQUIDITY_DESC' | 'NON_EMPTY_FIRST';

/** Pools in an order: an array, or an object with these methods of an array. */
export type PoolPairList = {
  readonly length: number;
  at(index: number): PoolPair | undefined;
  /** @param start not below 0 @param end not below 0 */
  slice(start?: number, end?: number): PoolPair[];
};

/** The sort key of a pool in all orders. */
export type PoolPairPosition = {
  readonly id: string;
  readonly nativeLiquidity: bigint | undefined;
  /** Whether it does not hold one of its tokens. */
  readonly isEmpty: boolean;
};

/** Which part of a list a client requests: the first `size` entries after `after` and before `before`, or the last ones. */
export type PageRequest = {
  readonly after?: PoolPairPosition | undefined;
  readonly before?: PoolPairPosition | undefined;
  readonly size: number;
  /** Whether the last entries are requested. */
  readonly fromEnd: boolean;
};

/** A part of a list, and whether there are entries before and after it. */
export type Page<T> = {
  readonly items: readonly T[];
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
};

/** The sort key of that pool. */
export function positionOf(pool: PoolPair): PoolPairPosition {
  return { id: poolPairId(pool), nativeLiquidity: nativeLiquidity(pool), isEmpty: !isTradable(pool) };
}

/**
 * Negative if the first position comes before the second, 0 if they are the same, else positive.
 *
 * In `NATIVE_LIQUIDITY_DESC`, pools with the same reserve and those without the native coin are in order of their ids.
 */
export function comparePositions(a: PoolPairPosition, b: PoolPairPosition, order: PoolPairOrder): number {
  const byId = a.id < b.id ? -1 : Number(a.id > b.id);
  if (order === 'ID_ASC') return byId;
  if (order === 'ID_DESC') return -byId;
  if (order === 'NON_EMPTY_FIRST') return Number(a.isEmpty) - Number(b.isEmpty) || byId;

  const left = a.nativeLiquidity ?? -1n;
  const right = b.nativeLiquidity ?? -1n;
  if (left === right) return byId;
  return left > right ? -1 : 1;
}

/**
 * Cuts a page out of a list in that order.
 *
 * The list need not contain the pools of the positions: in a block that replaced another one, they can be elsewhere.
 */
export function cutPage(pools: PoolPairList, request: PageRequest, order: PoolPairOrder): Page<PoolPair> {
  const { after, before, size, fromEnd } = request;
  const firstFrom = (position: PoolPairPosition, atLeast: 0 | 1) =>
    firstIndexWhere(
      pools.length,
      (index) => comparePositions(positionOf(pools.at(index) as PoolPair), position, order) >= atLeast,
    );

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
