import { type ExchangeState, findPlace, isUnchanged, placeOf, poolCount, poolPairAt } from './exchange.ts';
import type { PoolPairOrder } from './page.ts';
import { nativeLiquidity, parsePoolId, tokensKey } from './pool-pair.ts';
import type { TokenId } from './token.ts';

/** Which pools a client selects; an `undefined` field does not restrict. */
export type PoolPairFilter = {
  readonly tokenId?: TokenId | undefined;
  /** The pool must contain at least one of these tokens, on either side. */
  readonly anyTokenOf?: ReadonlySet<TokenId> | undefined;
  readonly nonEmpty?: boolean | undefined;
  /** The ids of pools of V3. */
  readonly poolIds?: ReadonlySet<string> | undefined;
};

/** The places of the pools of a state that pass the filter, in that order: the one of `comparePositions`. */
export function listPlaces(
  state: ExchangeState,
  { tokenId, anyTokenOf, nonEmpty, poolIds }: PoolPairFilter,
  order: PoolPairOrder,
): readonly number[] {
  const { ids, token1Ids, token2Ids, placesOfToken } = state.directory;
  const values = state.v3?.values ?? state.reserves;
  const isEmpty = (place: number) => values[place * 2] === 0n || values[place * 2 + 1] === 0n;
  const passes = (place: number) =>
    (poolIds === undefined || poolIds.has(ids[place] ?? '')) &&
    (anyTokenOf === undefined || anyTokenOf.has(token1Ids[place] ?? '') || anyTokenOf.has(token2Ids[place] ?? '')) &&
    (!nonEmpty || !isEmpty(place));
  // Places are in the order of ids.
  const places = (tokenId === undefined ? allPlaces(state) : (placesOfToken.get(tokenId) ?? [])).filter(passes);
  if (order === 'ID_ASC') return places;
  if (order === 'ID_DESC') return places.reverse();
  if (order === 'NON_EMPTY_FIRST') return [...places.filter((place) => !isEmpty(place)), ...places.filter(isEmpty)];
  return places
    .map((place) => ({ place, held: nativeLiquidity(poolPairAt(state, place)) ?? -1n }))
    .sort((a, b) => (a.held === b.held ? a.place - b.place : a.held > b.held ? -1 : 1))
    .map(({ place }) => place);
}

function allPlaces(state: ExchangeState): readonly number[] {
  return Array.from({ length: poolCount(state) }, (_, place) => place);
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
  if (poolId == null) return findPlace(state, token1Id, token2Id);
  const named = parsePoolId(poolId);
  const isOfTokens = named && tokensKey(named.token1Id, named.token2Id) === tokensKey(token1Id, token2Id);
  return isOfTokens ? placeOf(state.directory, named) : undefined;
}

/** The pools whose prices a subscriber selects: those listed, and those with a listed token; all if neither list is set. */
export type PriceSelection = {
  readonly poolPairs?: readonly PoolKey[] | undefined;
  readonly tokenIds?: readonly TokenId[] | undefined;
};

/**
 * Creates the function that returns the places of the selected pools of a state, each once, ascending. It looks for them again
 * only if the state can have others than the last one.
 */
export function createPlaceSelector({
  poolPairs,
  tokenIds,
}: PriceSelection): (state: ExchangeState) => readonly number[] {
  const nameOf = ({ token1Id, token2Id, poolId }: PoolKey) => `${tokensKey(token1Id, token2Id)} ${poolId}`;
  // A list can name a pool many times. Finding it takes long if many pools have its tokens.
  const keys = poolPairs && [...new Map(poolPairs.map((key) => [nameOf(key), key])).values()];
  const selection = { poolPairs: keys, tokenIds };
  const isNamed = (keys ?? []).every(({ poolId }) => poolId != null);
  let found: { readonly state: ExchangeState; readonly places: readonly number[] } | undefined;

  return (state) => {
    // Which of several pools a key without a pool id means depends on their liquidity.
    const isSame = found?.state.directory === state.directory && (isNamed || state.v3 === undefined);
    const places =
      found !== undefined && (isSame || found.state === state) ? found.places : selectPlaces(state, selection);
    // It refers to the newest state only: an earlier one would stay in memory for as long as the subscription.
    found = { state, places };
    return places;
  };
}

function selectPlaces(state: ExchangeState, { poolPairs, tokenIds }: PriceSelection): readonly number[] {
  if (poolPairs === undefined && tokenIds === undefined) return allPlaces(state);
  const places = new Set((tokenIds ?? []).flatMap((tokenId) => state.directory.placesOfToken.get(tokenId) ?? []));
  for (const key of poolPairs ?? []) {
    const place = placeOfKey(state, key);
    if (place !== undefined) places.add(place);
  }
  return [...places].sort((a, b) => a - b);
}

/**
 * The places of those selected pools that changed since an earlier state: they are new, were not selected then, or have other amounts,
 * orders or another fee rate.
 *
 * @param placesIn returns the selected places of a state
 */
export function changedPlaces(
  state: ExchangeState,
  before: ExchangeState,
  placesIn: (state: ExchangeState) => readonly number[],
): readonly number[] {
  const placesBefore = placesIn(before);
  const places = placesIn(state);
  const wasSelected =
    places === placesBefore ? undefined : new Set(placesBefore.map((place) => before.directory.ids[place]));
  return places.filter(
    (place) => wasSelected?.has(state.directory.ids[place]) === false || !isUnchanged(state, place, before),
  );
}
