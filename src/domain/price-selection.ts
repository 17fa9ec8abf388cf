import { type ExchangeState, findPlace, isUnchanged, poolCount, poolPairAt } from './exchange.ts';
import type { PoolDirectory } from './pool-directory.ts';
import type { PoolPair } from './pool-pair.ts';
import type { TokenId } from './token-id.ts';

/** Whose prices a subscriber wants: of the pools named, of those that hold a token named; of all where neither is given. */
export type PriceSelection = {
  readonly poolPairs?: readonly { readonly token1Id: TokenId; readonly token2Id: TokenId }[] | undefined;
  readonly tokenIds?: readonly TokenId[] | undefined;
};

/**
 * The pools of a state that were selected, each once, in order of their ids.
 *
 * @param previous where it is given, pools with the same reserves in it are left out
 */
export type SelectPrices = (state: ExchangeState, previous?: ExchangeState) => PoolPair[];

/** Makes the selecting of one subscriber. Where its pools are is looked up once for all heights that have the same pools. */
export function createPriceSelection(selection: PriceSelection): SelectPrices {
  let known: { readonly directory: PoolDirectory; readonly places: readonly number[] } | undefined;

  return (state, previous) => {
    const { directory } = state;
    const places = known?.directory === directory ? known.places : findPlaces(state, selection);
    known = { directory, places };
    const changed = previous === undefined ? places : places.filter((place) => !isUnchanged(state, place, previous));
    return changed.map((place) => poolPairAt(state, place));
  };
}

function findPlaces(state: ExchangeState, { poolPairs, tokenIds }: PriceSelection): readonly number[] {
  if (poolPairs === undefined && tokenIds === undefined) return allPlaces(state);
  const ofTokens = [...new Set(tokenIds)].flatMap((tokenId) => state.directory.placesOfToken.get(tokenId) ?? []);
  return placesOf(state, poolPairs ?? [], ofTokens);
}

function allPlaces(state: ExchangeState): number[] {
  return Array.from({ length: poolCount(state) }, (_, place) => place);
}

/** The places of the pools named, among others, each once and in order. */
function placesOf(
  state: ExchangeState,
  named: readonly Pick<PoolPair, 'token1Id' | 'token2Id'>[],
  others: readonly number[],
): readonly number[] {
  const places = new Set(others);
  for (const { token1Id, token2Id } of named) {
    const place = findPlace(state, token1Id, token2Id);
    if (place !== undefined) places.add(place);
  }
  return [...places].sort((a, b) => a - b);
}
