import { expect, test } from 'vitest';
import { formatAmount, formatBigInt, formatDecimal, formatExactAmount } from '../../src/format/amounts.ts';

const MAX_UINT64 = '18446744073709551615';

test.each([
  ['0', 9, '0'],
  ['1', 9, '0.000000001'],
  ['1000000000', 9, '1'],
  ['1976118305078141', 9, '1,976,118.305078141'],
  ['-1500', 3, '-1.5'],
  [MAX_UINT64, 9, '18,446,744,073.709551615'],
  [MAX_UINT64, 0, '18,446,744,073,709,551,615'],
  [MAX_UINT64, null, '18,446,744,073,709,551,615'],
  [1_500n, 3, '1.5'],
  [null, 9, '–'],
  [undefined, 9, '–'],
  ['1.5', 9, '–'],
] as const)('%s with %s decimals is exactly %s', (amount, decimals, text) => {
  expect(formatExactAmount(amount, decimals)).toBe(text);
});

test.each([
  ['0', 9, '0'],
  ['1234567890', 9, '1.23456'],
  ['1999999999', 9, '1.99999'],
  ['999999', 9, '0.000999999'],
  ['123456789', 18, '0.000000000123456'],
  ['1976118305078141', 9, '1.976M'],
  ['100000000000000', 9, '100,000'],
  [MAX_UINT64, 0, '1.84E19'],
  [null, 9, '–'],
] as const)('%s with %s decimals is %s in short', (amount, decimals, text) => {
  expect(formatAmount(amount, decimals)).toBe(text);
});

test.each([
  ['12235.303569178', '12,235.303569178'],
  ['0.000000004', '0.000000004'],
  ['-1234567', '-1,234,567'],
  ['4e-9', '4e-9'],
  [null, '–'],
] as const)('the decimal %s is written as %s, with all of its digits', (decimal, text) => {
  expect(formatDecimal(decimal)).toBe(text);
});

test('a large integer has separators', () => {
  expect(formatBigInt('123456789012345678901234567890')).toBe('123,456,789,012,345,678,901,234,567,890');
});
