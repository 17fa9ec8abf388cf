import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { Instant } from '../domain/instant.ts';
import type { Requester } from '../upstream/fair-queue.ts';
import type { HeadPin } from './head-pin.ts';
import type { Sources } from './sources.ts';

/** The blocks at moments in the past, up to the height of the answer. */
export type BlockTimesLoader = {
  /**
   * The newest height whose block was made at or before a time; `undefined` if that was before the first block that is known.
   *
   * @throws HeightNotAvailableError, UpstreamError
   */
  heightAt(time: Instant): Promise<BeaconHeight | undefined>;
};

/** Creates the loader of one answer. */
export function createBlockTimesLoader(
  head: HeadPin,
  { blockTimes, pastStates }: Pick<Sources, 'blockTimes' | 'pastStates'>,
  requester: Requester,
): BlockTimesLoader {
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
