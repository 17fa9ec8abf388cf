import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { Instant } from '../domain/instant.ts';
import type { BlockTimes } from '../history/block-times.ts';
import type { PastStates } from '../live/chain/past-states.ts';
import type { Requester } from '../upstream/fair-queue.ts';
import type { HeadPin } from './head-pin.ts';

/** The blocks at moments in the past, up to the height of the answer. */
export type BlockTimesLoader = {
  /**
   * The newest height whose block was made at or before a time; `undefined` if that was before the first block that is known.
   *
   * @throws HeightNotAvailableError, UpstreamError
   */
  heightAt(time: Instant): Promise<BeaconHeight | undefined>;
};

type BlockTimesLoaderOptions = {
  readonly head: HeadPin;
  readonly blockTimes: BlockTimes;
  readonly pastStates: PastStates;
  readonly requester: Requester;
};

/** Creates the loader of one answer. */
export function createBlockTimesLoader(options: BlockTimesLoaderOptions): BlockTimesLoader {
  const { head, blockTimes, pastStates, requester } = options;

  return {
    async heightAt(time) {
      const newest = await head.getFor([]);
      const found = await blockTimes.heightAt(time, newest, (height, under) =>
        pastStates.read(height, under, requester),
      );
      // The block above decides too: while it is not final, it can be replaced by one that was made earlier.
      if (found === undefined) await head.get();
      else await head.getFor([found + 1]);
      return found;
    },
  };
}
