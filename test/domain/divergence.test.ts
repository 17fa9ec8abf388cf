import { describe, expect, test } from 'vitest';
import { maxPercent } from '../../src/domain/divergence.ts';
import { percentChange } from '../../src/domain/price-change.ts';

describe('how far a price is from the one of the pool', () => {
  test.each([
    [110, 100, 10],
    [90, 100, -10],
    [100, 100, 0],
    [0, 100, -100],
  ])('%d against %d is %d percent', (price, poolPrice, percent) => {
    expect(percentChange(poolPrice, price)).toBeCloseTo(percent, 12);
  });

  test.each([
    [undefined, 100],
    [100, undefined],
    [100, 0],
    [0, 0],
    [1e300, 1e-300],
  ])('%d against %d is unknown', (price, poolPrice) => {
    expect(percentChange(poolPrice, price)).toBeUndefined();
  });

  test.each([
    [{ poolPrice: 100, lastPrice: 110, bookMidPrice: 105 }, 10],
    [{ poolPrice: 100, lastPrice: 101, bookMidPrice: 95 }, 5],
    [{ poolPrice: 100, lastPrice: undefined, bookMidPrice: 95 }, 5],
    [{ poolPrice: 100, lastPrice: 98, bookMidPrice: undefined }, 2],
    [{ poolPrice: 100, lastPrice: undefined, bookMidPrice: undefined }, undefined],
    [{ poolPrice: undefined, lastPrice: 98, bookMidPrice: 98 }, undefined],
  ])('is the larger of the two: of %o it is %d', (divergence, expected) => {
    const actual = maxPercent(divergence);
    if (expected === undefined) expect(actual).toBeUndefined();
    else expect(actual).toBeCloseTo(expected, 12);
  });
});
