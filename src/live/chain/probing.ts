import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { UpstreamError } from '../../errors.ts';

/** How the heights of one answer are read. */
export type ProbingOptions<T> = {
  /** Whether it has to be tried if any node still has the height. What one height shows can decide about others. */
  readonly isUnknown: (height: BeaconHeight) => boolean;
  readonly read: (height: BeaconHeight) => Promise<T>;
};

/** As many are tried at first, among them the lowest and the highest: where none is there, these are all the calls. */
const FIRST_PROBES = 4;

/** As many are tried at once after that, between one that is gone and one that is there. */
const MORE_PROBES = 2;

/**
 * Reads several heights, all at once where they are known to be there or to be gone. Of those that are unknown a few are
 * tried, from the lowest to the highest, until these have decided about all others: the lowest that is there shows that all
 * above it are, the highest that is gone that all below it are.
 *
 * @returns what was read, or why not, in the order of the heights
 */
export async function readProbing<T>(
  heights: readonly BeaconHeight[],
  { isUnknown, read }: ProbingOptions<T>,
): Promise<(T | Error)[]> {
  const readings = new Map<BeaconHeight, Promise<T | Error>>();
  let unknown = heights.toSorted((a, b) => a - b);

  function begin(some: readonly BeaconHeight[]): Promise<T | Error>[] {
    unknown = unknown.filter((height) => !some.includes(height));
    return some.map((height) => {
      const reading = read(height).catch((error: Error) => error);
      readings.set(height, reading);
      return reading;
    });
  }

  const beginDecided = () => begin(unknown.filter((height) => !isUnknown(height)));

  beginDecided();
  for (let round = 0; unknown.length > (round === 0 ? FIRST_PROBES : 1); round++) {
    const probes = begin(round === 0 ? spread(unknown, FIRST_PROBES) : between(unknown, MORE_PROBES));
    const left = unknown.length;
    const answers = await Promise.all(probes.map((probe) => probe.finally(beginDecided)));
    const failure = answers.find((answer) => answer instanceof UpstreamError);
    const isVain = unknown.length === left && answers.every((answer) => answer instanceof Error);
    // Nothing was learnt because the node could not be read: it is not called for all the others too.
    if (isVain && failure !== undefined)
      for (const height of unknown.splice(0)) readings.set(height, Promise.resolve(failure));
  }
  begin(unknown);
  return Promise.all(heights.map((height) => readings.get(height) as Promise<T | Error>));
}

/** So many of a list, evenly from the first to the last. */
function spread<T>(list: readonly T[], count: number): T[] {
  return Array.from({ length: count }, (_, n) => list[Math.round((n * (list.length - 1)) / (count - 1))] as T);
}

/** So many of a list, which divide it into equal parts. */
function between<T>(list: readonly T[], count: number): T[] {
  return Array.from({ length: count }, (_, n) => list[Math.floor(((n + 1) * list.length) / (count + 1))] as T);
}
