import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_AMOUNT } from '../../src/domain/amount.ts';
import {
  isBetterBound,
  noBound,
  optimisticBound,
  otherAmount,
  pessimisticBound,
  type TradeDirection,
} from '../../src/domain/trade-direction.ts';

const DIRECTIONS: readonly TradeDirection[] = ['SELLING', 'BUYING'];

const anyAmount = fc.oneof(
  fc.bigInt(1n, 1_000n),
  fc.bigInt(1n, 10n ** 12n),
  fc.bigInt(2n ** 53n - 10n, 2n ** 53n + 10n),
  fc.bigInt(1n, MAX_AMOUNT),
  fc.bigInt(MAX_AMOUNT - 100n, MAX_AMOUNT),
);

/** A reserve, and an amount that is often near the whole reserve. */
const nearReserve = fc
  .tuple(anyAmount, fc.oneof(fc.bigInt(-3n, 3n), fc.bigInt(-(2n ** 12n), 2n ** 12n)))
  .map(([reserve, difference]) => [reserve, reserve + difference] as const)
  .filter(([, amount]) => amount > 0n && amount <= MAX_AMOUNT);

const anyReserveAndAmount = fc.oneof(nearReserve, fc.tuple(anyAmount, anyAmount));

describe.each(DIRECTIONS)('when %s', (direction) => {
  /** Expects that the exact amount is between its bounds. */
  function expectBetween(exact: bigint | undefined, optimum: number, worst: number): void {
    if (exact === undefined) {
      // Nothing, or too much: only the optimistic bound can be an amount.
      if (direction === 'SELLING') expect(worst).toBe(0);
      else expect(worst).toBeGreaterThan(Number(MAX_AMOUNT) / 2);
      return;
    }
    expect(optimum).not.toBe(noBound(direction));
    const isAtMost = (bound: number) => (direction === 'SELLING' ? exact <= bound : exact >= bound);
    expect([exact, optimum, isAtMost(optimum)]).toEqual([exact, optimum, true]);
    const isAtLeast = direction === 'SELLING' ? exact >= worst : exact <= worst;
    expect([exact, worst, isAtLeast]).toEqual([exact, worst, true]);
  }

  test('the exact amount is between the bounds of one step', () => {
    fc.assert(
      fc.property(anyReserveAndAmount, anyAmount, ([reserveOfKnown, known], reserveOfOther) => {
        const args = [Number(known), Number(reserveOfKnown), Number(reserveOfOther)] as const;
        expectBetween(
          otherAmount(direction, known, reserveOfKnown, reserveOfOther),
          optimisticBound(direction, ...args),
          pessimisticBound(direction, ...args),
        );
      }),
      { numRuns: 20_000 },
    );
  });

  test('the exact amount is between the bounds of several steps', () => {
    const anyPools = fc.array(fc.tuple(anyAmount, anyAmount), { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(anyPools, anyAmount, (pools, start) => {
        let exact: bigint | undefined = start;
        let [optimum, worst] = [Number(start), Number(start)];
        for (const [reserveOfKnown, reserveOfOther] of pools) {
          const reserves = [Number(reserveOfKnown), Number(reserveOfOther)] as const;
          exact = otherAmount(direction, exact, reserveOfKnown, reserveOfOther);
          optimum = optimisticBound(direction, optimum, ...reserves);
          worst = pessimisticBound(direction, worst, ...reserves);
          expectBetween(exact, optimum, worst);
          if (exact === undefined) return;
        }
      }),
      { numRuns: 20_000 },
    );
  });

  test('a bound is better than none, and not better than itself', () => {
    expect(isBetterBound(direction, 5, noBound(direction))).toBe(true);
    expect(isBetterBound(direction, 5, 5)).toBe(false);
    expect(isBetterBound(direction, noBound(direction), noBound(direction))).toBe(false);
  });

  test('bounds of small amounts are exact', () => {
    const small = fc.integer({ min: 1, max: 2 ** 24 });
    fc.assert(
      fc.property(small, small, small, (known, reserveOfKnown, reserveOfOther) => {
        const product = known * reserveOfOther;
        const divisor = direction === 'SELLING' ? reserveOfKnown + known : reserveOfKnown - known;
        // If the quotient is a whole number, only one bound has to be exact.
        if (divisor <= 0 || product % divisor === 0) return;
        const optimum = optimisticBound(direction, known, reserveOfKnown, reserveOfOther);
        expect(pessimisticBound(direction, known, reserveOfKnown, reserveOfOther)).toBe(optimum);
      }),
    );
  });
});
