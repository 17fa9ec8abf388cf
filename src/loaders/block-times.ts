import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { Instant } from '../domain/instant.ts';
import type { Loaders } from './loaders.ts';

/**
 * The newest height, up to that of the answer, whose block was made at or before a time; `undefined` if that was before the
 * first block that is known.
 *
 * @throws HeightNotAvailableError, UpstreamError
 */
export async function heightAt(
  time: Instant,
  { head, sources, options }: Pick<Loaders, 'head' | 'sources' | 'options'>,
): Promise<BeaconHeight | undefined> {
  const newest = await head.getFor([]);
  const found = await sources.blockTimes.heightAt(time, newest, (height, under) =>
    sources.pastStates.read(height, under, options.requester),
  );
  // The block above decides too: while it is not final, it can be replaced by one that was made earlier.
  if (found === undefined) await head.get();
  else await head.getFor([found + 1]);
  return found;
}
