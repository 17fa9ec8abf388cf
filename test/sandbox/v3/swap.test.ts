import { describe, expect, test } from 'vitest';
import { MAX_UINT64, type Order, type PoolState } from '../../../src/sandbox/v3/pool.ts';
import { swap } from '../../../src/sandbox/v3/swap.ts';

const order = (rates: [bigint, bigint], balances: [bigint, bigint]): Order => ({
  id: 'a',
  nft: 'n',
  receivers: ['', ''],
  sells: 1,
  rates,
  balances,
});
const pool = (real: [bigint, bigint], virtual: [bigint, bigint], orders: readonly Order[] = []): PoolState => ({
  real,
  virtual,
  shares: 1n,
  orders,
});

describe('the exchange refuses a trade', () => {
  test('that goes on after the curve has given the last real unit, and the order at its price all that it had', () => {
    // 100 on the curve buy the 50 that the pool holds. The order is at the price that the curve has then.
    const emptied = pool([1_000n, 50n], [100n, 100n], [order([400n, 100n], [0n, 10n])]);
    expect(swap(emptied, 0, 100n)).toMatchObject({ bought: 50n });
    expect(swap(emptied, 0, 140n)).toMatchObject({ bought: 60n });
    expect(swap(emptied, 0, 150n)).toBe('NO_LIQUIDITY');
  });

  test('that an order would give more than 64 bits for, also if it has less left', () => {
    const generous = pool([1_000n, 1_000n], [1_000n, 1_000n], [order([1n, MAX_UINT64], [0n, MAX_UINT64])]);
    expect(swap(generous, 0, 2n)).toBe('RESERVE_OUT_OF_RANGE');
  });

  test('that buys more than 64 bits altogether', () => {
    const large = pool([10n, MAX_UINT64], [10n, MAX_UINT64], [order([1n, MAX_UINT64 / 2n], [0n, MAX_UINT64 - 5n])]);
    expect(swap(large, 0, 12n)).toBe('RESERVE_OUT_OF_RANGE');
  });
});
