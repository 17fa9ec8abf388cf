import { expect, test } from 'vitest';
import { MAX_AMOUNT, parseAmount } from '../../src/domain/amount.ts';

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
