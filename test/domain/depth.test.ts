import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { poolDepths } from '../../src/domain/depth.ts';
import { parseExactDecimal } from '../../src/domain/exact-decimal.ts';
import { amountReceived } from '../../src/domain/swap.ts';
import { poolOf, someReserve } from './pools.ts';

const anyPercent = fc.oneof(
  fc.constantFrom(0.5, 1, 2, 5, 10, 21, 44, 99, 1e-9, 99.999999),
  fc.double({ min: 1e-12, max: 99.999, noNaN: true }),
);

/** The percentage as a fraction of whole numbers. */
function toFraction(percent: number): readonly [bigint, bigint] {
  const { units, scale } = parseExactDecimal(String(percent)) ?? { units: 0n, scale: 0 };
  return [units, 100n * 10n ** BigInt(scale)];
}

describe('the depth of a pool', () => {
  test('is known where the roots are whole numbers', () => {
    // 21 % more is 1.1 times the reserve; 19 % less is 1 / 0.9 of it.
    expect(poolDepths(poolOf(1_000_000n, 9_000n), [21, 19])).toEqual([
      { percent: 21, upToken1: 100_000n, upToken2: 818n, downToken2: 1_126n, downToken1: 111_198n },
      { percent: 19, upToken1: 90_872n, upToken2: 749n, downToken2: 1_000n, downToken1: 100_000n },
    ]);
  });

  test('pays the smallest amount that reaches the price, of any reserves and any percentage', () => {
    fc.assert(
      fc.property(someReserve, someReserve, anyPercent, (reserve1, reserve2, percent) => {
        const [depth] = poolDepths(poolOf(reserve1, reserve2), [percent]);
        if (depth === undefined) throw new Error('no depth');
        const [part, whole] = toFraction(percent);
        // On the curve the price is reserve1² / product, so it rises as the square of reserve 1 does.
        const reaches = (paid: bigint) => (reserve1 + paid) ** 2n * whole >= reserve1 ** 2n * (whole + part);
        expect([reaches(depth.upToken1), reaches(depth.upToken1 - 1n)]).toEqual([true, false]);
        const falls = (paid: bigint) => (reserve2 + paid) ** 2n * (whole - part) >= reserve2 ** 2n * whole;
        expect([falls(depth.downToken2), falls(depth.downToken2 - 1n)]).toEqual([true, false]);
        expect(depth.upToken2).toBe(amountReceived(reserve1, reserve2, depth.upToken1));
        expect(depth.downToken1).toBe(amountReceived(reserve2, reserve1, depth.downToken2));
      }),
    );
  });

  test('is what trading one smallest unit after another comes to', () => {
    const reserve = fc.bigInt(1n, 2_000n);
    fc.assert(
      fc.property(reserve, reserve, fc.integer({ min: 1, max: 60 }), (reserve1, reserve2, percent) => {
        const [depth] = poolDepths(poolOf(reserve1, reserve2), [percent]);
        const product = reserve1 * reserve2;
        const stepwise = (paidInto: bigint, isThere: (reserve: bigint) => boolean) => {
          let held = paidInto;
          while (!isThere(held)) held += 1n;
          return held - paidInto;
        };
        const p = BigInt(percent);
        // The price is reserve1 / (product / reserve1) before rounding, and the product stays the same.
        const up = stepwise(reserve1, (held) => held * held * 100n * reserve2 >= product * reserve1 * (100n + p));
        const down = stepwise(reserve2, (held) => product * reserve2 * 100n <= held * held * reserve1 * (100n - p));
        const remaining = (paid: bigint) => (product % paid === 0n ? product / paid : product / paid + 1n);
        expect(depth).toEqual({
          percent,
          upToken1: up,
          upToken2: reserve2 - remaining(reserve1 + up),
          downToken2: down,
          downToken1: reserve1 - remaining(reserve2 + down),
        });
      }),
    );
  });

  test('has an entry for each percentage, in their order, and none of a pool with an empty side', () => {
    expect(poolDepths(poolOf(10n, 10n), [5, 1, 5]).map(({ percent }) => percent)).toEqual([5, 1, 5]);
    expect(poolDepths(poolOf(0n, 10n), [5])).toEqual([]);
    expect(poolDepths(poolOf(10n, 0n), [5])).toEqual([]);
  });
});
