import { type BeaconHeight, isFinal } from './beacon-height.ts';
import type { Instant } from './instant.ts';
import {
  addTraded,
  NOTHING_TRADED,
  type RatioRange,
  type Reserves,
  type Traded,
  tradedBetween,
  widenRange,
} from './reserves.ts';

/** The length of each candle interval in milliseconds. Intervals are aligned to UTC: they begin at multiples of it. */
export const INTERVAL_MS = {
  ONE_MINUTE: 60_000,
  FIVE_MINUTES: 300_000,
  FIFTEEN_MINUTES: 900_000,
  ONE_HOUR: 3_600_000,
  FOUR_HOURS: 14_400_000,
  ONE_DAY: 86_400_000,
} as const;

/** How much time a candle covers. */
export type CandleInterval = keyof typeof INTERVAL_MS;

/** When the interval began that contains an instant. */
export function openTimeOf(time: Instant, interval: CandleInterval): Instant {
  return Math.floor(time / INTERVAL_MS[interval]) * INTERVAL_MS[interval];
}

/** The heights of one interval that are known. They are the same for all pools. */
type IntervalHeights = {
  readonly openTime: Instant;
  readonly firstHeight: BeaconHeight;
  readonly lastHeight: BeaconHeight;
  /** How many heights of the interval are known. */
  readonly heights: number;
  /** Whether no height of the interval is missing, as far as the next known height shows it. */
  readonly isComplete: boolean;
};

/** What happened to one pool in an interval: the reserves at four heights. */
export type PoolCandle = IntervalHeights & RatioRange & Traded & { readonly open: Reserves; readonly close: Reserves };

/** A candle as clients get it. */
export type Candle = PoolCandle & {
  /** When the interval ends; a block of this time is in the next interval. */
  readonly closeTime: Instant;
  /** Whether the interval is over and its last height final, so that only missing heights can change the candle. */
  readonly isClosed: boolean;
};

/** A height that is known beside the recorded ones, with the reserves of one pool; `undefined` if it did not exist. */
type PoolAtHeight = {
  readonly beaconHeight: BeaconHeight;
  readonly time: Instant;
  readonly reserves: Reserves | undefined;
};

/** What is recorded of a pool, up to the newest recorded height. */
export type RecordedCandles = {
  /** Ascending by `openTime`. */
  readonly candles: readonly PoolCandle[];
  /** The newest recorded height; `undefined` if none is. */
  readonly recordedTo: BeaconHeight | undefined;
  /** The reserves at that height; `undefined` if the pool did not exist. */
  readonly reserves: Reserves | undefined;
  /** The interval of that height, for a pool that has no candle in it. */
  readonly newest?: IntervalHeights | undefined;
};

/**
 * The candles of a pool with later heights added. An interval without a known height has no candle.
 *
 * No block is later than one above it. If a recorded one is, it is of a branch that was given up: candles of intervals after that
 * of the block above are left out.
 *
 * @param later ascending by height, all above `recordedTo`
 * @param upTo the height up to which there are candles: if it is not known itself, the last candle is not complete
 */
export function extendCandles(
  { candles, recordedTo, reserves, newest }: RecordedCandles,
  later: readonly PoolAtHeight[],
  { interval, upTo }: { readonly interval: CandleInterval; readonly upTo: BeaconHeight },
): readonly PoolCandle[] {
  const extended = [...candles];
  const last = extended.at(-1);
  let heights: IntervalHeights | undefined = last !== undefined && last.lastHeight === recordedTo ? last : newest;
  let previousHeight = recordedTo;
  let before = reserves;

  for (const { beaconHeight, time, reserves: now } of later) {
    const openTime = openTimeOf(time, interval);
    if (heights !== undefined && heights.openTime > openTime) {
      while ((extended.at(-1)?.openTime ?? openTime) > openTime) extended.pop();
      const left = extended.at(-1);
      heights = left;
      before = left?.close;
      // The heights that were given up are between that one and this one, so this one is not the next.
      previousHeight = left?.lastHeight;
    }
    const isNext = beaconHeight === (previousHeight ?? 0) + 1;
    if (!isNext) markIncomplete(extended, previousHeight);
    heights = addHeight(heights, { openTime, beaconHeight, isNext });
    if (now !== undefined) {
      const candle = extended.at(-1)?.openTime === heights.openTime ? extended.pop() : undefined;
      const start = candle ?? { open: now, high: now, low: now, ...NOTHING_TRADED };
      const traded = addTraded(start, tradedBetween(before, now));
      extended.push({ ...heights, open: start.open, ...widenRange(start, now), close: now, ...traded });
      before = now;
    }
    previousHeight = beaconHeight;
  }
  if (previousHeight !== undefined && previousHeight < upTo) markIncomplete(extended, previousHeight);
  return extended;
}

/** The heights of the interval in progress with one more, or those of the next interval. */
function addHeight(
  heights: IntervalHeights | undefined,
  { openTime, beaconHeight, isNext }: { openTime: Instant; beaconHeight: BeaconHeight; isNext: boolean },
): IntervalHeights {
  if (heights?.openTime !== openTime)
    return { openTime, firstHeight: beaconHeight, lastHeight: beaconHeight, heights: 1, isComplete: isNext };
  const isComplete = heights.isComplete && isNext;
  return { ...heights, lastHeight: beaconHeight, heights: heights.heights + 1, isComplete };
}

/** Marks the candle whose last height has a missing height above it. */
function markIncomplete(candles: PoolCandle[], lastHeight: BeaconHeight | undefined): void {
  const last = candles.at(-1);
  if (last?.lastHeight === lastHeight && last !== undefined) candles.splice(-1, 1, { ...last, isComplete: false });
}

/** Which candles a client selects: the last ones of those whose `openTime` is at or after `from` and before `to`. */
export type CandleRange = {
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
  readonly last: number;
};

/** The candles of a range. */
export function selectCandles<C extends IntervalHeights>(candles: readonly C[], range: CandleRange): readonly C[] {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY, last } = range;
  return candles.filter(({ openTime }) => openTime >= from && openTime < to).slice(-last);
}

/**
 * The candle as clients get it.
 *
 * @param newest the time of the newest known block
 * @param tip the height from which finality counts
 */
export function toCandle(
  candle: PoolCandle,
  interval: CandleInterval,
  { newest, tip }: { readonly newest: Instant | undefined; readonly tip: BeaconHeight },
): Candle {
  const closeTime = candle.openTime + INTERVAL_MS[interval];
  const isOver = newest !== undefined && newest >= closeTime;
  return { ...candle, closeTime, isClosed: isOver && isFinal(candle.lastHeight, tip) };
}

/** Whether no height can be missing in these candles of a range, nor an older candle that belongs to it. */
export function areSettled(candles: readonly Candle[], { from, last }: CandleRange, interval: CandleInterval): boolean {
  const [first] = candles;
  if (first === undefined || !candles.every(({ isComplete }) => isComplete)) return false;
  return candles.length >= last || (from !== undefined && first.openTime - INTERVAL_MS[interval] < from);
}
