import { expect, test } from 'vitest';
import { extendCandles, type PoolCandle } from '../../src/domain/candle.ts';

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
