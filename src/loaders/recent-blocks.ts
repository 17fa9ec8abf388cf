import { ancestors } from '../history/block-times.ts';
import type { RecordedHeight } from '../history/store.ts';
import type { Dependencies } from './dependencies.ts';
import type { HeadPin } from './head-pin.ts';
import { requireAtLeast, requireWithin } from './history-arguments.ts';
import type { Sources } from './sources.ts';

/** The newest blocks of the beacon chain, up to the head of the answer. */
export type RecentBlocksLoader = {
  /**
   * The newest known blocks, ascending: the recorded ones, and those that are not final yet. Heights that are not known are
   * missing.
   *
   * @throws BadUserInputError for a number out of range, HistoryUnavailableError, UpstreamError
   */
  newest(last: number | null | undefined): Promise<readonly BeaconBlock[]>;
};

/** A block of the beacon chain: its height, hash and time. */
export type BeaconBlock = RecordedHeight;

/** How many blocks are returned if `last` is not set. */
export const DEFAULT_BLOCKS = 60;

/** Creates the loader of one answer. */
export function createRecentBlocksLoader(
  head: HeadPin,
  dependencies: Dependencies,
  { history, head: follower }: Pick<Sources, 'history' | 'head'>,
  maxPageSize: number,
): RecentBlocksLoader {
  return {
    async newest(requested) {
      requireAtLeast(0, 'last', requested);
      const last = requested ?? DEFAULT_BLOCKS;
      requireWithin(maxPageSize, 'last', last);
      const newest = await head.get();
      const version = history.version();
      // Before the store is read: what is recorded meanwhile is in both.
      const inMemory = ancestors(newest, history.unrecorded()).toReversed();
      const [lowest = newest] = inMemory;
      const recorded = await history.recentBlocks({ upTo: lowest.beaconHeight - 1, last });
      dependencies.dependOn(history.version, version, () => (history.isBackfilling() ? undefined : follower.nextAt()));
      return [...recorded, ...inMemory].slice(Math.max(0, recorded.length + inMemory.length - last));
    },
  };
}
