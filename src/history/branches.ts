import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { Head } from '../live/chain/head.ts';
import { createChainComparison, type Finding, type ReadFinal } from './same-chain.ts';
import { HistoryDatabaseError, type HistoryStore } from './store.ts';

/** Finds recorded blocks of a branch that was given up, and deletes them. Only a gateway that writes to the database uses it. */
type Branches = {
  /**
   * Requires that the database is of the chain of the node, before it is used. Deletes a branch at its top.
   *
   * @throws HistoryDatabaseError, permanent if it is of another chain
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
  readonly readFinal: ReadFinal;
  /** Whether this gateway writes to the database now, and no other replica of its fleet. */
  readonly mayWrite: () => boolean;
  /** Is called with the deleted heights. */
  readonly onDeleted: (heights: readonly BeaconHeight[]) => Promise<void>;
};

/** How often the same heights are compared until it succeeds. After that, only a restart compares them. */
const MAX_COMPARISONS = 5;

/** Creates the search for branches of a store. */
export function createBranches({ store, use, readFinal, mayWrite, onDeleted }: BranchesOptions): Branches {
  const comparison = createChainComparison({
    recentBlocks: (query) => use(() => store.recentBlocks(query)),
    blockAt: (time) => use(() => store.blockAt(time)),
    readFinal,
  });
  let suspected: { readonly below: BeaconHeight; readonly comparisons: number } | undefined;

  async function deleteBranch(found: Finding): Promise<boolean> {
    if (found.kind !== 'branch') return false;
    // Meanwhile another replica may have taken over.
    if (!mayWrite()) throw new HistoryDatabaseError('another replica writes to the database');
    const deleted = await use(() => store.deleteFrom(found.from));
    if (deleted.length > 0) await onDeleted(deleted);
    return deleted.length > 0;
  }

  function refuse(height: BeaconHeight): Promise<never> {
    const problem = `the database belongs to another chain: it has another block at beacon height ${height} than the node`;
    return use(() => Promise.reject(new HistoryDatabaseError(problem, { isPermanent: true })));
  }

  // If no height agrees, nothing tells where a branch would begin.
  const deleteBelow = async (height: BeaconHeight, head: Head) => deleteBranch(await comparison.below(height, head));

  return {
    async requireSameChain(head) {
      const found = await comparison.newest(head);
      if (found.kind === 'other chain') await refuse(found.at);
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
