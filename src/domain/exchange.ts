import type { BeaconHeight } from './beacon-height.ts';
import type { Instant } from './instant.ts';
import { comparePositions, positionOf } from './page.ts';
import { holdsToken, isNonEmpty, type PoolPair, poolPairId } from './pool-pair.ts';
import type { TokenId } from './token-id.ts';

/** The exchange's state at one beacon height. */
export type ExchangeState = {
  readonly beaconHeight: BeaconHeight;
  /** When its block was made; `undefined` where the node does not say. */
  readonly time: Instant | undefined;
  /** By {@link poolPairId}, ascending: the first order a client can ask for, and the one all others start from. */
  readonly poolPairs: ReadonlyMap<string, PoolPair>;
};

/** Puts pools in order of their ids and makes them a state. */
export function toExchangeState(beaconHeight: BeaconHeight, pools: readonly PoolPair[], time?: Instant): ExchangeState {
  const poolPairs = new Map(
    pools.map((pool) => [poolPairId(pool), pool] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return { beaconHeight, time, poolPairs };
}

/** The pool of two tokens, named in either order. */
export function findPoolPair(state: ExchangeState, a: TokenId, b: TokenId): PoolPair | undefined {
  return state.poolPairs.get(`${a}-${b}`) ?? state.poolPairs.get(`${b}-${a}`);
}

/** Which pools a client wants; what is `undefined` does not restrict. */
export type PoolPairFilter = {
  readonly tokenId?: TokenId | undefined;
  /** Tokens of which the pool must hold at least one, on either side. */
  readonly anyTokenOf?: ReadonlySet<TokenId> | undefined;
  readonly nonEmpty?: boolean | undefined;
};

/** `NATIVE_LIQUIDITY_DESC`: most of the native coin first; pools without it last, by id. */
export type PoolPairOrder = 'ID_ASC' | 'ID_DESC' | 'NATIVE_LIQUIDITY_DESC';

/** The pools of a state that pass the filter, in that order. */
export function selectPoolPairs(state: ExchangeState, filter: PoolPairFilter, order: PoolPairOrder): PoolPair[] {
  const pools = [...state.poolPairs.values()].filter(
    (pool) =>
      (filter.tokenId === undefined || holdsToken(pool, filter.tokenId)) &&
      (filter.anyTokenOf === undefined ||
        filter.anyTokenOf.has(pool.token1Id) ||
        filter.anyTokenOf.has(pool.token2Id)) &&
      (!filter.nonEmpty || isNonEmpty(pool)),
  );
  return order === 'ID_ASC' ? pools : sortPoolPairs(pools, order);
}

function sortPoolPairs(pools: readonly PoolPair[], order: PoolPairOrder): PoolPair[] {
  return pools
    .map((pool) => ({ pool, position: positionOf(pool) }))
    .sort((a, b) => comparePositions(a.position, b.position, order))
    .map(({ pool }) => pool);
}
