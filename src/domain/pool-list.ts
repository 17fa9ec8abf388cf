import { LRUCache } from 'lru-cache';
import { filterFingerprint } from './cursor.ts';
import { type ExchangeState, keepingPools, poolCount, poolPairAt } from './exchange.ts';
import { comparePositions, type PoolPairList, type PoolPairOrder, positionOf } from './page.ts';
import { holdsToken, isNonEmpty, type PoolPair } from './pool-pair.ts';
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
  const count = poolCount(state);
  if (isAll(filter) && order === 'ID_ASC') return toList(state, count, (index) => index);
  if (isAll(filter) && order === 'ID_DESC') return toList(state, count, (index) => count - 1 - index);

  const places = Array.from({ length: count }, (_, place) => place).filter((place) =>
    passes(poolPairAt(state, place), filter),
  );
  const ordered = Uint32Array.from(order === 'ID_ASC' ? places : sortPlaces(state, places, order));
  return toList(state, ordered.length, (index) => ordered[index] ?? 0);
}

/** Whether the pools are already in that order, forwards or backwards: then there is nothing to put in order. */
function isInPlace(filter: PoolPairFilter, order: PoolPairOrder): boolean {
  return isAll(filter) && order !== 'NATIVE_LIQUIDITY_DESC';
}

function isAll({ tokenId, anyTokenOf, nonEmpty }: PoolPairFilter): boolean {
  return tokenId === undefined && anyTokenOf === undefined && !nonEmpty;
}

function passes(pool: PoolPair, { tokenId, anyTokenOf, nonEmpty }: PoolPairFilter): boolean {
  return (
    (tokenId === undefined || holdsToken(pool, tokenId)) &&
    (anyTokenOf === undefined || anyTokenOf.has(pool.token1Id) || anyTokenOf.has(pool.token2Id)) &&
    (!nonEmpty || isNonEmpty(pool))
  );
}

function sortPlaces(state: ExchangeState, places: readonly number[], order: PoolPairOrder): number[] {
  return places
    .map((place) => ({ place, position: positionOf(poolPairAt(state, place)) }))
    .sort((a, b) => comparePositions(a.position, b.position, order))
    .map(({ place }) => place);
}

/** A list that makes its pools when they are looked at. */
function toList(state: ExchangeState, length: number, placeOf: (index: number) => number): PoolPairList {
  const at = (index: number) => poolPairAt(state, placeOf(index));
  return {
    length,
    at: (index) => (index >= 0 && index < length ? at(index) : undefined),
    slice: (start = 0, end = length) =>
      Array.from({ length: Math.max(0, Math.min(end, length) - start) }, (_, index) => at(start + index)),
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
  const pinned = new LRUCache<ExchangeState, ExchangeState>({ max: MAX_PINNED });

  return {
    pinned(state) {
      const known = pinned.get(state) ?? { ...keepingPools(state), isPinned: true };
      pinned.set(state, known);
      return known;
    },
    select(state, filter, order) {
      if (isInPlace(filter, order)) return selectPoolPairs(state, filter, order);
      const lists = kept.get(state) ?? new Map<string, PoolPairList>();
      kept.set(state, lists);
      const name = `${order}:${filterFingerprint({ ...filter, anyTokenOf: filter.anyTokenOf && [...filter.anyTokenOf].sort() })}`;
      const list = lists.get(name) ?? selectPoolPairs(state, filter, order);
      lists.delete(name);
      lists.set(name, list);
      if (lists.size > MAX_LISTS_OF_A_STATE) lists.delete(lists.keys().next().value ?? '');
      return list;
    },
  };
}
