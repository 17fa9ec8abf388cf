import { type ExchangeState, findPlace, isUnchanged, poolCount } from './exchange.ts';
import type { TokenId } from './token-id.ts';

/** The pools whose prices a subscriber selects: those listed, and those with a listed token; all if neither list is set. */
export type PriceSelection = {
  readonly poolPairs?: readonly { readonly token1Id: TokenId; readonly token2Id: TokenId }[] | undefined;
  readonly tokenIds?: readonly TokenId[] | undefined;
};

/** The places of the selected pools, each once, ascending. All states with the same directory have the same. */
export function selectPlaces(state: ExchangeState, { poolPairs, tokenIds }: PriceSelection): readonly number[] {
  if (poolPairs === undefined && tokenIds === undefined) {
    return Array.from({ length: poolCount(state) }, (_, place) => place);
  }
  const places = new Set((tokenIds ?? []).flatMap((tokenId) => state.directory.placesOfToken.get(tokenId) ?? []));
  for (const { token1Id, token2Id } of poolPairs ?? []) {
    const place = findPlace(state, token1Id, token2Id);
    if (place !== undefined) places.add(place);
  }
  return [...places].sort((a, b) => a - b);
}

/** Those of the places whose pool is new, or has other reserves than in an earlier state. */
export function changedPlaces(
  state: ExchangeState,
  places: readonly number[],
  before: ExchangeState,
): readonly number[] {
  return places.filter((place) => !isUnchanged(state, place, before));
}
