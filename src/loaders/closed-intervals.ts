import { type BeaconHeight, newestFinal } from '../domain/beacon-height.ts';
import { type CandleInterval, INTERVAL_MS, openTimeOf } from '../domain/candle.ts';
import type { Instant } from '../domain/instant.ts';
import type { History } from '../history/history.ts';
import { onEach } from '../live/broadcast/broadcast.ts';
import type { Head } from '../live/chain/head.ts';
import type { HeadFollower } from '../live/chain/head-follower.ts';
import { isFarAhead } from '../live/chain/recent-heads.ts';

/** One candle of a subscription to candles. All subscribers that receive it at a head share the object. */
export type CandleMoment = {
  /** The head that is current. */
  readonly head: Head;
  /** The `openTime` of an interval that is closed; `undefined` for the current candle. */
  readonly closed: Instant | undefined;
};

/** Which intervals are closed: a later block is known, and the last height of the interval is final. */
export type ClosedIntervals = {
  /** The changes up to a head since the height that a subscriber received last: closed candles first, then the current candle. */
  momentsAt(head: Head, interval: CandleInterval, after: BeaconHeight | undefined): readonly CandleMoment[];
};

/** An interval that was closed by the block at a height. */
type Closing = { readonly openTime: Instant; readonly closedAt: BeaconHeight };

/** Closings that are remembered of each interval, for subscribers that are slow or resume. */
const MAX_CLOSINGS = 64;

/** Heights that are remembered: those that are not final, and a few more. */
const MAX_HEIGHTS = 16;

const INTERVALS = Object.keys(INTERVAL_MS) as CandleInterval[];

/** Follows which intervals are closed, from the first subscriber on. */
export function createClosedIntervals(
  follower: Pick<HeadFollower, 'current' | 'subscribe'>,
  history: Pick<History, 'unrecorded'>,
): ClosedIntervals {
  const moments = new WeakMap<Head, Map<Instant | undefined, CandleMoment>>();
  const closings = new Map<CandleInterval, Closing[]>(INTERVALS.map((interval) => [interval, []]));
  /** The heights that were seen last, ascending. */
  let seen: readonly Pick<Head, 'beaconHeight' | 'time'>[] = [];
  let isFollowing = false;

  function follow(): void {
    if (isFollowing) return;
    isFollowing = true;
    for (const head of history.unrecorded()) see(head);
    onEach(follower.subscribe, see);
  }

  /** Adds a head. All intervals that its block closes are added to the closings. */
  function see({ beaconHeight, time }: Head): void {
    const newest = seen.at(-1);
    if (newest?.beaconHeight === beaconHeight && newest.time === time) return;
    // A block that is later than one above it is of a branch that was given up.
    const before = seen.filter((each) => each.beaconHeight < beaconHeight && each.time <= time);
    seen = [...before, { beaconHeight, time }].slice(-MAX_HEIGHTS);
    for (const interval of INTERVALS) {
      const from = openTimeOfNotClosed(before, interval);
      const to = openTimeOfNotClosed(seen, interval);
      if (from === undefined || to === undefined) continue;
      const list = closings.get(interval) as Closing[];
      const last = list.at(-1)?.openTime ?? Number.NEGATIVE_INFINITY;
      const openTimes = new Set(seen.map((each) => openTimeOf(each.time, interval)));
      for (const openTime of openTimes) {
        if (openTime < from || openTime >= to || openTime <= last) continue;
        list.push({ openTime, closedAt: beaconHeight });
        if (list.length > MAX_CLOSINGS) list.shift();
      }
    }
  }

  function momentOf(head: Head, closed: Instant | undefined): CandleMoment {
    const ofHead = moments.get(head) ?? new Map<Instant | undefined, CandleMoment>();
    moments.set(head, ofHead);
    const moment = ofHead.get(closed) ?? { head, closed };
    ofHead.set(closed, moment);
    return moment;
  }

  return {
    momentsAt(head, interval, after) {
      follow();
      // The subscriber may be notified of the head earlier.
      if (head === follower.current()) see(head);
      const received = after === undefined || isFarAhead(after, head) ? head.beaconHeight : after;
      const closed = (closings.get(interval) ?? []).filter(
        ({ closedAt }) => closedAt > received && closedAt <= head.beaconHeight,
      );
      return [...closed.map(({ openTime }) => momentOf(head, openTime)), momentOf(head, undefined)];
    },
  };
}

/** When the oldest interval begins that is not closed: that of the lowest height that is not final. */
function openTimeOfNotClosed(
  heights: readonly Pick<Head, 'beaconHeight' | 'time'>[],
  interval: CandleInterval,
): Instant | undefined {
  const newest = heights.at(-1);
  if (newest === undefined) return undefined;
  const final = newestFinal(newest.beaconHeight);
  const lowest = heights.find(({ beaconHeight }) => beaconHeight > final);
  return lowest && openTimeOf(lowest.time, interval);
}
