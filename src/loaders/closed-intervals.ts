import { type BeaconHeight, newestFinal, type TimedHeight } from '../domain/beacon-height.ts';
import { firstIndexWhere } from '../domain/binary-search.ts';
import { type CandleInterval, openTimeOf } from '../domain/candle.ts';
import type { Instant } from '../domain/instant.ts';
import { onEach } from '../live/broadcast/broadcast.ts';
import type { Head } from '../live/chain/head.ts';
import type { HeadFollower } from '../live/chain/head-follower.ts';

/** One candle of a subscription to candles. */
export type CandleMoment = {
  readonly head: Head;
  /** The `openTime` of an interval that is closed; `undefined` for the current candle. */
  readonly closed: Instant | undefined;
};

/** Which intervals are closed: a later block is known, and the last height of the interval is final. */
export type ClosedIntervals = ReturnType<typeof createClosedIntervals>;

/** Closed candles that a subscriber gets at most after a head. */
const MAX_CLOSED = 64;

/** Heights that are remembered, for subscribers that are slow or resume: those of almost two days. */
const MAX_HEIGHTS = 4_096;

/** Starts to follow which intervals are closed. */
export function createClosedIntervals(follower: Pick<HeadFollower, 'current' | 'subscribe'>) {
  /** The heights that were seen last, ascending. */
  const seen: TimedHeight[] = [];
  onEach(follower.subscribe, seeAll);

  function seeAll(head: Head): void {
    for (const each of [...(head.filledIn ?? []), head]) see(each);
  }

  function see({ beaconHeight, time }: Head): void {
    for (let newest = seen.at(-1); newest !== undefined; newest = seen.at(-1)) {
      // A block that is later than one above it is of a branch that was given up.
      if (newest.beaconHeight < beaconHeight && newest.time <= time) break;
      seen.pop();
    }
    seen.push({ beaconHeight, time });
    if (seen.length > MAX_HEIGHTS) seen.shift();
  }

  /** The last intervals that were closed by the heads above a height up to another one, ascending; none if the first is above. */
  function closedBetween(after: BeaconHeight, upTo: BeaconHeight, interval: CandleInterval): Instant[] {
    const firstNotFinal = (tip: BeaconHeight) =>
      firstIndexWhere(seen.length, (index) => (seen[index]?.beaconHeight ?? 0) > newestFinal(tip));
    const blocks = seen.slice(firstNotFinal(after), firstNotFinal(upTo) + 1);
    const openTimes = blocks.map(({ time }) => openTimeOf(time, interval));
    const notClosed = openTimes.at(-1);
    return [...new Set(openTimes)].filter((openTime) => openTime !== notClosed).slice(-MAX_CLOSED);
  }

  return {
    /** The changes up to a head since the height that a subscriber received last: closed candles first, then the current candle. */
    momentsAt(head: Head, interval: CandleInterval, after: BeaconHeight | undefined): readonly CandleMoment[] {
      // The subscriber may be notified of the head before `seeAll` is.
      if (head === follower.current()) seeAll(head);
      const closed = closedBetween(after ?? head.beaconHeight, head.beaconHeight, interval);
      return [...closed, undefined].map((openTime) => ({ head, closed: openTime }));
    },
  };
}
