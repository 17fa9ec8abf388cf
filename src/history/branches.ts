import { type BeaconHeight, isFinal } from '../domain/beacon-height.ts';
import { ancestors, isReplacedBy } from '../domain/chain.ts';
import { HeightNotAvailableError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import type { PastStates } from '../live/chain/past-states.ts';
import { HistoryDatabaseError, type HistoryStore, type RecordedHeight } from './store.ts';

/** Recorded blocks that the node does not have. */
type Branch = {
  /** The lowest: the next lower recorded block is of the node's chain. `undefined` if none of the compared ones is. */
  readonly lowest: RecordedHeight | undefined;
  readonly highest: RecordedHeight;
};

type Sources = Pick<HistoryStore, 'recentBlocks' | 'blocksAt'> & { readonly readFinal: PastStates['readInBackground'] };

/** Recorded heights cannot be compared with those of the node now. The database itself may work. */
export class ComparisonError extends HistoryDatabaseError {}

/**
 * A branch has fewer recorded heights than that. The node can still show those of three quarters of an hour again, and to find
 * where the branch begins takes seven reads at most.
 */
export const MAX_BRANCH = 64;

/**
 * Compares the newest recorded block below a height with that of the node, by their times, because a state has no hash. If they
 * differ, it looks for the lowest block of the branch that was recorded.
 *
 * @param comparedBelow recorded heights below it were compared before: if there is none from it on, nothing is read
 * @returns `undefined` if they do not differ
 * @throws ComparisonError if they cannot be compared now, HistoryDatabaseError
 */
export async function findBranch(
  below: BeaconHeight,
  head: Head,
  { recentBlocks, blocksAt, readFinal }: Sources,
  comparedBelow: BeaconHeight = 0,
): Promise<Branch | undefined> {
  /** Whether the node has this block; `undefined` if no node has the height any more, or if states have no time. */
  async function hasBlock({ beaconHeight, time }: RecordedHeight): Promise<boolean | undefined> {
    if (!isFinal(beaconHeight, head.beaconHeight)) return false;
    const state = await readFinal(beaconHeight, head).catch((error: unknown) => {
      if (error instanceof HeightNotAvailableError) return undefined;
      throw new ComparisonError('a recorded height cannot be compared with that of the node', { cause: error });
    });
    return state?.time === undefined ? undefined : state.time === time;
  }

  const newest = await recentBlocks({ upTo: Number.MAX_SAFE_INTEGER, last: MAX_BRANCH });
  const recorded = newest.filter(({ beaconHeight }) => beaconHeight < below);
  const highest = recorded.at(-1);
  if (highest === undefined || highest.beaconHeight < comparedBelow) return undefined;
  if (!isFinal(highest.beaconHeight, head.beaconHeight)) {
    const [{ block } = {}] = await blocksAt([head.time]);
    // A block of the same chain that is not below the head is not made before it.
    const isContradiction = block && block.beaconHeight >= head.beaconHeight && block.time < head.time;
    if (!isContradiction) throw new ComparisonError('the node has not reached the recorded heights');
  }
  if ((await hasBlock(highest)) !== false) return undefined;

  // The recorded heights are halved until the lowest block of the branch is found.
  let [low, high] = [-1, recorded.length - 1];
  let isShared: boolean | undefined;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const found = await hasBlock(recorded[middle] as RecordedHeight);
    if (found === false) {
      high = middle;
    } else {
      low = middle;
      isShared = found;
    }
  }
  // If no height agrees, it is unknown where a branch would begin.
  return { lowest: isShared ? recorded[high] : undefined, highest };
}

/** Heads that stay in memory: as many as an operation may need that began some blocks ago, and a few that are not recorded. */
const MAX_HEADS = 32;

/**
 * Collects the heads that were published last, ascending, as far as they can be on the chain of the newest one. Below a skipped
 * height only final heads stay: nothing shows whether a later one was replaced.
 */
export function createFollowedHeads() {
  let heads: readonly Head[] = [];

  return {
    /** Adds a head that was published. */
    add(head: Head): void {
      const shown = heads.at(-1)?.beaconHeight ?? 0;
      const below = heads.filter((each) => !isReplacedBy(each, head));
      const isNext = below.at(-1)?.beaconHeight === head.beaconHeight - 1;
      heads = [...below.filter(({ beaconHeight }) => isNext || isFinal(beaconHeight, shown)), head].slice(-MAX_HEADS);
    },
    /** One for each height. */
    all: () => heads,
    /**
     * The highest final head below the newest one: each block in between names the hash of the one below it. `undefined` if a
     * height was skipped, a block was replaced, or the node does not report hashes. Behind a load balancer, a head of a branch
     * can be three blocks below the tip too.
     */
    final(): Head | undefined {
      const newest = heads.at(-1);
      return newest && ancestors(newest, heads).find(({ beaconHeight }) => isFinal(beaconHeight, newest.beaconHeight));
    },
    /** Whether the newest head follows the one below it: no height was skipped, and the hashes do not differ. */
    isConnected: () => heads.at(-2)?.beaconHeight === (heads.at(-1)?.beaconHeight ?? 0) - 1,
  };
}
