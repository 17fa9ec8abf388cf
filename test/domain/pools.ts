import fc from 'fast-check';
import { type ExchangeState, poolPairAt, toPoolDirectory } from '../../src/domain/exchange.ts';
import { ExchangeSwaps } from '../../src/domain/exchange-swaps.ts';
import type { Instant } from '../../src/domain/instant.ts';
import type { PoolPairOrder } from '../../src/domain/page.ts';
import { toPoolGraph } from '../../src/domain/pool-graph.ts';
import { type PoolPair, poolPairId } from '../../src/domain/pool-pair.ts';
import { listPlaces, type PoolPairFilter } from '../../src/domain/pool-selection.ts';
import { NATIVE_TOKEN_ID, type TokenId } from '../../src/domain/token.ts';

/** The largest reserve that a pool can hold. */
export const MAX_RESERVE = 2n ** 64n - 1n;

/** A token id that ends in a letter or two, so that a test can tell tokens apart at a glance. */
export function tokenId(end: string): TokenId {
  return end.padStart(64, '0');
}

/** A pool at height 1,000 of tokens `a` and `b`, or as it is said. */
export function poolOf(reserve1: bigint, reserve2: bigint, rest: Partial<PoolPair> = {}): PoolPair {
  return { beaconHeight: 1_000, token1Id: tokenId('a'), token2Id: tokenId('b'), reserve1, reserve2, ...rest };
}

/** A state with these pools; of several with one id, the last. */
export function exchangeStateOf(beaconHeight: number, pools: readonly PoolPair[], time?: Instant): ExchangeState {
  const byId = new Map(pools.map((pool) => [poolPairId(pool), pool]));
  const sorted = [...byId].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    beaconHeight,
    time,
    directory: toPoolDirectory(sorted.map(([id]) => id)),
    reserves: BigUint64Array.from(sorted.flatMap(([, { reserve1, reserve2 }]) => [reserve1, reserve2])),
  };
}

/** The pools of a state that pass the filter, in that order. */
export function listPools(state: ExchangeState, filter: PoolPairFilter, order: PoolPairOrder): readonly PoolPair[] {
  return listPlaces(state, filter, order).map((place) => poolPairAt(state, place));
}

/** What a quote is computed from in a state. */
export function quotedPoolsOf(exchange: ExchangeState) {
  const [graph, swaps] = [toPoolGraph(exchange.directory), new ExchangeSwaps(exchange)];
  return { exchange, graph: () => graph, swaps: () => swaps, at: (place: number) => poolPairAt(exchange, place) };
}

/** Reserves of every magnitude, empty ones and those above 2^53 among them. */
export const anyReserve = fc.oneof(fc.bigInt(0n, 3n), fc.bigInt(0n, 10n ** 12n), fc.bigInt(0n, MAX_RESERVE));

/** Reserves of every magnitude but nothing. */
export const someReserve = anyReserve.map((reserve) => (reserve === 0n ? 1n : reserve));

/** Decimals that a token can be said to have. */
export const anyDecimals = fc.integer({ min: 0, max: 30 });

const TOKENS = [NATIVE_TOKEN_ID, ...['a', 'b', 'c', 'd', 'e', 'f', '1', '2'].map(tokenId)];

/** Pools of distinct pairs of a few tokens, the native coin among them, whose reserves are often the same. */
export const anyPools: fc.Arbitrary<PoolPair[]> = fc.uniqueArray(
  fc
    .tuple(fc.subarray(TOKENS, { minLength: 2, maxLength: 2 }), fc.bigInt(0n, 3n), anyReserve)
    .map(([tokens, reserve1, reserve2]) => {
      const [token1Id = '', token2Id = ''] = tokens.sort();
      return poolOf(reserve1, reserve2, { token1Id, token2Id });
    }),
  { selector: ({ token1Id, token2Id }) => token1Id + token2Id, maxLength: 20 },
);
