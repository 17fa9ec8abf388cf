import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { Instant } from '../../domain/instant.ts';
import { GatewayError } from '../../errors.ts';
import type { Follower } from '../broadcast/follower.ts';
import type { BlockInterval } from './block-interval.ts';
import type { Head } from './head.ts';

/** What is wrong with what the gateway serves, for operators: `/ready` lists all problems. */
export type Problem = {
  /** Stable: it never changes its meaning. */
  readonly code: ProblemCode;
  /** In plain words. The wording may change, and it never contains an address. */
  readonly message: string;
};

/** Every code of a {@link Problem}. */
type ProblemCode =
  | 'STOPPING'
  | 'HEAD_NOT_READ'
  | 'NODE_UNREADABLE'
  | 'NO_NEW_BLOCK'
  | 'BLOCK_TOO_OLD'
  | 'NODE_FAR_BEHIND'
  | 'MARKET_DATA_NOT_READ'
  | 'MARKET_DATA_STALE';

/** The message of a problem, with what clients get to read of the error that causes it. */
export function withCause(message: string, error: unknown): string {
  return error instanceof GatewayError ? `${message}: ${error.message}` : message;
}

/** What is wrong with the head. */
type HeadProblems = {
  /** The highest tip of all nodes in a poll, and the height that is served. */
  polled(tip: BeaconHeight, served: BeaconHeight): void;
  /** Why the head is stale: each of these alone is enough. */
  staleness(follower: Followed): readonly Problem[];
  /** All problems: why the head is stale, and that the nodes have lost blocks. */
  all(follower: Followed): readonly Problem[];
};

/** The head that is served, and why the newest block cannot be read. */
type Followed = Pick<Follower<Head>, 'current' | 'failure'>;

/** Is notified, each time once, when the tip falls far below the served height, and when it is near again. */
export type TipWatcher = {
  fellFarBehind(tip: BeaconHeight, served: BeaconHeight): void;
  caughtUp(tip: BeaconHeight): void;
};

type HeadProblemsOptions = {
  readonly interval: BlockInterval;
  /** How old the newest block may become, by the time at which it was made. */
  readonly maxBlockAgeMs: number;
  readonly now: () => Instant;
  readonly watcher: TipWatcher;
};

/** A node behind a load balancer lags by a few blocks. At this distance it has lost them. */
const FAR_BLOCKS = 100;

/** Creates the problems of a head, with no tip polled yet. */
export function createHeadProblems(options: HeadProblemsOptions): HeadProblems {
  const { interval, maxBlockAgeMs, now, watcher } = options;
  /** The highest tip, while it is far below the served height. */
  let farBehind: BeaconHeight | undefined;

  function staleness({ current, failure }: Followed): readonly Problem[] {
    const time = current()?.time;
    const problems: readonly (Problem | false)[] = [
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
          message: `the newest block, produced at ${new Date(time).toISOString()}, is older than MAX_BLOCK_AGE_MS`,
        },
    ];
    return problems.filter((problem) => problem !== false);
  }

  function lostBlocks({ current }: Followed): readonly Problem[] {
    if (farBehind === undefined) return [];
    const message = `the node reports beacon height ${farBehind}, far below the served height ${current()?.beaconHeight}: it may have lost its database`;
    return [{ code: 'NODE_FAR_BEHIND', message }];
  }

  return {
    polled(tip, served) {
      const wasFarBehind = farBehind !== undefined;
      farBehind = tip < served - FAR_BLOCKS ? tip : undefined;
      if (farBehind !== undefined && !wasFarBehind) watcher.fellFarBehind(tip, served);
      if (farBehind === undefined && wasFarBehind) watcher.caughtUp(tip);
    },
    staleness,
    all: (follower) => [...staleness(follower), ...lostBlocks(follower)],
  };
}
