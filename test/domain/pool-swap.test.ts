import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_AMOUNT } from '../../src/domain/amount.ts';
import { matchableTerms, ordersSelling } from '../../src/domain/pool-order.ts';
import type { PoolPair } from '../../src/domain/pool-pair.ts';
import { PoolSwap } from '../../src/domain/pool-swap.ts';
import { A, anyAmountOfV3, anyPoolOfV3, B } from './v3-pools.ts';
import { swapSlowly } from './v3-swap.ts';

function swapOf({ reserve1, reserve2, v3 }: PoolPair, sells: 1 | 2): PoolSwap {
  const [value1, value2] = [v3?.value1 ?? 0n, v3?.value2 ?? 0n];
  const [virtualIn, virtualOut] = sells === 1 ? [reserve1, reserve2] : [reserve2, reserve1];
  const [realIn, realOut] = sells === 1 ? [value1, value2] : [value2, value1];
  const orders = matchableTerms(ordersSelling(v3?.orders ?? [], sells === 1 ? 2 : 1));
  return new PoolSwap({ virtualIn, virtualOut, realIn, realOut, orders });
}

const slowly = (pool: PoolPair, sells: 1 | 2, amount: bigint) => {
  const swapped = swapSlowly(pool, sells === 1 ? A : B, amount);
  return typeof swapped === 'string' ? swapped : swapped.bought;
};

/** Amounts around everything that a trade of one of them passes. */
function amountsAround(pool: PoolPair, amounts: readonly bigint[]): bigint[] {
  const filled = (pool.v3?.orders ?? []).map(({ sells, rate1, rate2, balance1, balance2 }) =>
    sells === 1 ? (balance1 * rate2) / rate1 : (balance2 * rate1) / rate2,
  );
  let sum = 0n;
  const sums = filled.map((amount) => {
    sum += amount;
    return sum;
  });
  return [...amounts, ...filled, ...sums]
    .flatMap((amount) => [amount - 1n, amount, amount + 1n, amount * 2n])
    .filter((amount) => amount > 0n && amount <= MAX_AMOUNT);
}

const anyPool = anyPoolOfV3([A, B], 0);
const anySide = fc.constantFrom<1 | 2>(1, 2);

describe('a trade through one pool of V3', () => {
  test('gives what the exchange gives step by step, or is refused for the same reason', () => {
    let accepted = 0;
    fc.assert(
      fc.property(anyPool, anySide, fc.array(anyAmountOfV3, { minLength: 1, maxLength: 6 }), (pool, sells, amounts) => {
        const swap = swapOf(pool, sells);
        for (const amount of amountsAround(pool, amounts)) {
          const sold = swap.sell(amount);
          if (typeof sold === 'bigint') accepted += 1;
          expect([amount, sold]).toEqual([amount, slowly(pool, sells, amount)]);
        }
      }),
      { numRuns: 200 },
    );
    expect(accepted).toBeGreaterThan(600);
  });

  test('never gives less for more, where it is accepted', () => {
    fc.assert(
      fc.property(anyPool, anySide, fc.array(anyAmountOfV3, { minLength: 4, maxLength: 9 }), (pool, sells, amounts) => {
        const swap = swapOf(pool, sells);
        const ascending = amountsAround(pool, amounts).sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
        const bought = ascending.map((amount) => swap.sell(amount)).filter((each) => typeof each === 'bigint');
        for (const [index, each] of bought.entries()) expect(each >= (bought[index - 1] ?? 0n)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

describe('the least amount that buys an amount', () => {
  test('is the first of all amounts that is accepted and buys as much', () => {
    const small = anyPoolOfV3([A, B], 0, 6).map((pool): PoolPair => {
      const less = (amount: bigint) => amount % 50n;
      const { v3 } = pool;
      if (v3 === undefined) return pool;
      const orders = v3.orders?.map((order) => ({
        ...order,
        balance1: order.balance1 % 40n,
        balance2: order.balance2 % 40n,
      }));
      const [value1, value2] = [less(v3.value1), less(v3.value2)];
      // Virtual amounts are never below what the pool holds.
      const [reserve1, reserve2] = [value1 + less(pool.reserve1) * 2n, value2 + less(pool.reserve2) * 2n];
      return { ...pool, reserve1, reserve2, v3: { ...v3, value1, value2, orders } };
    });
    let found = 0;
    fc.assert(
      fc.property(small, anySide, fc.bigInt(1n, 60n), fc.bigInt(1n, 120n), (pool, sells, wanted, from) => {
        const swap = swapOf(pool, sells);
        let least: bigint | undefined;
        for (let amount = from; least === undefined && amount < 3_000n; amount++) {
          const bought = swap.sell(amount);
          if (typeof bought === 'bigint' && bought >= wanted) least = amount;
        }
        const first = swapOf(pool, sells).least(wanted, from);
        if (least !== undefined) found += 1;
        if (first !== undefined && first >= 3_000n) expect(least).toBeUndefined();
        else expect(first).toBe(least);
      }),
      { numRuns: 500 },
    );
    expect(found).toBeGreaterThan(20);
  });

  test('of any magnitude is accepted and buys as much, and one unit less does not', () => {
    fc.assert(
      fc.property(anyPool, anySide, anyAmountOfV3, anyAmountOfV3, (pool, sells, wanted, other) => {
        const swap = swapOf(pool, sells);
        const buysEnough = (amount: bigint) => {
          const bought = slowly(pool, sells, amount);
          return typeof bought === 'bigint' && bought >= wanted;
        };
        const least = swap.least(wanted);
        const amounts = amountsAround(pool, [other, wanted, ...(least === undefined ? [] : [least])]);
        for (const amount of amounts)
          expect([amount, buysEnough(amount) && (least === undefined || amount < least)]).toEqual([amount, false]);
        if (least !== undefined) expect(buysEnough(least)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
