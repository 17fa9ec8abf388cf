import type { Instant } from '../domain/instant.ts';

/** Learns how often something happens, and tells when it is overdue. */
export type Pace = {
  /** It happened now. */
  step(): void;
  /** Whether it has not happened for several times the usual interval; never before the first time. */
  isOverdue(): boolean;
};

/** Before two steps were seen: the beacon chain's first and slowest block time. */
const UNKNOWN_INTERVAL_MS = 40_000;
const INTERVALS_KEPT = 9;
const OVERDUE_AFTER_INTERVALS = 5;

/** Starts to learn a pace on this clock. */
export function createPace(now: () => Instant): Pace {
  const intervals: number[] = [];
  let lastStep: Instant | undefined;

  return {
    step() {
      if (lastStep !== undefined) intervals.push(now() - lastStep);
      if (intervals.length > INTERVALS_KEPT) intervals.shift();
      lastStep = now();
    },
    isOverdue() {
      if (lastStep === undefined) return false;
      return now() - lastStep > OVERDUE_AFTER_INTERVALS * (median(intervals) ?? UNKNOWN_INTERVAL_MS);
    },
  };
}

function median(numbers: readonly number[]): number | undefined {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}
