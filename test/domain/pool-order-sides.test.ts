import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bestOrders, isMatchable, type PoolOrder, toSellingOrders } from '../../src/domain/pool-order.ts';
import { vectorsOf } from '../fixtures/node/v3/swap-vectors.ts';
import { anyOrders, orderOf, readSamplePools } from './pool-orders.ts';
import { MAX_RESERVE } from './pools.ts';
import { toOrder } from './v3-vectors.ts';

describe('the orders of a pool', () => {
  test.each(vectorsOf('order-list'))('are met in the order of the node: %s', (_, { orders, expected }) => {
    const { selling1, selling2 } = toSellingOrders(orders.map(toOrder));
    // A seller of one token meets those who sell the other.
    expect(selling2.find(isMatchable)?.id).toBe(expected.nextForSellerOfToken0);
    expect(selling1.find(isMatchable)?.id).toBe(expected.nextForSellerOfToken1);
  });

  test('are sorted by rate and then by id, whichever order they come in', () => {
    fc.assert(
      fc.property(anyOrders, (orders) => {
        const { selling1, selling2 } = toSellingOrders(orders);
        expect([...selling1, ...selling2].map(({ id }) => id).sort()).toEqual(orders.map(({ id }) => id).sort());
        // Token 1 per token 2: a seller of token 1 pays it, so the highest comes first.
        const isBetter = (a: PoolOrder, b: PoolOrder) => a.rate1 * b.rate2 > b.rate1 * a.rate2;
        for (const [side, isBefore] of [
          [selling1, isBetter],
          [selling2, (a: PoolOrder, b: PoolOrder) => isBetter(b, a)],
        ] as const) {
          for (const [index, order] of side.entries()) {
            const next = side[index + 1];
            if (next === undefined) continue;
            expect(isBefore(order, next) || (!isBefore(next, order) && order.id < next.id)).toBe(true);
          }
        }
      }),
    );
  });

  test('come from the sample as the node lists them, from either end', () => {
    for (const { v3 } of readSamplePools().values()) {
      const orders = v3?.orders ?? [];
      const { selling1, selling2 } = toSellingOrders(orders);
      expect(selling1).toEqual(orders.filter(({ sells }) => sells === 1));
      expect(selling2).toEqual(orders.filter(({ sells }) => sells === 2).toReversed());
    }
  });
});

describe('a trade can meet an order', () => {
  test.each<[string, PoolOrder, boolean]>([
    ['if its rest is worth one unit', orderOf('a', 2, [1n, 3n], [0n, 3n]), true],
    ['not if it is worth less', orderOf('a', 2, [1n, 3n], [9n, 2n]), false],
    ['not if nothing is left, whatever it has bought', orderOf('a', 1, [1n, 3n], [0n, 9n]), false],
    ['up to 2^64 - 1', orderOf('a', 1, [1n, MAX_RESERVE], [1n, 0n]), true],
    ['not from 2^64 on', orderOf('a', 1, [1n, MAX_RESERVE], [2n, 0n]), false],
    ['rounded down to 2^64 - 1', orderOf('a', 1, [2n, MAX_RESERVE], [2n, 0n]), true],
    ['of the largest rates and balances', orderOf('a', 2, [MAX_RESERVE, MAX_RESERVE], [0n, MAX_RESERVE]), true],
  ])('%s', (_name, order, expected) => {
    expect(isMatchable(order)).toBe(expected);
  });
});

describe('the best orders of both sides', () => {
  const ordersOf = (sells: 1 | 2, count: number) =>
    Array.from({ length: count }, (_, index) => orderOf(`${index}`, sells, [1n, 1n], [1n, 1n]));

  test.each([
    [10, 10, 4, 2, 2],
    [10, 10, 5, 3, 2],
    [10, 1, 6, 5, 1],
    [1, 10, 6, 1, 5],
    [0, 3, 2, 0, 2],
    [3, 0, 2, 2, 0],
    [2, 2, 100, 2, 2],
    [2, 2, 0, 0, 0],
  ])('of %i and %i, %i are %i and %i', (of1, of2, count, expected1, expected2) => {
    const sides = { selling1: ordersOf(1, of1), selling2: ordersOf(2, of2) };
    expect(bestOrders(sides, count)).toEqual([
      ...sides.selling1.slice(0, expected1),
      ...sides.selling2.slice(0, expected2),
    ]);
  });
});
