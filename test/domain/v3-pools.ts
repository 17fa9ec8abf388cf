import fc from 'fast-check';
import { MAX_AMOUNT } from '../../src/domain/amount.ts';
import { type ExchangeParams, type ExchangeState, toPoolDirectory } from '../../src/domain/exchange.ts';
import type { PoolOrder } from '../../src/domain/pool-order.ts';
import { type PoolPair, poolPairId } from '../../src/domain/pool-pair.ts';
import type { TokenId } from '../../src/domain/token.ts';
import { tokenId } from './pools.ts';

/** Parameters as at the start of the main network. */
export const PARAMS: ExchangeParams = {
  defaultFeeRateBps: 25,
  feeRatesBps: new Map(),
  nativeFeeDiscountPercent: 50,
  maxOrdersPerNft: 10,
  minNativeReserve: 10n ** 13n,
};

/** The id of a pool of two tokens: the number makes it different from the others of the same tokens. */
export function poolIdOf(one: TokenId, other: TokenId, number = 0): string {
  return [...[one, other].sort(), number.toString(16).padStart(64, '0')].join('-');
}

type PartsOfPool = {
  readonly number?: number;
  /** What it holds, if that differs from the amounts that prices are computed with. */
  readonly values?: readonly [bigint, bigint];
  readonly amplifier?: number;
  readonly orders?: readonly PoolOrder[] | undefined;
};

/** A pool of V3 at height 1,000. The tokens must be in ascending order. */
export function poolOfV3(
  [token1Id, token2Id]: readonly [TokenId, TokenId],
  [reserve1, reserve2]: readonly [bigint, bigint],
  { number = 0, values: [value1, value2] = [reserve1, reserve2], amplifier = 10_000, orders = [] }: PartsOfPool = {},
): PoolPair {
  const poolId = poolIdOf(token1Id, token2Id, number);
  const v3 = { poolId, value1, value2, amplifier, shareAmount: 1n, feeRateBps: 25, orders };
  return { beaconHeight: 1_000, token1Id, token2Id, reserve1, reserve2, v3 };
}

/** The state at height 1,000 with these pools of V3. */
export function stateOfV3(pools: readonly PoolPair[], params = PARAMS): ExchangeState {
  const sorted = pools.toSorted((one, other) => (poolPairId(one) < poolPairId(other) ? -1 : 1));
  const hasOrders = sorted.every(({ v3 }) => v3?.orders !== undefined);
  return {
    beaconHeight: 1_000,
    time: undefined,
    directory: toPoolDirectory(sorted.map(poolPairId)),
    reserves: sorted.flatMap(({ reserve1, reserve2 }) => [reserve1, reserve2]),
    v3: {
      values: BigUint64Array.from(sorted.flatMap(({ v3 }) => [v3?.value1 ?? 0n, v3?.value2 ?? 0n])),
      amplifiers: sorted.map(({ v3 }) => v3?.amplifier ?? 0),
      shareAmounts: BigUint64Array.from(sorted.map(({ v3 }) => v3?.shareAmount ?? 0n)),
      orders: hasOrders ? sorted.map(({ v3 }) => v3?.orders ?? []) : undefined,
      params,
    },
  };
}

/** Orders in the order of the node's list. */
export function sortOrders(orders: readonly PoolOrder[]): PoolOrder[] {
  return orders.toSorted((one, other) => {
    const difference = one.rate2 * other.rate1 - other.rate2 * one.rate1;
    if (difference !== 0n) return difference < 0n ? -1 : 1;
    if (one.sells !== other.sells) return one.sells - other.sells;
    return (one.id < other.id ? -1 : 1) * (one.sells === 1 ? 1 : -1);
  });
}

const anyBalance = fc.oneof(fc.bigInt(0n, 12n), fc.bigInt(0n, 10n ** 6n), fc.bigInt(0n, MAX_AMOUNT));

/** An amount of any magnitude, small ones more often: there, whole units are rounded. */
export const anyAmountOfV3 = fc.oneof(
  fc.bigInt(1n, 30n),
  fc.bigInt(1n, 3_000n),
  fc.bigInt(1n, 10n ** 12n),
  fc.bigInt(1n, MAX_AMOUNT),
);

/** The amount of 64 bits that is next to a number. */
function asAmount(value: bigint): bigint {
  if (value < 1n) return 1n;
  return value < MAX_AMOUNT ? value : MAX_AMOUNT;
}

/** An order at any rate, often near the one of the two amounts. */
function anyOrder(reserve1: bigint, reserve2: bigint): fc.Arbitrary<PoolOrder> {
  const near = fc
    .tuple(fc.integer({ min: 700, max: 1_300 }), fc.bigInt(1n, 60n))
    .map(([permille, divisor]): [bigint, bigint] => [
      asAmount((reserve1 * BigInt(permille)) / 1_000n / divisor),
      asAmount(reserve2 / divisor),
    ]);
  const small = fc.tuple(fc.bigInt(1n, 12n), fc.bigInt(1n, 12n));
  const any = fc.tuple(anyAmountOfV3, anyAmountOfV3);
  return fc
    .record({
      id: fc.integer({ min: 0, max: 2 ** 30 }).map((id) => id.toString(16).padStart(64, '0')),
      sells: fc.constantFrom<1 | 2>(1, 2),
      rates: fc.oneof({ weight: 4, arbitrary: near }, small, any),
      left: fc.oneof(fc.constant(undefined), anyBalance),
      bought: fc.oneof({ weight: 5, arbitrary: fc.constant(0n) }, anyBalance),
    })
    .map(({ id, sells, rates: [rate1, rate2], left, bought }) => {
      const balance = left ?? (sells === 1 ? rate1 : rate2);
      const [balance1, balance2] = sells === 1 ? [balance, bought] : [bought, balance];
      return { id, sells, rate1, rate2, balance1, balance2 };
    });
}

/** A pool of two tokens with any amounts, amplification and orders; a side can be empty. */
export function anyPoolOfV3(
  tokens: readonly [TokenId, TokenId],
  number: number,
  maxOrders = 12,
): fc.Arbitrary<PoolPair> {
  const value = fc.oneof(
    fc.bigInt(0n, 40n),
    fc.bigInt(1n, 10n ** 5n),
    fc.bigInt(1n, 10n ** 13n),
    fc.bigInt(0n, MAX_AMOUNT),
  );
  const amplifier = fc.oneof(fc.constant(10_000), fc.integer({ min: 10_000, max: 10 ** 6 }));
  return fc.tuple(value, value, amplifier, fc.boolean()).chain(([value1, value2, amplifier, isTraded]) => {
    const virtual = (amount: bigint) => (amount * BigInt(amplifier)) / 10_000n;
    const reserves: [bigint, bigint] = [virtual(value1), virtual(value2)];
    // Of an amplified pool, trades can have taken nearly all that it really holds.
    const values: [bigint, bigint] = [value1, isTraded ? value2 / 7n : value2];
    return fc
      .uniqueArray(anyOrder(reserves[0] || 1n, reserves[1] || 1n), { selector: ({ id }) => id, maxLength: maxOrders })
      .map((orders) => poolOfV3(tokens, reserves, { number, values, amplifier, orders: sortOrders(orders) }));
  });
}

export const [A, B, C, D, E] = ['a', 'b', 'c', 'd', 'e'].map(tokenId) as [string, string, string, string, string];
