import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_AMOUNT } from '../../src/domain/amount.ts';
import type { PoolPair } from '../../src/domain/pool-pair.ts';
import { bestQuote, minimumReceived, priceImpactPercent, quotedPrice } from '../../src/domain/quote.ts';
import { exchangeStateOf, poolOf, quotedPoolsOf, tokenId } from './pools.ts';

const [a, b, c] = ['a', 'b', 'c'].map(tokenId) as [string, string, string];
const ab = poolOf(10n ** 12n, 10n ** 12n, { token1Id: a, token2Id: b });
const bc = poolOf(3n * 10n ** 12n, 10n ** 12n, { token1Id: b, token2Id: c });

function sell(pools: readonly PoolPair[], sellAmount: bigint, buyTokenId: string) {
  const state = exchangeStateOf(1_000, pools);
  const request = { sellTokenId: a, buyTokenId, sellAmount, maxHops: 3 };
  const quote = bestQuote(quotedPoolsOf(state), request);
  if (quote === undefined) throw new Error('there is no route');
  return quote;
}

describe('the price of a quote', () => {
  const priceOf = (sellAmount: bigint, buyAmount: bigint, sellDecimals: number, buyDecimals: number) =>
    quotedPrice({ sellTokenId: a, buyTokenId: b, sellAmount, buyAmount }, sellDecimals, buyDecimals);

  test.each([
    ['2', 2n, 1n, 0, 0],
    ['0.666666666666666667', 2n, 3n, 0, 0],
    ['1.5', 3_000_000n, 2_000_000_000n, 6, 9],
    ['1000000000000000000000', 1n, 1n, 9, 30],
    ['0.000000000000000000000000000001', 1n, 1n, 30, 0],
    ['18446744073709551600', MAX_AMOUNT, 1n, 0, 0],
    ['0.0000000000000000000542101086242752217', 1n, MAX_AMOUNT, 0, 0],
    // Rounded up through all nines.
    ['1', 10n ** 19n - 1n, 10n ** 19n, 0, 0],
    ['0.999999999999999999', 10n ** 18n - 1n, 10n ** 18n, 0, 0],
  ])('is %s', (price, sellAmount, buyAmount, sellDecimals, buyDecimals) => {
    expect(priceOf(sellAmount, buyAmount, sellDecimals, buyDecimals)).toBe(price);
  });

  test('is the exact quotient, rounded to at most 18 significant digits', () => {
    const amount = fc.oneof(fc.bigInt(1n, 1_000n), fc.bigInt(1n, MAX_AMOUNT));
    const decimals = fc.integer({ min: 0, max: 30 });
    fc.assert(
      fc.property(amount, amount, decimals, decimals, (sold, bought, d1, d2) => {
        const price = priceOf(sold, bought, d1, d2);
        expect(price).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
        const [whole = '', fraction = ''] = price.split('.');
        const digits = (whole + fraction).replace(/^0+/, '');
        expect(digits.replace(/0+$/, '').length).toBeLessThanOrEqual(18);
        // |price - quotient| <= half a unit of the 18th digit, all multiplied by the denominators.
        const [numerator, denominator] = [sold * 10n ** BigInt(d2), bought * 10n ** BigInt(d1)];
        const scale = 10n ** BigInt(fraction.length);
        const error = BigInt(whole + fraction) * denominator - numerator * scale;
        expect((error < 0n ? -error : error) * 2n * 10n ** 17n).toBeLessThanOrEqual(numerator * scale);
      }),
    );
  });
});

describe('the price impact', () => {
  test('is the share of the trade in the reserve that it is paid into', () => {
    expect(priceImpactPercent(sell([ab], 10n ** 12n, b).route)).toBe(50);
    expect(priceImpactPercent(sell([ab], 3n * 10n ** 12n, b).route)).toBe(75);
  });

  test('has all its digits near 0, and includes the rounding of whole units', () => {
    const deep = poolOf(2n ** 62n, 2n ** 62n, { token1Id: a, token2Id: b });
    const impact = priceImpactPercent(sell([deep], 2n ** 31n + 1n, b).route);
    // Two units are lost: one because of the share of the trade in the reserve, and one to rounding.
    expect(impact).toBe(100 * (2 / (2 ** 31 + 1)));
    expect(priceImpactPercent(sell([ab], 2n, b).route)).toBe(50);
  });

  test('of a route is compared with the product of its spot prices, and composed of those of its steps', () => {
    const { route } = sell([ab, bc], 10n ** 11n, c);
    const [first = 0, second = 0] = route.map((step) => priceImpactPercent([step]));
    const both = 100 * (1 - (1 - first / 100) * (1 - second / 100));
    expect(route).toHaveLength(2);
    expect(priceImpactPercent(route)).toBeCloseTo(both, 10);
    expect(first).toBeCloseTo(100 / 11, 8);
  });

  test('is from 0 to 100', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, MAX_AMOUNT), fc.bigInt(2n, MAX_AMOUNT), fc.bigInt(1n, MAX_AMOUNT), (r1, r2, sent) => {
        const pool = poolOf(r1, r2, { token1Id: a, token2Id: b });
        const state = exchangeStateOf(1_000, [pool]);
        const request = { sellTokenId: a, buyTokenId: b, sellAmount: sent, maxHops: 1 };
        const quote = bestQuote(quotedPoolsOf(state), request);
        if (quote === undefined) return;
        const impact = priceImpactPercent(quote.route);
        expect(impact).toBeGreaterThanOrEqual(0);
        expect(impact).toBeLessThanOrEqual(100);
      }),
    );
  });
});

describe('the minimum received', () => {
  test.each([
    [1_000n, 0.5, 995n],
    [999n, 0.5, 994n],
    [1_000n, 0, 1_000n],
    [1_000n, 100, 0n],
    // As a binary number, a tenth is a little more.
    [1_000n, 0.1, 999n],
    [MAX_AMOUNT, 0, MAX_AMOUNT],
    [MAX_AMOUNT, 1e-7, 18446744055262807541n],
    [MAX_AMOUNT, 5e-324, MAX_AMOUNT - 1n],
    [MAX_AMOUNT, 33.333333333333336, 12297829382473033918n],
    [10n ** 18n, 99.99999999999999, 100n],
  ])('of %s with %s percent is %s', (amount, percent, minimum) => {
    expect(minimumReceived(amount, percent)).toBe(minimum);
  });

  test('is between nothing and all, and does not rise with the slippage', () => {
    const percent = fc.double({ min: 0, max: 100, noNaN: true });
    fc.assert(
      fc.property(fc.bigInt(0n, MAX_AMOUNT), percent, percent, (amount, one, other) => {
        const [more, less] = [
          minimumReceived(amount, Math.min(one, other)),
          minimumReceived(amount, Math.max(one, other)),
        ];
        expect(more).toBeLessThanOrEqual(amount);
        expect(less).toBeLessThanOrEqual(more);
        expect(less).toBeGreaterThanOrEqual(0n);
      }),
    );
  });
});
