import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchableTerms, ordersSelling } from '../../src/domain/pool-order.ts';
import type { PoolPair } from '../../src/domain/pool-pair.ts';
import { PoolSwap, type SwapSide } from '../../src/domain/pool-swap.ts';
import { SwapBound } from '../../src/domain/swap-bound.ts';
import { A, anyAmountOfV3, anyPoolOfV3, B } from './v3-pools.ts';

function sideOf({ reserve1, reserve2, v3 }: PoolPair, sells: 1 | 2): SwapSide {
  const [value1, value2] = [v3?.value1 ?? 0n, v3?.value2 ?? 0n];
  const [virtualIn, virtualOut] = sells === 1 ? [reserve1, reserve2] : [reserve2, reserve1];
  const [realIn, realOut] = sells === 1 ? [value1, value2] : [value2, value1];
  const orders = matchableTerms(ordersSelling(v3?.orders ?? [], sells === 1 ? 2 : 1));
  return { virtualIn, virtualOut, realIn, realOut, orders };
}

const anySide = fc
  .tuple(anyPoolOfV3([A, B], 0), fc.constantFrom<1 | 2>(1, 2))
  .map(([pool, sells]) => sideOf(pool, sells))
  .filter(({ realIn, realOut }) => realIn > 0n && realOut > 0n);

test('a trade buys at most as much as its bound, and the bound is near', () => {
  let [near, all] = [0, 0];
  fc.assert(
    fc.property(anySide, anyAmountOfV3, (side, sold) => {
      const bought = new PoolSwap(side).sell(sold);
      if (typeof bought === 'string') return;
      const most = new SwapBound(side).optimum('SELLING', Number(sold));
      expect(most).toBeGreaterThanOrEqual(Number(bought));
      all += 1;
      if (most <= Number(bought) * 1.01 + 2) near += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(all).toBeGreaterThan(200);
  expect(near / all).toBeGreaterThan(0.6);
});

test('an amount costs at least as much as its bound, and the bound is near', () => {
  let [near, all] = [0, 0];
  fc.assert(
    fc.property(anySide, anyAmountOfV3, (side, wanted) => {
      const sold = new PoolSwap(side).least(wanted);
      if (sold === undefined) return;
      const least = new SwapBound(side).optimum('BUYING', Number(wanted));
      expect(least).toBeLessThanOrEqual(Number(sold));
      all += 1;
      if (least >= Number(sold) * 0.99 - 2) near += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(all).toBeGreaterThan(160);
  expect(near / all).toBeGreaterThan(0.8);
});
