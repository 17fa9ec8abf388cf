import type { History } from '../history/history.ts';
import type { Coverage } from '../history/store.ts';
import type { HeadFollower } from '../live/chain/head-follower.ts';
import { type CandleLoader, createCandleLoader } from './candles.ts';
import type { Dependencies, HistoryUse } from './dependencies.ts';
import type { HeadPin } from './head-pin.ts';
import { DEFAULT_GAPS, requireAtLeast, requireWithin } from './history-arguments.ts';
import { createHistoryView } from './history-view.ts';
import { createPriceChangeLoader, type PriceChangeLoader } from './price-changes.ts';
import { createSparklineLoader, type SparklineLoader } from './sparklines.ts';
import type { TokenLoader } from './token.ts';
import type { WindowStarts } from './window-starts.ts';

/** What is recorded of the pools of one answer, with the heads in memory. All methods throw HistoryUnavailableError. */
export type HistoryLoader = CandleLoader &
  PriceChangeLoader &
  SparklineLoader & {
    /** What is recorded; `undefined` while nothing is. */
    coverage(): Promise<Coverage | undefined>;
    /** The newest gaps of the history. @throws BadUserInputError for a number below 0, or above the limit */
    gaps(coverage: Coverage, first: number | null | undefined): Promise<readonly HeightRange[]>;
    isBackfilling(): boolean;
    /** What of the history can change the values that were read. */
    uses(): HistoryUse;
    /** Notes that the answer contains values that these can change. */
    use(used: HistoryUse): void;
  };

/** What is recorded. */
export type HistoryCoverage = Coverage;

/** A range of heights; both are included. */
export type HeightRange = Coverage['gaps'][number];

/** The limits of what one field reads of the history. */
export type HistoryLimits = {
  readonly maxCandles: number;
  readonly maxHistoryHours: number;
  readonly maxPageSize: number;
};

type HistoryLoaderOptions = {
  readonly history: History;
  readonly windowStarts: WindowStarts;
  readonly head: HeadPin;
  readonly dependencies: Dependencies;
  readonly tokens: TokenLoader;
  readonly limits: HistoryLimits;
  readonly follower: Pick<HeadFollower, 'get' | 'nextAt'>;
};

/** Creates the history loader of one answer. The pools of an answer are read together. */
export function createHistoryLoader(options: HistoryLoaderOptions): HistoryLoader {
  const { history, windowStarts, head, dependencies, tokens, limits, follower } = options;
  const view = createHistoryView({ history, head, dependencies, follower });
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
    uses: view.uses,
    use({ version, fills }) {
      if (version) view.dependOnVersion();
      if (fills) view.dependOnFills();
    },
    isBackfilling() {
      const isBackfilling = history.isBackfilling();
      dependencies.dependOn(history.isBackfilling, isBackfilling, follower.nextAt);
      return isBackfilling;
    },
  };
}
