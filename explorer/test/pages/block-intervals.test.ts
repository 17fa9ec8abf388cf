import { expect, test } from 'vitest';
import { intervalsOf, medianOf } from '../../src/pages/chain/block-intervals.ts';

const block = (beaconHeight: number, seconds: number) => ({
  beaconHeight,
  time: new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString(),
});

test('an interval is between a block and the one below it; after a gap there is none', () => {
  expect(intervalsOf([block(10, 0), block(11, 40), block(14, 160), block(15, 205)])).toEqual([
    { height: 11, ms: 40_000 },
    { height: 15, ms: 45_000 },
  ]);
  expect(intervalsOf([block(10, 0)])).toEqual([]);
  expect(intervalsOf([])).toEqual([]);
});

test('the median is in the middle, or between the two in the middle', () => {
  const of = (...all: number[]) => medianOf(all.map((ms, height) => ({ height, ms })));
  expect(of(40, 9_000, 10)).toBe(40);
  expect(of(40, 10)).toBe(25);
  expect(of()).toBeUndefined();
});
