import type { Sources } from '../loaders/sources.ts';
import type { ReadDayRanges } from './day-ranges.ts';
import { createListLoaders, TICKER_HOURS } from './lists.ts';

/**
 * Creates the function that reads ranges from the recorded history and the heads in memory. A pool has no range while the history
 * does not reach back for 24 hours and older heights are still being read: its range would be that of a shorter time.
 */
export function createRangeReader(sources: Sources): ReadDayRanges {
  return async (head, pools) => {
    const { history } = createListLoaders(sources, head);
    const isBackfilling = history.isBackfilling();
    return Promise.all(
      pools.map(async (pool) => {
        const change = await history.change(pool, { hours: TICKER_HOURS });
        if (change === undefined || (isBackfilling && !change.start.isAtStart)) return undefined;
        const { high, low } = await history.window(change);
        return { highest: { ...pool, ...high }, lowest: { ...pool, ...low } };
      }),
    );
  };
}
