import { expect, test } from 'vitest';
import { type ExchangeState, isUnchanged, toPoolDirectory } from '../../src/domain/exchange.ts';
import type { PoolOrder } from '../../src/domain/pool-order.ts';
import { withOrdersOf } from '../../src/fleet/heads.ts';
import { tokenId } from '../domain/pools.ts';

const poolId = (end: string) => `${tokenId('a')}-${tokenId('b')}-${tokenId(end)}`;
const order = (balance1: bigint): PoolOrder => ({
  id: 'e'.repeat(64),
  sells: 1,
  rate1: 5n,
  rate2: 7n,
  balance1,
  balance2: 0n,
});

/** A state with these pools, and the orders of each. */
function stateOf(orders: Readonly<Record<string, readonly PoolOrder[]>>): ExchangeState {
  const ids = Object.keys(orders).sort();
  const amounts = ids.flatMap(() => [10n, 20n]);
  return {
    beaconHeight: 1,
    time: undefined,
    directory: toPoolDirectory(ids),
    reserves: amounts,
    v3: {
      values: BigUint64Array.from(amounts),
      amplifiers: ids.map(() => 10_000),
      shareAmounts: BigUint64Array.from(ids, () => 1n),
      orders: ids.map((id) => orders[id] ?? []),
      params: {
        defaultFeeRateBps: 25,
        feeRatesBps: new Map(),
        nativeFeeDiscountPercent: 50,
        maxOrdersPerNft: 10,
        minNativeReserve: 1n,
      },
    },
  };
}

test('equal lists of orders are those of the state before, also where a pool is new', () => {
  const [a, b, c] = [poolId('a'), poolId('b'), poolId('c')];
  const before = stateOf({ [a]: [order(1n)], [c]: [order(2n)] });
  const read = stateOf({ [a]: [order(1n)], [b]: [order(1n)], [c]: [order(3n)] });
  const after = withOrdersOf(read, before);
  expect(after).toEqual(read);
  const changed = [0, 1, 2].filter((place) => !isUnchanged(after, place, before));
  expect(changed.map((place) => after.directory.ids[place])).toEqual([b, c]);
});

test('a state of V1, or one without orders, stays as it is', () => {
  const state = stateOf({ [poolId('a')]: [order(1n)] });
  const { v3, ...ofV1 } = state;
  const withoutOrders = { ...state, v3: v3 && { ...v3, orders: undefined } };
  for (const before of [undefined, ofV1, withoutOrders]) expect(withOrdersOf(state, before)).toBe(state);
  for (const after of [ofV1, withoutOrders]) expect(withOrdersOf(after, state)).toBe(after);
});
