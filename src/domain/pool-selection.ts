import { type ExchangeState, findPlace, findPlaceOfId, isUnchanged, poolCount, poolPairAt } from './exchange.ts';
import type { PoolPairList, PoolPairOrder } from './page.ts';
import type { PoolPair } from './pool-pair.ts';
import { NATIVE_TOKEN_ID, type TokenId } from './token.ts';

/** Which pools a client selects; an `undefined` field does not restrict. */
export type PoolPairFilter = {
  readonly tokenId?: TokenId | undefined;
  /** The pool must contain at least one of these tokens, on either side. */
  readonly anyTokenOf?: ReadonlySet<TokenId> | undefined;
  readonly nonEmpty?: boolean | undefined;
  /** The ids of pools of V3. */
  readonly poolIds?: ReadonlySet<string> | undefined;
};

/**
 * The pools of a state that pass the filter, in that order.
 *
 * @param poolAt gets the pool at a place of the state
 */
export function selectPoolPairs(
  state: ExchangeState,
  filter: PoolPairFilter,
  order: PoolPairOrder,
  poolAt: (place: number) => PoolPair = (place) => poolPairAt(state, place),
): PoolPairList {
  const ofToken = filter.tokenId === undefined ? undefined : (state.directory.placesOfToken.get(filter.tokenId) ?? []);
  const all = ofToken ? Uint32Array.from(ofToken) : new Uint32Array(poolCount(state)).map((_, place) => place);
  const passing = all.filter((place) => passes(state, place, filter));
  if (order === 'ID_DESC') passing.reverse();
  return toList(SORTS[order]?.(state, passing) ?? passing, poolAt);
}

/** The orders that are not by id. They sort places that are in the order of ids, also in place. */
const SORTS: Partial<Record<PoolPairOrder, (state: ExchangeState, places: Uint32Array) => Uint32Array>> = {
  NATIVE_LIQUIDITY_DESC: sortedByLiquidity,
  NON_EMPTY_FIRST(state, places) {
    const tradable = places.filter((place) => isNonEmptyAt(state, place));
    const empty = places.filter((place) => !isNonEmptyAt(state, place));
    places.set(tradable);
    places.set(empty, tradable.length);
    return places;
  },
};

function isNonEmptyAt({ reserves, v3 }: ExchangeState, place: number): boolean {
  const values = v3?.values ?? reserves;
  return values[place * 2] !== 0n && values[place * 2 + 1] !== 0n;
}

/** Whether a pool passes the parts of the filter that the directory has no index for. */
function passes(state: ExchangeState, place: number, { anyTokenOf, nonEmpty, poolIds }: PoolPairFilter): boolean {
  const { directory } = state;
  return (
    (poolIds === undefined || poolIds.has(directory.ids[place] ?? '')) &&
    (anyTokenOf === undefined ||
      anyTokenOf.has(directory.token1Ids[place] ?? '') ||
      anyTokenOf.has(directory.token2Ids[place] ?? '')) &&
    (!nonEmpty || isNonEmptyAt(state, place))
  );
}

/** Sorts places in the order of `comparePositions`. They are in the order of ids, which decides between equal pools. */
function sortedByLiquidity(state: ExchangeState, places: Uint32Array): Uint32Array {
  const exact = Array.from(places, (place) => nativeLiquidityAt(state, place));
  // Doubles are compared many times faster. If two of them differ, the integers differ in the same direction.
  const rounded = Float64Array.from(exact, Number);
  const indexes = Uint32Array.from(places.keys()).sort((a, b) => {
    const byDouble = (rounded[b] ?? 0) - (rounded[a] ?? 0);
    if (byDouble !== 0) return byDouble;
    const [left, right] = [exact[a] ?? NONE, exact[b] ?? NONE];
    return left === right ? a - b : left > right ? -1 : 1;
  });
  return indexes.map((index) => places[index] ?? 0);
}

/** Sorts a pool without the native coin after all others. */
const NONE = -1n;

function nativeLiquidityAt({ directory, reserves, v3 }: ExchangeState, place: number): bigint {
  const values = v3?.values ?? reserves;
  if (directory.token1Ids[place] === NATIVE_TOKEN_ID) return values[place * 2] ?? NONE;
  return directory.token2Ids[place] === NATIVE_TOKEN_ID ? (values[place * 2 + 1] ?? NONE) : NONE;
}

function toList(places: Uint32Array, poolAt: (place: number) => PoolPair): PoolPairList {
  return {
    length: places.length,
    at(index) {
      const place = places[index];
      return place === undefined ? undefined : poolAt(place);
    },
    slice: (start, end) => Array.from(places.subarray(start, end), (place) => poolAt(place)),
  };
}

/** Names a pool by its two tokens, in either order, and in V3 by its pool id if several pools have these tokens. */
export type PoolKey = {
  readonly token1Id: TokenId;
  readonly token2Id: TokenId;
  /** Without it, the pool with the most liquidity is meant. */
  readonly poolId?: string | null | undefined;
};

/** The place of a pool; `undefined` if the state has none of these tokens, or none of them with that pool id. */
export function placeOfKey(state: ExchangeState, { token1Id, token2Id, poolId }: PoolKey): number | undefined {
  return poolId == null
    ? findPlace(state, token1Id, token2Id)
    : findPlaceOfId(state.directory, token1Id, token2Id, poolId);
}

/** The pools whose prices a subscriber selects: those listed, and those with a listed token; all if neither list is set. */
export type PriceSelection = {
  readonly poolPairs?: readonly PoolKey[] | undefined;
  readonly tokenIds?: readonly TokenId[] | undefined;
};

/**
 * The places of the selected pools, each once, ascending. States with the same directory have the same, unless a key names no
 * pool id: in V3 its pool is the one that has the most liquidity in this state.
 */
export function selectPlaces(state: ExchangeState, { poolPairs, tokenIds }: PriceSelection): readonly number[] {
  if (poolPairs === undefined && tokenIds === undefined) {
    return Array.from({ length: poolCount(state) }, (_, place) => place);
  }
  const places = new Set((tokenIds ?? []).flatMap((tokenId) => state.directory.placesOfToken.get(tokenId) ?? []));
  for (const key of poolPairs ?? []) {
    const place = placeOfKey(state, key);
    if (place !== undefined) places.add(place);
  }
  return [...places].sort((a, b) => a - b);
}

/**
 * Those of the places whose pool is new, was not selected in an earlier state, or has other amounts or orders than there.
 *
 * @param placesBefore the places that were selected in the earlier state
 */
export function changedPlaces(
  state: ExchangeState,
  places: readonly number[],
  before: ExchangeState,
  placesBefore: readonly number[],
): readonly number[] {
  const wasSelected =
    placesBefore === places ? undefined : new Set(placesBefore.map((place) => before.directory.ids[place]));
  return places.filter(
    (place) => wasSelected?.has(state.directory.ids[place]) === false || !isUnchanged(state, place, before),
  );
}
