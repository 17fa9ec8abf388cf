import { ancestors } from '../history/followed-heads.ts';
import type { Coverage, RecordedHeight } from '../history/store.ts';
import { requireAtLeast, requireWithin } from './argument-ranges.ts';
import { type CandleLoader, createCandleLoader } from './candles.ts';
import { createHistoryView, type HistoryLoaderOptions, type HistoryView } from './history-view.ts';
import { createPriceChangeLoader, type PriceChangeLoader } from './price-changes.ts';
import { createSparklineLoader, type SparklineLoader } from './sparklines.ts';

/** How many gaps are returned if `first` is not set. */
export const DEFAULT_GAPS = 100;

/** How many blocks are returned if `last` is not set. */
export const DEFAULT_BLOCKS = 60;

/** What is recorded of the pools of one answer, with the heads in memory. All methods throw HistoryUnavailableError. */
export type HistoryLoader = CandleLoader &
  PriceChangeLoader &
  SparklineLoader & {
    /** What is recorded; `undefined` while nothing is. */
    coverage(): Promise<Coverage | undefined>;
    /** The newest gaps of the history. @throws BadUserInputError for a number below 0, or above the limit */
    gaps(coverage: Coverage, first: number | null | undefined): Promise<readonly HeightRange[]>;
    /**
     * The newest known blocks up to the head of the answer, ascending: the recorded ones, and those that are not final yet.
     * Heights that are not known are missing.
     *
     * @throws BadUserInputError for a number below 0, or above the limit, UpstreamError
     */
    blocks(last: number | null | undefined): Promise<readonly BeaconBlock[]>;
    isBackfilling(): boolean;
  } & Pick<HistoryView, 'canChange' | 'fills' | 'canIncludeFills'>;

/** A block of the beacon chain: its height, hash and time. */
export type BeaconBlock = RecordedHeight;

/** What is recorded. */
export type HistoryCoverage = Coverage;

/** A range of heights; both are included. */
export type HeightRange = Coverage['gaps'][number];

/** Creates the history loader of one answer. The pools of an answer are read together. */
export function createHistoryLoader(options: HistoryLoaderOptions): HistoryLoader {
  const { sources, head, dependencies, tokens, limits } = options;
  const { history, windowStarts, head: follower } = sources;
  const view = createHistoryView(options);
  const read = { view, windowStarts, tokens, limits };

  return {
    ...createCandleLoader(read),
    ...createPriceChangeLoader(read),
    ...createSparklineLoader(read),
    async coverage() {
      // The database is not read before a node has shown of which chain it must be.
      await follower.get().catch(() => {});
      view.dependOnVersion();
      return history.coverage(DEFAULT_GAPS);
    },
    async gaps({ gaps }, first) {
      const max = first ?? DEFAULT_GAPS;
      requireAtLeast(0, 'first', max);
      requireWithin(limits.maxPageSize, 'first', max);
      const all = max > DEFAULT_GAPS && gaps.length === DEFAULT_GAPS ? await history.coverage(max) : undefined;
      return (all?.gaps ?? gaps).slice(0, max);
    },
    async blocks(requested) {
      requireAtLeast(0, 'last', requested);
      const last = requested ?? DEFAULT_BLOCKS;
      requireWithin(limits.maxPageSize, 'last', last);
      const newest = await head.get();
      const version = history.version();
      // Before the store is read: what is recorded meanwhile is in both.
      const inMemory = ancestors(newest, history.unrecorded()).toReversed();
      const [lowest = newest] = inMemory;
      const recorded = await history.recentBlocks({ upTo: lowest.beaconHeight - 1, last });
      view.dependOnVersion(version);
      return [...recorded, ...inMemory].slice(Math.max(0, recorded.length + inMemory.length - last));
    },
    canChange: view.canChange,
    fills: view.fills,
    canIncludeFills: view.canIncludeFills,
    isBackfilling() {
      const isBackfilling = history.isBackfilling();
      dependencies.dependOn(history.isBackfilling, isBackfilling, follower.nextAt);
      return isBackfilling;
    },
  };
}
