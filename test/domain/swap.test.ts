import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { amountReceived, amountRequired, divideUp } from '../../src/domain/swap.ts';

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

describe('the amount that a pool must be sent', () => {
  test('is the smallest for which it pays out at least what is wanted, which is less than its reserve', () => {
    fc.assert(
      fc.property(amount, amount, amount, (reserveIn, reserveOut, wanted) => {
        const required = amountRequired(reserveIn, reserveOut, wanted);
        expect(required === undefined).toBe(wanted >= reserveOut);
        if (required === undefined) return;
        expect(amountReceived(reserveIn, reserveOut, required)).toBeGreaterThanOrEqual(wanted);
        expect(amountReceived(reserveIn, reserveOut, required - 1n)).toBeLessThan(wanted);
      }),
    );
  });

  test.each([
    ['an empty side that is paid into', 0n, 1_000n],
    ['an empty side that is paid from', 1_000n, 0n],
    ['all that is there', 1_000n, 5n],
  ])('does not exist for %s', (_, reserveIn, reserveOut) => {
    expect(amountRequired(reserveIn, reserveOut, 5n)).toBeUndefined();
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
