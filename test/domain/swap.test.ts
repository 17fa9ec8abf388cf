import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_AMOUNT } from '../../src/domain/amount.ts';
import { PoolSwap } from '../../src/domain/pool-swap.ts';
import {
  amountReceived,
  divideUp,
  isBetterBound,
  noBound,
  optimisticBound,
  type TradeDirection,
} from '../../src/domain/swap.ts';

const amount = fc.bigInt(1n, 2n ** 64n - 1n);

describe('the amount that a pool pays out', () => {
  test('is what the documented price of one whole token follows from', () => {
    expect(amountReceived(171442164981n, 1906314094145580n, 10n ** 9n)).toBe(11054802602110n);
  });

  test.each([
    ['nothing sent', 1_000n, 1_000n, 0n, 0n],
    ['a remaining reserve that is rounded up', 1_000n, 1_000n, 1n, 0n],
    ['the smallest amount that is worth something', 1_000n, 1_000n, 2n, 1n],
    ['twice the reserve', 1_000n, 1_000n, 1_000n, 500n],
    ['an empty side that is paid into', 0n, 1_000n, 5n, 0n],
    ['an empty side that is paid from', 1_000n, 0n, 5n, 0n],
    ['an empty pool and nothing sent', 0n, 0n, 0n, 0n],
  ])('for %s', (_, reserveIn, reserveOut, sent, received) => {
    expect(amountReceived(reserveIn, reserveOut, sent)).toBe(received);
  });

  test('never lets the product of the reserves fall, and is as large as that allows', () => {
    fc.assert(
      fc.property(amount, amount, amount, (reserveIn, reserveOut, sent) => {
        const received = amountReceived(reserveIn, reserveOut, sent);
        const product = reserveIn * reserveOut;
        expect(received).toBeGreaterThanOrEqual(0n);
        expect((reserveIn + sent) * (reserveOut - received)).toBeGreaterThanOrEqual(product);
        expect((reserveIn + sent) * (reserveOut - received - 1n)).toBeLessThan(product);
      }),
    );
  });
});

describe('a quotient that is rounded up', () => {
  test.each([
    [0n, 3n, 0n],
    [1n, 3n, 1n],
    [3n, 3n, 1n],
    [4n, 3n, 2n],
  ])('of %i and %i is %i', (divided, divisor, quotient) => {
    expect(divideUp(divided, divisor)).toBe(quotient);
  });
});

/** The other amount of a trade through a pool of V1; `undefined` if there is none. */
function otherAmount(direction: TradeDirection, known: bigint, ofKnown: bigint, ofOther: bigint): bigint | undefined {
  const [reserveIn, reserveOut] = direction === 'SELLING' ? [ofKnown, ofOther] : [ofOther, ofKnown];
  const amounts = { virtualIn: reserveIn, virtualOut: reserveOut, realIn: reserveIn, realOut: reserveOut };
  const pool = new PoolSwap({ ...amounts, orders: [], maxIn: 2n * MAX_AMOUNT });
  const other = direction === 'SELLING' ? pool.sell(known) : pool.least(known);
  return typeof other === 'bigint' ? other : undefined;
}

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
  /** Expects that the exact amount is not better than its bound. Nothing, or too much, can have a bound. */
  function expectBound(exact: bigint | undefined, optimum: number): void {
    if (exact === undefined) return;
    expect(optimum).not.toBe(noBound(direction));
    const isAtMost = (bound: number) => (direction === 'SELLING' ? exact <= bound : exact >= bound);
    expect([exact, optimum, isAtMost(optimum)]).toEqual([exact, optimum, true]);
  }

  test('the exact amount is not better than the bound of one step', () => {
    fc.assert(
      fc.property(anyReserveAndAmount, anyAmount, ([reserveOfKnown, known], reserveOfOther) => {
        const args = [Number(known), Number(reserveOfKnown), Number(reserveOfOther)] as const;
        expectBound(otherAmount(direction, known, reserveOfKnown, reserveOfOther), optimisticBound(direction, ...args));
      }),
      { numRuns: 1_000 },
    );
  });

  test('the exact amount is not better than the bound of several steps', () => {
    const anyPools = fc.array(fc.tuple(anyAmount, anyAmount), { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(anyPools, anyAmount, (pools, start) => {
        let exact: bigint | undefined = start;
        let optimum = Number(start);
        for (const [reserveOfKnown, reserveOfOther] of pools) {
          const reserves = [Number(reserveOfKnown), Number(reserveOfOther)] as const;
          exact = otherAmount(direction, exact, reserveOfKnown, reserveOfOther);
          optimum = optimisticBound(direction, optimum, ...reserves);
          expectBound(exact, optimum);
          if (exact === undefined) return;
        }
      }),
      { numRuns: 1_000 },
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
        // If the quotient is a whole number, the bound can be one less than what is bought.
        if (divisor <= 0 || product % divisor === 0) return;
        const optimum = optimisticBound(direction, known, reserveOfKnown, reserveOfOther);
        const exact = otherAmount(direction, BigInt(known), BigInt(reserveOfKnown), BigInt(reserveOfOther));
        expect(optimum).toBe(Number(exact ?? 0n));
      }),
    );
  });
});
