import { describe, expect, test } from 'vitest';
import { isFinal, parseBeaconHeight } from '../../src/domain/beacon-height.ts';

describe('a beacon height', () => {
  test.each([1, 835_380, Number.MAX_SAFE_INTEGER])('can be %d', (height) => {
    expect(parseBeaconHeight(height)).toBe(height);
  });

  test.each([0, -1, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, '5', 5n, null, undefined, [5]])(
    '%s is none',
    (value) => {
      expect(parseBeaconHeight(value)).toBeUndefined();
    },
  );
});

describe('a final state', () => {
  test.each([
    [101, false],
    [100, false],
    [99, false],
    [98, false],
    [97, true],
    [1, true],
  ])('with the tip at 100, height %i is final: %s', (height, final) => {
    expect(isFinal(height, 100)).toBe(final);
  });
});
