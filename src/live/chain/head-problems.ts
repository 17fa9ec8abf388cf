import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { Instant } from '../../domain/instant.ts';
import { GatewayError } from '../../errors.ts';
import type { Follower } from '../broadcast/follower.ts';
import type { Head } from './head.ts';

/** What is wrong with the head, for operators. */
export type HeadProblem = {
  /** Stable: it never changes its meaning. */
  readonly code: 'NODE_UNREADABLE' | 'NO_NEW_BLOCK' | 'BLOCK_TOO_OLD' | 'NODE_FAR_BEHIND';
  /** In plain words. The wording may change, and it never contains an address. */
  readonly message: string;
};

/** The message of a problem, with what clients get to read of the error that causes it. */
export function withCause(message: string, error: unknown): string {
  return error instanceof GatewayError ? `${message}: ${error.message}` : message;
}

/** The head that is served, and why the newest block cannot be read. */
type Followed = Pick<Follower<Head>, 'current' | 'failure'>;

/** Is notified, each time once, when the tip falls far below the served height, and when it is near again. */
export type TipWatcher = {
  fellFarBehind(tip: BeaconHeight, served: BeaconHeight): void;
  caughtUp(tip: BeaconHeight): void;
};

type HeadProblemsOptions = {
  readonly interval: ReturnType<typeof createBlockInterval>;
  /** How old the newest block may become, by the time at which it was made. */
  readonly maxBlockAgeMs: number;
  readonly now: () => Instant;
  readonly watcher: TipWatcher;
};

/** A node behind a load balancer lags by a few blocks. At this distance it has lost them. */
const FAR_BLOCKS = 100;

const toText = (time: Instant) => new Date(time).toISOString();

/** Creates the problems of a head, with no tip polled yet. */
export function createHeadProblems(options: HeadProblemsOptions) {
  const { interval, maxBlockAgeMs, now, watcher } = options;
  /** The highest tip, while it is far below the served height. */
  let farBehind: BeaconHeight | undefined;

  /** Why the head is stale: each of these alone is enough. */
  function staleness({ current, failure }: Followed): readonly HeadProblem[] {
    const time = current()?.time;
    const problems: readonly (HeadProblem | false)[] = [
      failure() !== undefined && {
        code: 'NODE_UNREADABLE',
        message: withCause('the node cannot be read', failure()),
      },
      interval.isOverdue() && {
        code: 'NO_NEW_BLOCK',
        message: 'no new beacon height arrived for more than five times the usual block interval',
      },
      time !== undefined &&
        now() - time > maxBlockAgeMs && {
          code: 'BLOCK_TOO_OLD',
          message: `the newest block, produced at ${toText(time)}, is older than MAX_BLOCK_AGE_MS (${maxBlockAgeMs} ms) by the clock of the gateway, ${toText(now())}: the node is behind, or this clock is wrong`,
        },
    ];
    return problems.filter((problem) => problem !== false);
  }

  function lostBlocks({ current }: Followed): readonly HeadProblem[] {
    if (farBehind === undefined) return [];
    const message = `the node reports beacon height ${farBehind}, far below the served height ${current()?.beaconHeight}: it may have lost its database`;
    return [{ code: 'NODE_FAR_BEHIND', message }];
  }

  return {
    /** The highest tip of all nodes in a poll, and the height that is served. */
    polled(tip: BeaconHeight, served: BeaconHeight): void {
      const wasFarBehind = farBehind !== undefined;
      farBehind = tip < served - FAR_BLOCKS ? tip : undefined;
      if (farBehind !== undefined && !wasFarBehind) watcher.fellFarBehind(tip, served);
      if (farBehind === undefined && wasFarBehind) watcher.caughtUp(tip);
    },
    staleness,
    /** All problems: why the head is stale, and that the nodes have lost blocks. */
    all: (follower: Followed): readonly HeadProblem[] => [...staleness(follower), ...lostBlocks(follower)],
  };
}

/**
 * The slowest block time of the beacon chain, which is assumed before the second block. A block is never overdue earlier than
 * that: a chain that catches up makes many blocks at once.
 */
const SLOWEST_INTERVAL_MS = 40_000;
const INTERVALS_KEPT = 9;
const OVERDUE_AFTER_INTERVALS = 5;

/** Measures the usual time between two blocks, on this clock. */
export function createBlockInterval(now: () => Instant) {
  const intervals: number[] = [];
  let lastBlockAt: Instant | undefined;
  /** The same, in `performance.now()`. */
  let lastBlockSeen = 0;
  let usualMs: number | undefined;

  return {
    observe(at: Instant): void {
      if (lastBlockAt !== undefined) intervals.push(at - lastBlockAt);
      if (intervals.length > INTERVALS_KEPT) intervals.shift();
      usualMs = median(intervals);
      lastBlockAt = at;
      lastBlockSeen = performance.now();
    },
    /** Whether no block has arrived for several times the usual interval; `false` before the first block. */
    isOverdue(): boolean {
      if (lastBlockAt === undefined) return false;
      // The clock can have been set back since.
      const waitedMs = Math.max(now() - lastBlockAt, performance.now() - lastBlockSeen);
      return waitedMs > Math.max(SLOWEST_INTERVAL_MS, OVERDUE_AFTER_INTERVALS * (usualMs ?? SLOWEST_INTERVAL_MS));
    },
    /** When the next block is expected, also if the clock was set back since the last one; `undefined` before the second block. */
    nextAt: () =>
      lastBlockAt === undefined || usualMs === undefined ? undefined : Math.min(lastBlockAt, now()) + usualMs,
  };
}

function median(numbers: readonly number[]): number | undefined {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}
