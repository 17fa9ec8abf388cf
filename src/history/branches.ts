import { type BeaconHeight, isFinal } from '../domain/beacon-height.ts';
import { HeightNotAvailableError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import type { PastStates } from '../live/chain/past-states.ts';
import { HistoryDatabaseError, type HistoryStore, type RecordedHeight } from './store.ts';

/**
 * Finds recorded blocks of a branch that was given up, and deletes them. Blocks are compared with those of the node by their
 * times, because a state has no hash. Only a gateway that writes to the database uses it.
 */
type Branches = {
  /**
   * Requires that the database is of the chain of the node, before it is used: another chain can have the same name. Deletes a
   * branch at its top.
   *
   * @throws HistoryDatabaseError if they cannot be compared now; permanent if the database is of another chain
   */
  requireSameChain(head: Head): Promise<void>;
  /** Deletes a branch, if the newest recorded block below a height is of one. @returns whether something was deleted */
  deleteBelow(height: BeaconHeight, head: Head): Promise<boolean>;
  /** Remembers that the recorded heights below one may be of a branch: its block does not follow from them. */
  suspectBelow(height: BeaconHeight): void;
  isSuspecting(): boolean;
  /** Deletes a branch, if the suspicion is right. @throws HistoryDatabaseError if it cannot be compared; it is suspected a few times more */
  deleteSuspected(head: Head): Promise<void>;
  /** Forgets the suspicion. */
  forget(): void;
};

type BranchesOptions = {
  readonly store: Pick<HistoryStore, 'recentBlocks' | 'blockAt' | 'deleteFrom'>;
  /** Runs an operation of the store, and notes how it went. */
  readonly use: <T>(operation: () => Promise<T>) => Promise<T>;
  readonly readFinal: PastStates['readInBackground'];
  /** Whether this gateway writes to the database now, and no other replica of its fleet. */
  readonly mayWrite: () => boolean;
  /** Is called with the deleted heights. */
  readonly onDeleted: (heights: readonly BeaconHeight[]) => Promise<void>;
};

/** What a comparison has shown. Of a branch its lowest block: the next lower recorded one is of the node's chain. */
type Finding = 'same chain' | 'other chain' | RecordedHeight;

/**
 * A branch has fewer recorded heights than that. The node can still show those of three quarters of an hour again, and to find
 * where the branch begins takes seven reads at most.
 */
const MAX_BRANCH = 64;

/** How often the same heights are compared until it succeeds. After that, only a restart compares them. */
const MAX_COMPARISONS = 5;

/** Creates the search for branches of a store. */
export function createBranches({ store, use, readFinal, mayWrite, onDeleted }: BranchesOptions): Branches {
  let suspected: { readonly below: BeaconHeight; readonly comparisons: number } | undefined;

  const newestBlocks = (last: number) => use(() => store.recentBlocks({ upTo: Number.MAX_SAFE_INTEGER, last }));

  /** Whether the node has this block; `undefined` if no node has the height any more, or if states have no time. */
  async function hasBlock({ beaconHeight, time }: RecordedHeight, head: Head): Promise<boolean | undefined> {
    if (!isFinal(beaconHeight, head.beaconHeight)) return false;
    const state = await readFinal(beaconHeight, head).catch((error: unknown) => {
      if (error instanceof HeightNotAvailableError) return undefined;
      throw new HistoryDatabaseError('a recorded height cannot be compared with that of the node', { cause: error });
    });
    return state?.time === undefined ? undefined : state.time === time;
  }

  /** Compares the newest recorded block below a height. @throws HistoryDatabaseError if it cannot be compared now */
  async function compareBelow(height: BeaconHeight, head: Head): Promise<Finding> {
    const recorded = (await newestBlocks(MAX_BRANCH)).filter(({ beaconHeight }) => beaconHeight < height);
    const last = recorded.at(-1);
    if (last === undefined || (await hasBlock(last, head)) !== false) return 'same chain';
    // The recorded heights are halved until the lowest block of the branch is found.
    let [low, high] = [-1, recorded.length - 1];
    let isShared: boolean | undefined;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      const found = await hasBlock(recorded[middle] as RecordedHeight, head);
      if (found === false) {
        high = middle;
      } else {
        low = middle;
        isShared = found;
      }
    }
    // If no height agrees, it is unknown where a branch would begin.
    return (isShared && recorded[high]) || 'other chain';
  }

  async function deleteBranch(found: Finding): Promise<boolean> {
    if (typeof found === 'string') return false;
    // Meanwhile another replica may have taken over.
    if (!mayWrite()) throw new HistoryDatabaseError('another replica writes to the database');
    const deleted = await use(() => store.deleteFrom(found));
    if (deleted.length > 0) await onDeleted(deleted);
    return deleted.length > 0;
  }

  const deleteBelow = async (height: BeaconHeight, head: Head) => deleteBranch(await compareBelow(height, head));

  function refuse(height: BeaconHeight): Promise<never> {
    const problem = `the database belongs to another chain: it has another block at beacon height ${height} than the node`;
    return use(() => Promise.reject(new HistoryDatabaseError(problem, { isPermanent: true })));
  }

  return {
    async requireSameChain(head) {
      const [last] = await newestBlocks(1);
      if (last === undefined) return;
      const { block } = (await use(() => store.blockAt(head.time))) ?? {};
      // A block of the same chain that is not below the head is not made before it.
      const isContradiction = block && block.beaconHeight >= head.beaconHeight && block.time < head.time;
      if (!isContradiction && !isFinal(last.beaconHeight, head.beaconHeight))
        throw new HistoryDatabaseError('the node has not reached the recorded heights');
      const found = await compareBelow(last.beaconHeight + 1, head);
      if (found === 'other chain') await refuse(last.beaconHeight);
      await deleteBranch(found);
    },
    deleteBelow,
    suspectBelow(height) {
      suspected ??= { below: height, comparisons: 0 };
    },
    isSuspecting: () => suspected !== undefined,
    async deleteSuspected(head) {
      const compared = suspected;
      suspected = undefined;
      if (compared === undefined) return;
      try {
        await deleteBelow(compared.below, head);
      } catch (error) {
        const comparisons = compared.comparisons + 1;
        if (comparisons < MAX_COMPARISONS) suspected ??= { ...compared, comparisons };
        throw error;
      }
    },
    forget() {
      suspected = undefined;
    },
  };
}
