import { type BeaconHeight, isFinal } from '../domain/beacon-height.ts';
import { HeightNotAvailableError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import type { PastStates } from '../live/chain/past-states.ts';
import type { HistoryWatcher } from './recorder-database.ts';
import { HistoryDatabaseError, type HistoryStore, permanentError, type RecordedHeight } from './store.ts';

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
 * A branch has fewer recorded heights than that. Nodes can show those of three quarters of an hour again, and seven reads find where
 * the branch begins.
 */
export const MAX_BRANCH = 64;

/**
 * Compares the newest recorded block below a height with that of the node, by their times, because a state has no hash. If they
 * differ, it looks for the lowest block of the branch that was recorded.
 *
 * @param comparedBelow recorded heights below it were compared before: if there is none from it on, nothing is read
 * @returns `undefined` if they do not differ, or if no node can show whether they do
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

type ComparisonOptions = {
  readonly store: Pick<HistoryStore, 'recentBlocks' | 'blocksAt' | 'deleteFrom'>;
  readonly readFinal: PastStates['readInBackground'];
  readonly watcher: Pick<HistoryWatcher, 'deleted' | 'undecided'>;
  readonly mayWrite: () => boolean;
};

/**
 * Creates the comparison of the recorded heights with the node, which deletes those of a branch. At first, all heights are in doubt. A
 * replica that does not write compares nothing: it relies on the one that does.
 */
export function createComparison({ store, readFinal, watcher, mayWrite }: ComparisonOptions) {
  /** Whether a recorded height was of the chain of the node, when they were first compared. */
  let isSameChain = false;
  /** The recorded heights below each of these may be of a branch or of another chain, until they are compared. */
  const doubts = new Set<BeaconHeight>([Number.MAX_SAFE_INTEGER]);

  async function deleteBranch(below: BeaconHeight, head: Head, comparedBelow: BeaconHeight): Promise<void> {
    const branch = await findBranch(below, head, { ...store, readFinal }, comparedBelow);
    const lowest = branch?.lowest;
    if (branch !== undefined && lowest === undefined) {
      const { beaconHeight } = branch.highest;
      const problem = `it has another block at beacon height ${beaconHeight} than the node`;
      if (!isSameChain) throw permanentError(`the database belongs to another chain: ${problem}`);
      // A database that was of this chain at the first comparison still is. Then all of the compared heights may be of a branch.
      watcher.undecided(beaconHeight);
    }
    isSameChain = true;
    if (lowest === undefined) return;
    if (!mayWrite()) throw new HistoryDatabaseError('another replica writes to the database');
    const deleted = await store.deleteFrom(lowest);
    if (deleted.length > 0) watcher.deleted(deleted);
  }

  return {
    /** Whether heights are to be compared, by this replica. */
    isDue: () => doubts.size > 0 && mayWrite(),
    /** The recorded heights below this one may be of a branch; by default, all of them. */
    doubt: (below: BeaconHeight = Number.MAX_SAFE_INTEGER) => void doubts.add(below),
    /**
     * Deletes the recorded heights of branches. It compares from the lowest doubt up: a higher block can be of the chain although a lower
     * one is of a branch.
     *
     * @throws ComparisonError if they cannot be compared now, HistoryDatabaseError
     */
    async deleteBranches(head: Head): Promise<void> {
      let comparedBelow = 0;
      for (const below of [...doubts].sort((a, b) => a - b)) {
        if (!mayWrite()) return;
        doubts.delete(below);
        try {
          await deleteBranch(below, head, comparedBelow);
        } catch (error) {
          doubts.add(below);
          if (mayWrite()) throw error;
        }
        comparedBelow = below;
      }
    },
  };
}
