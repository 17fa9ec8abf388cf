import type { BeaconHeight } from './beacon-height.ts';
import { createExchangeDraft } from './exchange-draft.ts';
import type { Instant } from './instant.ts';
import { createPoolDirectories, type PoolDirectory } from './pool-directory.ts';
import type { PoolPair } from './pool-pair.ts';
import type { TokenId } from './token-id.ts';

/**
 * The exchange's state at one beacon height.
 *
 * Many heights are kept, so each holds only what is its own: 16 bytes a pool. A pool is made when it is looked at.
 */
export type ExchangeState = {
  readonly beaconHeight: BeaconHeight;
  /** When its block was made; `undefined` where the node does not say. */
  readonly time: Instant | undefined;
  /** Its pools: at which place each of them is. */
  readonly directory: PoolDirectory;
  /** Two for each place: in the smallest unit of token 1, then of token 2. */
  readonly reserves: BigUint64Array;
  /** The pools that were looked at, by place, where each is made only once. */
  readonly pools?: (PoolPair | undefined)[];
  /** Whether its pools are pinned to its height. */
  readonly isPinned?: true;
};

/** Makes a state of pools, in order of their ids; of several with one id, the last stays. */
export function toExchangeState(beaconHeight: BeaconHeight, pools: readonly PoolPair[], time?: Instant): ExchangeState {
  const draft = createExchangeDraft(beaconHeight, createPoolDirectories());
  for (const pool of pools) draft.add(pool);
  return draft.toState(time);
}

/** How many pools a state has. */
export function poolCount(state: ExchangeState): number {
  return state.directory.ids.length;
}

/** The pool at that place of the directory, which must be one. */
export function poolPairAt(state: ExchangeState, place: number): PoolPair {
  if (state.pools === undefined) return makePool(state, place);
  const pool = state.pools[place] ?? makePool(state, place);
  state.pools[place] = pool;
  return pool;
}

/** The same state, which makes each of its pools only once: for the one that everybody looks at. */
export function keepingPools(state: ExchangeState): ExchangeState {
  return { ...state, pools: Array<PoolPair | undefined>(poolCount(state)) };
}

function makePool({ beaconHeight, directory, reserves, isPinned }: ExchangeState, place: number): PoolPair {
  const pool = {
    beaconHeight,
    token1Id: directory.token1Ids[place] ?? '',
    token2Id: directory.token2Ids[place] ?? '',
    reserve1: reserves[place * 2] ?? 0n,
    reserve2: reserves[place * 2 + 1] ?? 0n,
  };
  return isPinned ? pin(pool) : pool;
}

/** The pool at its height for ever. */
export function pin(pool: PoolPair): PoolPair {
  return { ...pool, isPinned: true };
}

/** The place of the pool of two tokens, named in either order. */
export function findPlace({ directory: { places } }: ExchangeState, a: TokenId, b: TokenId): number | undefined {
  return places.get(`${a}-${b}`) ?? places.get(`${b}-${a}`);
}

/** The pool of two tokens, named in either order. */
export function findPoolPair(state: ExchangeState, a: TokenId, b: TokenId): PoolPair | undefined {
  const place = findPlace(state, a, b);
  return place === undefined ? undefined : poolPairAt(state, place);
}

/** Whether a state holds the same reserves of a pool as one before it, in which the pool may be at another place or not at all. */
export function isUnchanged(state: ExchangeState, place: number, before: ExchangeState): boolean {
  const id = state.directory.ids[place] ?? '';
  const placeBefore = state.directory === before.directory ? place : before.directory.places.get(id);
  return (
    placeBefore !== undefined &&
    state.reserves[place * 2] === before.reserves[placeBefore * 2] &&
    state.reserves[place * 2 + 1] === before.reserves[placeBefore * 2 + 1]
  );
}
