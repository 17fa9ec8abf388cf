import type { Instant } from '../../domain/instant.ts';

/** Measures the usual time between two blocks. */
export type BlockInterval = {
  /** A new block arrived at that time; by default now. */
  observe(at?: Instant): void;
  /** Whether no block has arrived for several times the usual interval; `false` before the first block. */
  isOverdue(): boolean;
  /** When the next block is expected; `undefined` before the second block. */
  nextAt(): Instant | undefined;
};

/**
 * The slowest block time of the beacon chain, which is assumed before the second block. A block is never overdue earlier than
 * that: a chain that catches up makes many blocks at once.
 */
const SLOWEST_INTERVAL_MS = 40_000;
const INTERVALS_KEPT = 9;
const OVERDUE_AFTER_INTERVALS = 5;

/** Creates the measurement on this clock. */
export function createBlockInterval(now: () => Instant): BlockInterval {
  const intervals: number[] = [];
  let lastBlockAt: Instant | undefined;
  let usualMs: number | undefined;

  return {
    observe(at = now()) {
      if (lastBlockAt !== undefined) intervals.push(at - lastBlockAt);
      if (intervals.length > INTERVALS_KEPT) intervals.shift();
      usualMs = median(intervals);
      lastBlockAt = at;
    },
    isOverdue() {
      if (lastBlockAt === undefined) return false;
      return (
        now() - lastBlockAt > Math.max(SLOWEST_INTERVAL_MS, OVERDUE_AFTER_INTERVALS * (usualMs ?? SLOWEST_INTERVAL_MS))
      );
    },
    nextAt: () => (lastBlockAt === undefined || usualMs === undefined ? undefined : lastBlockAt + usualMs),
  };
}

function median(numbers: readonly number[]): number | undefined {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}
