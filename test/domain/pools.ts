import fc from 'fast-check';
import { type ExchangeState, toPoolDirectory } from '../../src/domain/exchange.ts';
import type { Instant } from '../../src/domain/instant.ts';
import { type PoolPair, poolPairId } from '../../src/domain/pool-pair.ts';
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

/** A pool of V3 of tokens `a` and `b`, or of others, which holds its reserves. The number is its own among those of its tokens. */
export function poolOfV3(number: number, reserve1: bigint, reserve2: bigint, rest: Partial<PoolPair> = {}): PoolPair {
  const pool = poolOf(reserve1, reserve2, rest);
  const poolId = `${pool.token1Id}-${pool.token2Id}-${number.toString(16).padStart(64, '0')}`;
  const values = { value1: reserve1, value2: reserve2, shareAmount: 1n, amplifier: 10_000 };
  return { ...pool, v3: { poolId, ...values, feeRateBps: PARAMS.defaultFeeRateBps, orders: [], ...rest.v3 } };
}

const PARAMS = {
  defaultFeeRateBps: 25,
  feeRatesBps: new Map(),
  nativeFeeDiscountPercent: 50,
  maxOrdersPerNft: 10,
  minNativeReserve: 10n ** 13n,
};

/** A state with these pools, all of one version; of several with one id, the last. */
export function exchangeStateOf(beaconHeight: number, pools: readonly PoolPair[], time?: Instant): ExchangeState {
  const byId = new Map(pools.map((pool) => [poolPairId(pool), pool]));
  const sorted = [...byId].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    beaconHeight,
    time,
    directory: toPoolDirectory(sorted.map(([id]) => id)),
    reserves: BigUint64Array.from(sorted.flatMap(([, { reserve1, reserve2 }]) => [reserve1, reserve2])),
    ...columnsOf(sorted.flatMap(([, { v3 }]) => v3 ?? [])),
  };
}

function columnsOf(pools: readonly NonNullable<PoolPair['v3']>[]): Pick<ExchangeState, 'v3'> {
  if (pools.length === 0) return {};
  const orders = pools.map((pool) => pool.orders ?? []);
  return {
    v3: {
      values: BigUint64Array.from(pools.flatMap(({ value1, value2 }) => [value1, value2])),
      amplifiers: pools.map(({ amplifier }) => amplifier),
      shareAmounts: BigUint64Array.from(pools.map(({ shareAmount }) => shareAmount)),
      orders: pools.every((pool) => pool.orders !== undefined) ? orders : undefined,
      params: PARAMS,
    },
  };
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
