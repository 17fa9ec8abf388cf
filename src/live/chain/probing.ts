import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { UpstreamError } from '../../errors.ts';

type ProbingOptions<T> = {
  /** Whether it is unknown if any node still has the height. The response for one height can decide about others. */
  readonly isUnknown: (height: BeaconHeight) => boolean;
  readonly read: (height: BeaconHeight) => Promise<T>;
};

/** Heights that are read first, among them the lowest and the highest. If all of them are pruned, these are all the calls. */
const FIRST_PROBES = 4;

/** Heights that are read at once after that, between one that is pruned and one that is retained. */
const MORE_PROBES = 2;

/**
 * Reads several heights. Those that are known to be retained or pruned are read at once. Of the unknown ones a few are read
 * at a time, until these have decided about the others: all above the lowest retained height are retained, and all below the
 * highest pruned height are pruned.
 *
 * @returns the value of each height, or why it could not be read, in the order of the heights
 */
export async function readProbing<T>(
  heights: readonly BeaconHeight[],
  { isUnknown, read }: ProbingOptions<T>,
): Promise<(T | Error)[]> {
  const reads = new Map<BeaconHeight, Promise<T | Error>>();
  let unknown = heights.toSorted((a, b) => a - b);

  function begin(some: readonly BeaconHeight[]): Promise<T | Error>[] {
    unknown = unknown.filter((height) => !some.includes(height));
    return some.map((height) => {
      const result = read(height).catch((error: Error) => error);
      reads.set(height, result);
      return result;
    });
  }

  const beginDecided = () => begin(unknown.filter((height) => !isUnknown(height)));

  beginDecided();
  for (let round = 0; unknown.length > (round === 0 ? FIRST_PROBES : 1); round++) {
    const probes = begin(round === 0 ? evenly(unknown, FIRST_PROBES) : between(unknown, MORE_PROBES));
    const left = unknown.length;
    const answers = await Promise.all(probes.map((probe) => probe.finally(beginDecided)));
    const failure = answers.find((answer) => answer instanceof UpstreamError);
    const hasLearnedNothing = unknown.length === left && answers.every((answer) => answer instanceof Error);
    // The nodes could not be read: they are not called for the other heights too.
    if (hasLearnedNothing && failure !== undefined)
      for (const height of unknown.splice(0)) reads.set(height, Promise.resolve(failure));
  }
  begin(unknown);
  return Promise.all(heights.map((height) => reads.get(height) as Promise<T | Error>));
}

/** The given number of elements of a list at even distances, with the first and the last. */
function evenly<T>(list: readonly T[], count: number): T[] {
  return Array.from({ length: count }, (_, n) => list[Math.round((n * (list.length - 1)) / (count - 1))] as T);
}

/** The given number of elements of a list, which divide it into equal parts. */
function between<T>(list: readonly T[], count: number): T[] {
  return Array.from({ length: count }, (_, n) => list[Math.floor(((n + 1) * list.length) / (count + 1))] as T);
}
