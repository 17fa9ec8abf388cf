import type { BeaconHeight } from './beacon-height.ts';
import type { Instant } from './instant.ts';
import type { PoolPair } from './pool-pair.ts';
import type { TokenId } from './token.ts';

/**
 * The exchange's state at one beacon height.
 *
 * Many heights are held in memory, so a state takes 16 bytes a pool: a `PoolPair` is created when somebody reads it.
 */
export type ExchangeState = {
  readonly beaconHeight: BeaconHeight;
  /** When its block was produced; `undefined` if the node does not report it. */
  readonly time: Instant | undefined;
  readonly directory: PoolDirectory;
  /** Two for each place of the directory, in the smallest unit: of token 1, then of token 2. */
  readonly reserves: BigUint64Array;
};

/**
 * Which pools an exchange has. The place of a pool is its index in ascending order of ids.
 *
 * New pools are rare and no pool is removed, so the states of many heights share one directory.
 */
export type PoolDirectory = {
  readonly ids: readonly string[];
  readonly token1Ids: readonly TokenId[];
  readonly token2Ids: readonly TokenId[];
  /** The place of each pool, by its token 1 and then by its token 2. */
  readonly places: ReadonlyMap<TokenId, ReadonlyMap<TokenId, number>>;
  /** The places of the pools that contain a token on either side, ascending. */
  readonly placesOfToken: ReadonlyMap<TokenId, readonly number[]>;
};

/**
 * Creates the directory of these pools.
 *
 * @param ids in ascending order, each once
 * @param similar a directory with mostly the same pools: its strings are used again, so that each is in memory once
 * @returns the similar one if it has the same pools
 */
export function toPoolDirectory(ids: readonly string[], similar?: PoolDirectory): PoolDirectory {
  if (similar !== undefined && hasPools(similar, ids)) return similar;
  const tokens = new Map<string, TokenId>();
  for (const tokenId of similar?.placesOfToken.keys() ?? []) tokens.set(tokenId, tokenId);
  const sameString = (text: string) => {
    const known = tokens.get(text);
    if (known === undefined) tokens.set(text, text);
    return known ?? text;
  };

  const ownIds: string[] = [];
  const token1Ids: TokenId[] = [];
  const token2Ids: TokenId[] = [];
  const places = new Map<TokenId, Map<TokenId, number>>();
  for (const [place, id] of ids.entries()) {
    const dash = id.indexOf('-');
    const token1Id = sameString(id.slice(0, dash));
    const token2Id = sameString(id.slice(dash + 1));
    ownIds.push(similar?.ids[placeOf(similar, token1Id, token2Id) ?? -1] ?? id);
    token1Ids.push(token1Id);
    token2Ids.push(token2Id);
    const placesByToken2 = places.get(token1Id) ?? new Map<TokenId, number>();
    places.set(token1Id, placesByToken2.set(token2Id, place));
  }
  return { ids: ownIds, token1Ids, token2Ids, places, placesOfToken: indexByToken(token1Ids, token2Ids) };
}

/** Whether a directory has exactly the pools with these ids, in ascending order. */
export function hasPools({ ids: own }: PoolDirectory, ids: readonly string[]): boolean {
  return own === ids || (own.length === ids.length && own.every((id, place) => id === ids[place]));
}

function indexByToken(token1Ids: readonly TokenId[], token2Ids: readonly TokenId[]): Map<TokenId, number[]> {
  const index = new Map<TokenId, number[]>();
  const add = (tokenId: TokenId, place: number) => {
    const places = index.get(tokenId);
    if (places === undefined) index.set(tokenId, [place]);
    else if (places.at(-1) !== place) places.push(place);
  };
  for (const [place, token1Id] of token1Ids.entries()) {
    add(token1Id, place);
    add(token2Ids[place] ?? '', place);
  }
  return index;
}

/** Number of pools of a state. */
export function poolCount(state: ExchangeState): number {
  return state.directory.ids.length;
}

/** The pool at a place of the directory: a new object each time. */
export function poolPairAt({ beaconHeight, time, directory, reserves }: ExchangeState, place: number): PoolPair {
  return {
    beaconHeight,
    time,
    token1Id: directory.token1Ids[place] ?? '',
    token2Id: directory.token2Ids[place] ?? '',
    reserve1: reserves[place * 2] ?? 0n,
    reserve2: reserves[place * 2 + 1] ?? 0n,
  };
}

/** The place of the pool with that token 1 and that token 2. */
export function placeOf({ places }: PoolDirectory, token1Id: TokenId, token2Id: TokenId): number | undefined {
  return places.get(token1Id)?.get(token2Id);
}

/** The place of the pool of two tokens, in either order. */
export function findPlace({ directory }: ExchangeState, a: TokenId, b: TokenId): number | undefined {
  return placeOf(directory, a, b) ?? placeOf(directory, b, a);
}

/** The pool of two tokens, in either order. */
export function findPoolPair(state: ExchangeState, a: TokenId, b: TokenId): PoolPair | undefined {
  const place = findPlace(state, a, b);
  return place === undefined ? undefined : poolPairAt(state, place);
}

/** Whether a pool has the same reserves as in an earlier state, where it may be at another place or missing. */
export function isUnchanged(state: ExchangeState, place: number, before: ExchangeState): boolean {
  const { token1Ids, token2Ids } = state.directory;
  const placeBefore =
    state.directory === before.directory
      ? place
      : placeOf(before.directory, token1Ids[place] ?? '', token2Ids[place] ?? '');
  return (
    placeBefore !== undefined &&
    state.reserves[place * 2] === before.reserves[placeBefore * 2] &&
    state.reserves[place * 2 + 1] === before.reserves[placeBefore * 2 + 1]
  );
}
