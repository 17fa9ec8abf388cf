import { describe, expect, test } from 'vitest';
import {
  formatBytes,
  formatCompact,
  formatInColumn,
  formatInteger,
  formatPercent,
  formatPrice,
  formatQuantity,
  formatUsd,
  formatUsdPrice,
  priceFormatOf,
} from '../../src/format/numbers.ts';

const UNKNOWN = [null, undefined, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

const CASES: readonly [string, (value: number | null | undefined) => string, readonly (readonly [number, string])[]][] =
  [
    [
      'formatPrice',
      formatPrice,
      [
        [0, '0'],
        [-0, '0'],
        [12_301.957822585304, '12,301.96'],
        [1_234_567_890.5, '1,234,567,890.50'],
        [999.5, '999.5000'],
        [12.3456789, '12.3457'],
        [1.1, '1.1000'],
        [0.1 + 0.2, '0.30000'],
        [0.00123456, '0.0012346'],
        [4e-9, '0.0000000040000'],
        [4.1e-15, '4.1000E-15'],
        [-12.5, '-12.5000'],
        [Number.MIN_VALUE, '5.0000E-324'],
      ],
    ],
    [
      'formatQuantity',
      formatQuantity,
      [
        [0, '0'],
        [1_234.5678, '1,234.6'],
        [42.638476097, '42.638'],
        [0.30000000000000004, '0.3'],
        [0.000012345678, '0.000012346'],
        [123_456.7, '123,457'],
        [12_345_678, '12.35M'],
        [-5, '-5'],
        [1e-15, '1E-15'],
      ],
    ],
    [
      'formatCompact',
      formatCompact,
      [
        [0, '0'],
        [999, '999'],
        [12_345, '12.35K'],
        [4_567_890_000, '4.568B'],
        [1.5e12, '1.5T'],
        [1.234e18, '1.23E18'],
        [-12_345, '-12.35K'],
      ],
    ],
    [
      'formatUsdPrice',
      formatUsdPrice,
      [
        [0, '$0'],
        [12_301.956, '$12,301.96'],
        [1, '$1.0000'],
        [0.00123456, '$0.0012346'],
      ],
    ],
    [
      'formatUsd',
      formatUsd,
      [
        [0, '$0'],
        [456.7, '$456.7'],
        [12_345, '$12.35K'],
        [1_234_567, '$1.235M'],
      ],
    ],
    [
      'formatPercent',
      formatPercent,
      [
        [0, '0.00%'],
        [1.234, '+1.23%'],
        [-0.4, '-0.40%'],
        [-0.001, '0.00%'],
        [0.001, '0.00%'],
        [123_456, '+123.5K%'],
        [-99.999, '-100.00%'],
      ],
    ],
    [
      'formatInteger',
      formatInteger,
      [
        [0, '0'],
        [1_640_000, '1,640,000'],
        [-3, '-3'],
        [2 ** 53 - 1, '9,007,199,254,740,991'],
      ],
    ],
    [
      'formatBytes',
      formatBytes,
      [
        [0, '0 B'],
        [512, '512 B'],
        [1_024, '1 KiB'],
        [1_572_864, '1.5 MiB'],
        [2 ** 50, '1,020 TiB'],
      ],
    ],
  ];

describe.each(CASES)('%s', (_name, format, cases) => {
  test.each(cases)('writes %s as %s', (value, text) => {
    expect(format(value)).toBe(text);
  });

  test.each(UNKNOWN)('writes %s as a dash', (value) => {
    expect(format(value)).toBe('–');
  });
});

test('the prices of a column have as many digits as tell them apart, at most four more than a price alone', () => {
  const write = (prices: readonly number[]) => prices.map(priceFormatOf(prices));
  expect(write([0.10766, 0.1077, 0.11])).toEqual(['0.10766', '0.10770', '0.11000']);
  expect(write([0.10766, 0.107664, 0.1077])).toEqual(['0.107660', '0.107664', '0.107700']);
  expect(write([0.106797403, 0.106797425, 12_301.9])).toEqual(['0.10679740', '0.10679743', '12,301.90000']);
  expect(write([4.1e-15, 4.10001e-15])).toEqual(['4.10000E-15', '4.10001E-15']);
  expect(write([12_301.96, 12_301.96])).toEqual(['12,301.96', '12,301.96']);
  expect(write([1, 1.000000000001])).toEqual(['1.00000000', '1.00000000']);
  expect(write([])).toEqual([]);
});

test('the best bid and the best ask of an order book are told apart, also of a crossed one', () => {
  const write = (bids: readonly number[], asks: readonly number[]) =>
    [...bids, ...asks].map(priceFormatOf([...bids, ...asks]));
  expect(write([11_845.901, 11_800.1], [11_845.902, 11_900.2])).toEqual([
    ...['11,845.901', '11,800.100'],
    ...['11,845.902', '11,900.200'],
  ]);
  expect(write([11_900.2, 11_845.902], [11_845.901, 11_850])).toEqual([
    ...['11,900.200', '11,845.902'],
    ...['11,845.901', '11,850.000'],
  ]);
});

test('the quantities of a column are aligned, or short if the largest one is very large', () => {
  expect([0.001535, 1.0389, 0].map((value) => formatInColumn(value, 1.97))).toEqual(['0.00154', '1.03890', '0']);
  expect([9.8e-7, 1.234e-9, 0.00001].map((value) => formatInColumn(value, 1.97))).toEqual([
    '0.00000098',
    '0.0000000012',
    '0.00001',
  ]);
  expect([formatInColumn(0.000123, 0.000123), formatInColumn(123_456, 123_456)]).toEqual(['0.000123000', '123,456']);
  expect([formatInColumn(591_142_774, 1.6e9), formatInColumn(12_345.678, 1.6e9)]).toEqual(['591.1M', '12,346']);
  expect([formatInColumn(0, 0), formatInColumn(1, Number.NaN)]).toEqual(['0', '1.00']);
  expect([null, undefined, Number.NaN, Number.POSITIVE_INFINITY].map((value) => formatInColumn(value, 2))).toEqual(
    Array(4).fill('–'),
  );
});
