import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addExact,
  compareExact,
  type ExactDecimal,
  formatExactDecimal,
  parseExactDecimal,
  roundToMultiple,
  toExactDecimal,
} from '../../src/domain/exact-decimal.ts';

describe('the text of a decimal number', () => {
  test.each([
    ['0', 0n, 0],
    ['-0', 0n, 0],
    ['0.000', 0n, 0],
    ['1.50', 15n, 1],
    ['-12.5', -125n, 1],
    ['4e-9', 4n, 9],
    ['1.80E-8', 18n, 9],
    ['1e+2', 100n, 0],
    ['1.25e1', 125n, 1],
    ['100', 100n, 0],
    ['0.0019515830000000002', 19515830000000002n, 19],
    ['18446744073709551615', 18446744073709551615n, 0],
  ])('%s is read exactly', (text, units, scale) => {
    expect(parseExactDecimal(text)).toEqual({ units, scale });
  });

  test.each([
    '',
    '.5',
    '5.',
    '+1',
    '1e',
    '1e1.5',
    'Infinity',
    'NaN',
    '0x10',
    ' 1',
    '1 ',
    '1e401',
    '1e-401',
    '1'.repeat(101),
  ])('%j is not read', (text) => {
    expect(parseExactDecimal(text)).toBeUndefined();
  });

  test('of each double is read, and written without exponent and trailing zeros', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const text = formatExactDecimal(toExactDecimal(number));
        expect(text).toMatch(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
        expect(Number(text)).toBe(number === 0 ? 0 : number);
      }),
    );
  });
});

const exact = fc
  .record({ units: fc.bigInt(-(10n ** 20n), 10n ** 20n), scale: fc.integer({ min: 0, max: 20 }) })
  .map(({ units, scale }) => parseExactDecimal(`${units}e${-scale}`) ?? { units: 0n, scale: 0 });

/** The number of smallest units, at a scale that all numbers of these tests have. */
const units = ({ units: own, scale }: ExactDecimal) => own * 10n ** BigInt(40 - scale);

describe('exact decimal numbers', () => {
  test('are added and compared as fractions are', () => {
    fc.assert(
      fc.property(exact, exact, (a, b) => {
        expect(units(addExact(a, b))).toBe(units(a) + units(b));
        expect(Math.sign(compareExact(a, b))).toBe(units(a) < units(b) ? -1 : units(a) > units(b) ? 1 : 0);
        expect(compareExact(a, a)).toBe(0);
      }),
    );
  });

  test('are rounded to the nearest multiple below or above, of either sign', () => {
    const step = exact.filter((number) => number.units > 0n);
    fc.assert(
      fc.property(exact, step, (number, size) => {
        const down = units(roundToMultiple(number, size, 'DOWN'));
        const up = units(roundToMultiple(number, size, 'UP'));
        expect([down % units(size), up % units(size)]).toEqual([0n, 0n]);
        expect(down <= units(number) && units(number) < down + units(size)).toBe(true);
        expect(up >= units(number) && units(number) > up - units(size)).toBe(true);
      }),
    );
  });
});
