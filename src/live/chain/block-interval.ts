import type { Instant } from '../../domain/instant.ts';

/** Learns how often something happens, and tells when it is overdue. */
export type BlockInterval = {
  /** It happened now. */
  observe(): void;
  /** Whether it has not happened for several times the usual interval; never before the first time. */
  isOverdue(): boolean;
  /** When it is to be expected next; `undefined` before it has happened twice. */
  nextAt(): Instant | undefined;
};

/**
 * The beacon chain's first and slowest block time: what is assumed before two steps were seen. What has not happened for
 * that long is not overdue yet, however quick it was before: a chain that catches up makes many blocks at once.
 */
const SLOWEST_INTERVAL_MS = 40_000;
const INTERVALS_KEPT = 9;
const OVERDUE_AFTER_INTERVALS = 5;

/** Starts to learn a pace on this clock. */
export function createBlockInterval(now: () => Instant): BlockInterval {
  const intervals: number[] = [];
  let lastStep: Instant | undefined;
  let usual: number | undefined;

  return {
    observe() {
      if (lastStep !== undefined) intervals.push(now() - lastStep);
      if (intervals.length > INTERVALS_KEPT) intervals.shift();
      usual = median(intervals);
      lastStep = now();
    },
    isOverdue() {
      if (lastStep === undefined) return false;
      const usualMs = usual ?? SLOWEST_INTERVAL_MS;
      return now() - lastStep > Math.max(SLOWEST_INTERVAL_MS, OVERDUE_AFTER_INTERVALS * usualMs);
    },
    nextAt: () => (lastStep === undefined || usual === undefined ? undefined : lastStep + usual),
  };
}

function median(numbers: readonly number[]): number | undefined {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}
