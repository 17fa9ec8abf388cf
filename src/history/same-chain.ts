import { type BeaconHeight, isFinal } from '../domain/beacon-height.ts';
import type { ExchangeState } from '../domain/exchange.ts';
import { HeightNotAvailableError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import { HistoryDatabaseError, type HistoryStore, type RecordedHeight } from './store.ts';

/** Compares recorded blocks with those of the node by their times, because a state has no hash. */
type ChainComparison = {
  /**
   * Compares the newest recorded block. Another chain can have the same name.
   *
   * @throws HistoryDatabaseError if it cannot be compared now
   */
  newest(head: Head): Promise<Finding>;
  /** Compares the newest recorded block below a height. @throws HistoryDatabaseError if it cannot be compared now */
  below(height: BeaconHeight, head: Head): Promise<Finding>;
};

/** What a comparison has shown. */
export type Finding =
  | { readonly kind: 'same chain' }
  /** The block and those above it are of a branch that was given up: the next lower recorded one is of the node's chain. */
  | { readonly kind: 'branch'; readonly from: RecordedHeight }
  | { readonly kind: 'other chain'; readonly at: BeaconHeight };

/** Reads a final state from a node, when no client waits. @throws HeightNotAvailableError, UpstreamError */
export type ReadFinal = (height: BeaconHeight, head: Head) => Promise<ExchangeState>;

/** The blocks of a store, and those of the node. */
type ComparisonOptions = Pick<HistoryStore, 'recentBlocks' | 'blockAt'> & { readonly readFinal: ReadFinal };

/**
 * A branch has fewer recorded heights than that. The node can still show those of three quarters of an hour again, and to find
 * where the branch begins takes seven reads at most.
 */
const MAX_BRANCH = 64;

const SAME: Finding = { kind: 'same chain' };

/** Creates the comparison. It writes nothing. */
export function createChainComparison({ recentBlocks, blockAt, readFinal }: ComparisonOptions): ChainComparison {
  /** Whether the node has this block; `undefined` if no node has the height any more, or if states have no time. */
  async function hasBlock({ beaconHeight, time }: RecordedHeight, head: Head): Promise<boolean | undefined> {
    if (!isFinal(beaconHeight, head.beaconHeight)) return false;
    const state = await readFinal(beaconHeight, head).catch((error: unknown) => {
      if (error instanceof HeightNotAvailableError) return undefined;
      throw new HistoryDatabaseError('a recorded height cannot be compared with that of the node', { cause: error });
    });
    return state?.time === undefined ? undefined : state.time === time;
  }

  /** Halves the recorded heights until the lowest block of the branch is found. @param recorded ascending, with the highest of the branch */
  async function findBranch(recorded: readonly RecordedHeight[], head: Head): Promise<RecordedHeight | undefined> {
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
    return isShared ? recorded[high] : undefined;
  }

  async function below(height: BeaconHeight, head: Head): Promise<Finding> {
    const recent = await recentBlocks({ upTo: Number.MAX_SAFE_INTEGER, last: MAX_BRANCH });
    const recorded = recent.filter(({ beaconHeight }) => beaconHeight < height);
    const last = recorded.at(-1);
    if (last === undefined || (await hasBlock(last, head)) !== false) return SAME;
    const from = await findBranch(recorded, head);
    return from ? { kind: 'branch', from } : { kind: 'other chain', at: last.beaconHeight };
  }

  return {
    async newest(head) {
      const [last] = await recentBlocks({ upTo: Number.MAX_SAFE_INTEGER, last: 1 });
      if (last === undefined) return SAME;
      const { block } = (await blockAt(head.time)) ?? {};
      // A block of the same chain that is not below the head is not made before it.
      const isContradiction = block && block.beaconHeight >= head.beaconHeight && block.time < head.time;
      if (!isContradiction && !isFinal(last.beaconHeight, head.beaconHeight))
        throw new HistoryDatabaseError('the node has not reached the recorded heights');
      return below(last.beaconHeight + 1, head);
    },
    below,
  };
}
