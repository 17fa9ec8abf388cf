import { describe, expect, test } from 'vitest';
import { createBroadcast, onEach } from '../../src/live/broadcast/broadcast.ts';
import type { Head } from '../../src/live/chain/head.ts';
import { createClosedIntervals } from '../../src/loaders/closed-intervals.ts';
import { headOf } from '../live/chain/heads.ts';

const MINUTE = 60_000;

/** A chain with a block each 40 s from a whole minute on, of which a test publishes the heads. */
function createChain() {
  const heads = createBroadcast<Head>();
  const closed = createClosedIntervals(heads);
  return {
    headAt,
    publish(height: number, head = headAt(height)) {
      heads.publish(head);
      return head;
    },
    /** The minutes of the candles that a subscriber gets at a head; `live` is the one in progress. */
    minutesAt: (head: Head, after: number | undefined) =>
      closed
        .momentsAt(head, 'ONE_MINUTE', after)
        .map((moment) => (moment.closed === undefined ? 'live' : moment.closed / MINUTE)),
  };
}

/** Heights 1 and 2 are in minute 0, 3 in minute 1, 4 and 5 in minute 2, and so on. */
function headAt(height: number, time = (height - 1) * 40_000): Head {
  return { ...headOf(height), time };
}

describe('the intervals that are closed', () => {
  test('are sent at the height at which their last height becomes final, before the candle in progress', () => {
    const { publish, minutesAt } = createChain();
    const sent = Array.from({ length: 10 }, (_, index) => {
      const height = index + 1;
      return minutesAt(publish(height), height === 1 ? undefined : height - 1);
    });
    // Height 2, the last one of minute 0, is final at height 5, and so on.
    expect(sent.map((minutes) => minutes.slice(0, -1))).toEqual([[], [], [], [], [0], [1], [], [2], [3], []]);
    expect(sent.every((minutes) => minutes.at(-1) === 'live')).toBe(true);
  });

  test('are all sent to a subscriber that skipped heights or resumes, and none to a new one', () => {
    const { publish, minutesAt } = createChain();
    minutesAt(publish(1), undefined);
    for (let height = 2; height <= 12; height++) publish(height);
    const newest = publish(13);
    expect(minutesAt(newest, 4)).toEqual([0, 1, 2, 3, 4, 5, 'live']);
    expect(minutesAt(newest, 9)).toEqual([4, 5, 'live']);
    expect(minutesAt(newest, 13)).toEqual(['live']);
    expect(minutesAt(newest, undefined)).toEqual(['live']);
    // A height of another chain.
    expect(minutesAt(newest, 1_000_000)).toEqual(['live']);
  });

  test('are also those of heights that the gateway got together with a later one, as in a fleet', () => {
    const { publish, minutesAt } = createChain();
    publish(1);
    const filledIn = Array.from({ length: 11 }, (_, index) => headAt(2 + index));
    const newest = publish(13, { ...headAt(13), filledIn });
    expect(minutesAt(newest, 4)).toEqual([0, 1, 2, 3, 4, 5, 'live']);
  });

  test('are only the newest ones for a subscriber that was away for long', () => {
    const { publish, minutesAt } = createChain();
    for (let height = 1; height < 150; height++) publish(height);
    const minutes = minutesAt(publish(150), 1);
    // Height 147, the last one of minute 97, is final.
    expect(minutes).toEqual([...Array.from({ length: 64 }, (_, index) => 34 + index), 'live']);
  });

  test('are sent to a subscriber that is notified of a head first', () => {
    const heads = createBroadcast<Head>();
    const sent: (number | undefined)[][] = [];
    onEach(heads.subscribe, (head) => {
      const moments = closed.momentsAt(head, 'ONE_MINUTE', 4);
      sent.push(moments.map(({ closed }) => closed && closed / MINUTE));
    });
    const closed = createClosedIntervals(heads);
    for (const height of [1, 2, 3, 4, 9]) heads.publish(headAt(height));
    expect(sent.at(-1)).toEqual([0, 1, 2, undefined]);
  });

  test('are not sent again when the tip is replaced', () => {
    const { publish, minutesAt } = createChain();
    for (let height = 1; height <= 5; height++) minutesAt(publish(height), height - 1);
    const replaced = publish(5, headAt(5, 170_000));
    expect(minutesAt(replaced, 5)).toEqual(['live']);
    expect(minutesAt(publish(6), 5)).toEqual([1, 'live']);
  });

  test('are not those that ended only on a branch that was given up', () => {
    const { publish, minutesAt } = createChain();
    const times = [0, 40, 65, 50, 55, 70, 80, 90];
    const sent = times.map((seconds, index) =>
      minutesAt(publish(index + 1, headAt(index + 1, seconds * 1_000)), index),
    );
    // Height 3 was in minute 1 on the branch. Height 5 is in minute 0, and final at height 8.
    expect(sent.map((minutes) => minutes.slice(0, -1))).toEqual([[], [], [], [], [], [], [], [0]]);
  });

  test('include one that ended before the first subscriber came', () => {
    const { publish, minutesAt } = createChain();
    for (const height of [1, 2, 3]) publish(height);
    expect(minutesAt(publish(4), undefined)).toEqual(['live']);
    expect(minutesAt(publish(5), 4)).toEqual([0, 'live']);
  });
});
