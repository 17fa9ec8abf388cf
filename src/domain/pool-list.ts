import { filterFingerprint } from './cursor.ts';
import { type ExchangeState, glancePoolPairAt, keepingPools, poolCount, poolPairAt } from './exchange.ts';
import type { PoolPairList, PoolPairOrder } from './page.ts';
import { isNonEmpty, nativeLiquidity, type PoolPair } from './pool-pair.ts';
import type { TokenId } from './token-id.ts';

/** Which pools a client wants; what is `undefined` does not restrict. */
export type PoolPairFilter = {
  readonly tokenId?: TokenId | undefined;
  /** Tokens of which the pool must hold at least one, on either side. */
  readonly anyTokenOf?: ReadonlySet<TokenId> | undefined;
  readonly nonEmpty?: boolean | undefined;
};

/** The pools of a state that pass the filter, in that order. */
export function selectPoolPairs(state: ExchangeState, filter: PoolPairFilter, order: PoolPairOrder): PoolPairList {
  const ofToken = filter.tokenId === undefined ? undefined : (state.directory.placesOfToken.get(filter.tokenId) ?? []);
  const count = ofToken?.length ?? poolCount(state);
  const placeAt = ofToken === undefined ? (index: number) => index : (index: number) => ofToken[index] ?? 0;
  if (isInPlace(filter, order))
    return toList(state, count, order === 'ID_ASC' ? placeAt : (index) => placeAt(count - 1 - index));

  const passing = Uint32Array.from({ length: count }, (_, index) => placeAt(index)).filter((place) =>
    passes(glancePoolPairAt(state, place), filter),
  );
  if (order === 'ID_DESC') passing.reverse();
  const places = order === 'NATIVE_LIQUIDITY_DESC' ? sortedByLiquidity(state, passing) : passing;
  return toList(state, places.length, (index) => places[index] ?? 0);
}

/** Whether the directory has the pools in that order already, forwards or backwards: all of them, or those of one token. */
function isInPlace({ anyTokenOf, nonEmpty }: PoolPairFilter, order: PoolPairOrder): boolean {
  return anyTokenOf === undefined && !nonEmpty && order !== 'NATIVE_LIQUIDITY_DESC';
}

/** Whether a pool passes what the directory has no index for. */
function passes(pool: PoolPair, { anyTokenOf, nonEmpty }: PoolPairFilter): boolean {
  return (
    (anyTokenOf === undefined || anyTokenOf.has(pool.token1Id) || anyTokenOf.has(pool.token2Id)) &&
    (!nonEmpty || isNonEmpty(pool))
  );
}

/** The places in the order of `comparePositions`. They come in order of their pools' ids, which decide between equals. */
function sortedByLiquidity(state: ExchangeState, places: Uint32Array): Uint32Array {
  const exact = Array.from(places, (place) => nativeLiquidity(glancePoolPairAt(state, place)) ?? WITHOUT);
  // Doubles are compared many times as fast; where they differ, so do the integers, and in the same way.
  const rounded = Float64Array.from(exact, Number);
  const indexes = Uint32Array.from(places.keys()).sort((a, b) => {
    const byDouble = (rounded[b] ?? 0) - (rounded[a] ?? 0);
    if (byDouble !== 0) return byDouble;
    const [left, right] = [exact[a] ?? WITHOUT, exact[b] ?? WITHOUT];
    return left === right ? a - b : left > right ? -1 : 1;
  });
  return indexes.map((index) => places[index] ?? 0);
}

/** Less than any pool holds. */
const WITHOUT = -1n;

/** A list that makes its pools when they are looked at. */
function toList(state: ExchangeState, length: number, placeOf: (index: number) => number): PoolPairList {
  const at = (index: number) => poolPairAt(state, placeOf(index));
  return {
    length,
    at: (index) => (index >= 0 && index < length ? at(index) : undefined),
    slice(start = 0, end = length) {
      const pools: PoolPair[] = [];
      for (let index = start; index < Math.min(end, length); index++) pools.push(at(index));
      return pools;
    },
  };
}

/** Lists that are put in order once for all who ask. */
export type PoolLists = {
  select: typeof selectPoolPairs;
  /** The same state with its pools pinned; each is made once for as long as pages are cut from the state. */
  pinned(state: ExchangeState): ExchangeState;
};

/** So many are kept of each state: places of 4 bytes for each pool in them. */
const MAX_LISTS_OF_A_STATE = 8;

/** Of so many past states the pools are kept: who goes through the pages of one asks for all of them. */
const MAX_PINNED = 4;

/** Makes a keeper of lists: each for as long as its state, and as it is among the few that were asked for last. */
export function createPoolLists(): PoolLists {
  const kept = new WeakMap<ExchangeState, Map<string, PoolPairList>>();
  const pinned = new Map<ExchangeState, ExchangeState>();

  return {
    pinned(state) {
      const known = pinned.get(state) ?? { ...keepingPools(state), isPinned: true };
      keepAsLast(pinned, state, known, MAX_PINNED);
      return known;
    },
    select(state, filter, order) {
      if (isInPlace(filter, order)) return selectPoolPairs(state, filter, order);
      const lists = kept.get(state) ?? new Map<string, PoolPairList>();
      kept.set(state, lists);
      const name = `${order}:${filterFingerprint({ ...filter, anyTokenOf: filter.anyTokenOf && [...filter.anyTokenOf].sort() })}`;
      const list = lists.get(name) ?? selectPoolPairs(state, filter, order);
      keepAsLast(lists, name, list, MAX_LISTS_OF_A_STATE);
      return list;
    },
  };
}

/** Puts something last, and lets go of the first where there are too many. */
function keepAsLast<Key, Value>(kept: Map<Key, Value>, key: Key, value: Value, max: number): void {
  kept.delete(key);
  kept.set(key, value);
  const [first] = kept.size > max ? kept.keys() : [];
  if (first !== undefined) kept.delete(first);
}
