import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PoolPair } from '../../src/domain/pool-pair.ts';
import {
  basePrice,
  exactBasePrice,
  exactPriceOfToken2,
  priceOfToken1,
  priceOfToken2,
  spotPriceOfToken2,
} from '../../src/domain/price.ts';
import { anyDecimals, anyReserve, poolOf, someReserve, tokenId } from './pools.ts';

/** The prices that a pool quotes, all of them. */
function quotes(pool: PoolPair, decimals1: number, decimals2: number) {
  return {
    price: priceOfToken2(pool, decimals1, decimals2),
    inverse: priceOfToken1(pool, decimals1, decimals2),
    exact: exactPriceOfToken2(pool, decimals1, decimals2),
    spot: spotPriceOfToken2(pool, decimals1, decimals2),
  };
}

describe('the price of one whole token', () => {
  test('is the documented one for the documented example', () => {
    expect(quotes(poolOf(1_906_314_094_145_580n, 171_442_164_981n), 9, 9)).toEqual({
      price: 11054.80260211,
      inverse: 0.000089933,
      exact: '11054.802602110',
      spot: 11119.28383753697,
    });
  });

  test('of an amplified pool of V3 follows from its virtual amounts', () => {
    const [amplified, held] = [
      poolOf(4_071_787_471_604_935n, 1_092_784_219_315n),
      poolOf(1_857_546_123_456_789n, 494_907_434_130n),
    ];
    const { spot = 0, ...prices } = quotes(amplified, 9, 6);
    expect(prices).toEqual({ price: 3.726063822, inverse: 0.268379, exact: '3.726063822' });
    expect(1 / spot).toBeCloseTo(0.2683794836876072, 15);
    expect(quotes(held, 9, 6)).toMatchObject({ price: 3.753312724, inverse: 0.26643 });
  });

  test.each([
    ['a pool of the two smallest amounts', 1n, 1n, 0, 0, 0, '0'],
    ['a pool that the price nearly empties', 2n ** 64n - 1n, 1n, 0, 0, 2 ** 63, '9223372036854775807'],
    ['a side larger than 2^53', 9_007_199_254_740_993n, 1_000_000_000n, 9, 9, 4503599.627370496, '4503599.627370496'],
    ['two sides as large as can be', 2n ** 64n - 1n, 2n ** 64n - 1n, 9, 9, 1.000001536, '0.999999999'],
    [
      'sides so large that rounding errors exceed the price',
      7n * 10n ** 18n,
      7n * 10n ** 18n,
      9,
      0,
      -0.000001024,
      '0.000000000',
    ],
    ['the most decimals', 1n, 1n, 30, 30, 0, '0.000000000000000000000000000000'],
  ])('the price of %s is as documented, and the exact one beside it', (_, t1, t2, d1, d2, price, exact) => {
    const { price: priceNow, exact: exactNow } = quotes(poolOf(t1, t2), d1, d2);
    expect({ price: priceNow, exact: exactNow }).toEqual({ price, exact });
  });

  test.each([
    ['token 1', 0n, 5n],
    ['token 2', 5n, 0n],
    ['either', 0n, 0n],
  ])('a pool without %s has no price', (_, reserve1, reserve2) => {
    const nothing = { price: undefined, inverse: undefined, exact: undefined, spot: undefined };
    expect(quotes(poolOf(reserve1, reserve2), 9, 9)).toEqual(nothing);
  });
});

describe('the arithmetic of prices', () => {
  test('is the documented formula in floating point, to the last bit', () => {
    fc.assert(
      fc.property(someReserve, someReserve, anyDecimals, anyDecimals, (reserve1, reserve2, d1, d2) => {
        const T1 = Number(reserve1);
        const T2 = Number(reserve2);
        const x = Math.ceil((T2 * T1) / (T2 + Number(`1e${d2}`)));
        expect(priceOfToken2(poolOf(reserve1, reserve2), d1, d2)).toBe((T1 - x) / Number(`1e${d1}`));
      }),
      { numRuns: 2_000 },
    );
  });

  test('is the same formula in rational numbers for the exact price, to the last unit', () => {
    fc.assert(
      fc.property(someReserve, someReserve, anyDecimals, anyDecimals, (reserve1, reserve2, d1, d2) => {
        const exact = exactPriceOfToken2(poolOf(reserve1, reserve2), d1, d2);
        expect(exact).toBe(exactByLongDivision(reserve1, reserve2, d1, d2));
      }),
      { numRuns: 2_000 },
    );
  });

  test('is the same for both tokens, with the sides swapped', () => {
    fc.assert(
      fc.property(anyReserve, anyReserve, anyDecimals, anyDecimals, (reserve1, reserve2, d1, d2) => {
        const inverse = priceOfToken1(poolOf(reserve1, reserve2), d1, d2);
        expect(inverse).toBe(priceOfToken2(poolOf(reserve2, reserve1), d2, d1));
      }),
    );
  });

  test('gives finite numbers for every pool with two sides', () => {
    fc.assert(
      fc.property(someReserve, someReserve, anyDecimals, anyDecimals, (reserve1, reserve2, d1, d2) => {
        const { price, inverse, spot } = quotes(poolOf(reserve1, reserve2), d1, d2);
        expect([price, inverse, spot].every(Number.isFinite)).toBe(true);
      }),
    );
  });
});

