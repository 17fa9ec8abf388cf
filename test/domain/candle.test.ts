import { expect, test } from 'vitest';
import { extendCandles, type PoolCandle, toCandle } from '../../src/domain/candle.ts';

const reserves = (beaconHeight: number, reserve1: bigint, reserve2: bigint) => ({ beaconHeight, reserve1, reserve2 });

test('after a branch that was given up, trades are counted from the last candle below it', () => {
  const [below, givenUp] = [reserves(2, 100n, 100n), reserves(3, 50n, 200n)];
  const candleOf = (at: typeof below): PoolCandle => ({
    openTime: (at.beaconHeight - 2) * 60_000,
    firstHeight: at.beaconHeight,
    lastHeight: at.beaconHeight,
    heights: 1,
    isComplete: true,
    ...{ open: at, high: at, low: at, close: at, traded1: 5n, traded2: 5n },
  });
  const now = reserves(4, 110n, 91n);
  const candles = extendCandles(
    { candles: [candleOf(below), candleOf(givenUp)], recordedTo: 3, reserves: givenUp },
    // It is earlier than the block below it, which is therefore of another branch.
    [{ beaconHeight: 4, time: 50_000, reserves: now }],
    { interval: 'ONE_MINUTE', upTo: 4 },
  );
  expect(candles).toEqual([
    {
      ...candleOf(below),
      lastHeight: 4,
      heights: 2,
      isComplete: false,
      high: now,
      close: now,
      traded1: 15n,
      traded2: 14n,
    },
  ]);
});

test.each([
  { newest: 59_999, tip: 20, isClosed: false, why: 'its time has not passed' },
  { newest: undefined, tip: 20, isClosed: false, why: 'the time of the newest block is unknown' },
  { newest: 60_000, tip: 11, isClosed: false, why: 'its last height may still be replaced' },
  { newest: 60_000, tip: 12, isClosed: true, why: 'its time has passed and its last height is final' },
])('a candle is closed or not: $why', ({ newest, tip, isClosed }) => {
  const at = reserves(9, 100n, 100n);
  const candle: PoolCandle = {
    ...{ openTime: 0, firstHeight: 9, lastHeight: 9, heights: 1, isComplete: true },
    ...{ open: at, high: at, low: at, close: at, traded1: 0n, traded2: 0n },
  };
  expect(toCandle(candle, 'ONE_MINUTE', { newest, tip })).toEqual({ ...candle, closeTime: 60_000, isClosed });
});
