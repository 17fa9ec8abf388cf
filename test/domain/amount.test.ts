import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_AMOUNT, parseAmount, toDecimal } from '../../src/domain/amount.ts';
import { anyDecimals } from './pools.ts';

test.each([
  ['0', 0n],
  ['18446744073709551615', MAX_AMOUNT],
  [9_007_199_254_740_991, 9_007_199_254_740_991n],
  ['18446744073709551616', undefined],
  [9_007_199_254_740_992, undefined],
  ['-1', undefined],
  [-1, undefined],
  [1.5, undefined],
  ['1.0', undefined],
  ['01', undefined],
  ['1e3', undefined],
  ['0x10', undefined],
  [' 1', undefined],
  ['', undefined],
  [null, undefined],
  [true, undefined],
  [['1'], undefined],
])('%j as an amount is %s', (value, amount) => {
  expect(parseAmount(value)).toBe(amount);
});

describe('smallest units as whole tokens', () => {
  test.each([
    [11_054_802_602_110n, 9, '11054.802602110'],
    [0n, 0, '0'],
    [0n, 3, '0.000'],
    [1n, 3, '0.001'],
    [999n, 3, '0.999'],
    [1_000n, 3, '1.000'],
    [-1n, 3, '-0.001'],
    [-1_500n, 3, '-1.500'],
    [-7n, 0, '-7'],
    [2n ** 64n - 1n, 0, '18446744073709551615'],
    [2n ** 64n - 1n, 20, '0.18446744073709551615'],
    [1n, 30, '0.000000000000000000000000000001'],
  ])('%s units of a token with %i decimals are %s', (units, decimals, text) => {
    expect(toDecimal(units, decimals)).toBe(text);
  });

  test('lose nothing: without its point the text is the units again, with all decimals', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 64n), 2n ** 64n), anyDecimals, (units, decimals) => {
        const text = toDecimal(units, decimals);
        expect(BigInt(text.replace('.', ''))).toBe(units);
        expect(text.split('.')[1]?.length ?? 0).toBe(decimals);
        expect(text).toMatch(/^-?(0|[1-9]\d*)(\.\d+)?$/);
      }),
    );
  });
});