describe('the price of one whole base token in target tokens', () => {
  const [token1Id, token2Id] = [tokenId('a'), tokenId('b')];
  const MOST = 2n ** 64n - 1n;

  test('is target per base, whichever token of the pool the base is', () => {
    // 10 whole tokens 1 with 9 decimals, 1,000 whole tokens 2 with 6: a token 1 is worth about 100 tokens 2.
    const pool = poolOf(10_000_000_000n, 1_000_000_000n);
    expect([basePrice(pool, token1Id, 9, 6), exactBasePrice(pool, token1Id, 9, 6)]).toEqual([90.90909, '90.909090']);
    expect([basePrice(pool, token2Id, 9, 6), exactBasePrice(pool, token2Id, 9, 6)]).toEqual([
      0.009990009,
      '0.009990009',
    ]);
  });

  test.each([
    ['the two smallest amounts', 1n, 1n, 0, 0, [0, '0'], [0, '0']],
    ['nothing left of token 1', MOST, 1n, 0, 0, [0, '0'], [2 ** 63, '9223372036854775807']],
    ['nothing left of token 2', 1n, MOST, 0, 0, [2 ** 63, '9223372036854775807'], [0, '0']],
    [
      'two sides as large as can be',
      MOST,
      MOST,
      0,
      18,
      [0, '0.000000000000000000'],
      [948577510136932400, '948577510136932366'],
    ],
  ])('of %s', (_, reserve1, reserve2, d1, d2, ofToken1, ofToken2) => {
    const pool = poolOf(reserve1, reserve2);
    expect([basePrice(pool, token1Id, d1, d2), exactBasePrice(pool, token1Id, d1, d2)]).toEqual(ofToken1);
    expect([basePrice(pool, token2Id, d1, d2), exactBasePrice(pool, token2Id, d1, d2)]).toEqual(ofToken2);
  });

  test('is the documented price of the pool with the base as token 2', () => {
    fc.assert(
      fc.property(someReserve, someReserve, anyDecimals, anyDecimals, (reserve1, reserve2, d1, d2) => {
        const pool = poolOf(reserve1, reserve2);
        expect(basePrice(pool, token2Id, d1, d2)).toBe(priceOfToken2(pool, d1, d2));
        expect(exactBasePrice(pool, token2Id, d1, d2)).toBe(exactByLongDivision(reserve1, reserve2, d1, d2));
        expect(basePrice(pool, token1Id, d1, d2)).toBe(priceOfToken2(poolOf(reserve2, reserve1), d2, d1));
        expect(exactBasePrice(pool, token1Id, d1, d2)).toBe(exactByLongDivision(reserve2, reserve1, d2, d1));
      }),
      { numRuns: 1_000 },
    );
  });

  test('is undefined for a pool with an empty side', () => {
    for (const pool of [poolOf(0n, 5n), poolOf(5n, 0n)]) {
      expect([basePrice(pool, token1Id, 9, 9), exactBasePrice(pool, token2Id, 9, 9)]).toEqual([undefined, undefined]);
    }
  });
});

/**
 * `T1 - ceil(T1 * T2 / (T2 + D))` with `D = 10^d2` is `floor(T1 * D / (T2 + D))`, as `T1` is whole: another way to the
 * same number, written down a digit at a time.
 */
function exactByLongDivision(T1: bigint, T2: bigint, d1: number, d2: number): string {
  const D = BigInt(`1${'0'.repeat(d2)}`);
  const units = (T1 * D) / (T2 + D);
  const one = BigInt(`1${'0'.repeat(d1)}`);

  let text = String(units / one);
  let rest = units % one;
  for (let place = 0; place < d1; place++) {
    rest *= 10n;
    text += place === 0 ? `.${rest / one}` : String(rest / one);
    rest %= one;
  }
  return text;
}
