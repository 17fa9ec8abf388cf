import type { HeightRange } from '../domain/beacon-height.ts';
import { ancestors } from '../domain/chain.ts';
import type { Coverage, RecordedHeight } from '../history/store.ts';
import { readPageSize } from './arguments.ts';
import { createCandleLoader } from './candles.ts';
import { createHistoryView } from './history-view.ts';
import { createPoolTradeLoader } from './pool-trades.ts';
import { createPriceChangeLoader } from './price-changes.ts';
import type { ResponseInputs } from './token.ts';

/** How many gaps are returned if `first` is not set. */
export const DEFAULT_GAPS = 100;

/** How many blocks are returned if `last` is not set. */
export const DEFAULT_BLOCKS = 60;

/** A block of the beacon chain: its height, hash and time. */
export type BeaconBlock = RecordedHeight;

/** What is recorded. */
export type HistoryCoverage = Coverage;

/** What is recorded of the pools of one response, with the heads in memory. All methods throw HistoryUnavailableError. */
export type HistoryLoader = ReturnType<typeof createHistoryLoader>;

/** Creates the history loader of one response. The pools of a response are read together. */
export function createHistoryLoader(inputs: ResponseInputs) {
  const { sources, head, dependencies, options } = inputs;
  const { history, head: follower } = sources;
  const view = createHistoryView(inputs);
  const { versions } = view;

  return {
    ...createCandleLoader(view),
    ...createPriceChangeLoader(view),
    ...createPoolTradeLoader(view),
    /** What is recorded; `undefined` while nothing is. */
    async coverage(): Promise<Coverage | undefined> {
      // A database is of one chain. It is not read before a node has shown which one is expected.
      await follower.get().catch(() => {});
      versions.recorded.depend();
      return view.read(() => history.coverage(options.maxPageSize));
    },
    /** The newest gaps of the history. @throws BadUserInputError for a number below 0, or above the limit */
    gaps({ gaps }: Coverage, first: number | null | undefined): readonly HeightRange[] {
      return gaps.slice(0, readPageSize({ first }, options.maxPageSize, DEFAULT_GAPS));
    },
    /**
     * The newest known blocks up to the head of the response, ascending: the recorded ones, and those that are not final yet.
     * Heights that are not known are missing.
     *
     * @throws BadUserInputError for a number below 0, or above the limit, UpstreamError
     */
    async blocks(requested: number | null | undefined): Promise<readonly BeaconBlock[]> {
      const last = readPageSize({ last: requested }, options.maxPageSize, DEFAULT_BLOCKS);
      const newest = await head.get();
      const version = history.version();
      // Before the store is read: what is recorded meanwhile is in both.
      const inMemory = ancestors(newest, history.headsInMemory()).toReversed();
      const [lowest = newest] = inMemory;
      const recorded = await view.read(() => history.recentBlocks({ upTo: lowest.beaconHeight - 1, last }));
      versions.recorded.depend(version);
      return [...recorded, ...inMemory].slice(Math.max(0, recorded.length + inMemory.length - last));
    },
    versions,
    isBackfilling(): boolean {
      const isBackfilling = history.isBackfilling();
      dependencies.dependOn(history.isBackfilling, isBackfilling, follower.nextAt);
      return isBackfilling;
    },
  };
}
