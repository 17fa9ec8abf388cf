import type { BeaconHeight, HeightRange } from '../domain/beacon-height.ts';
import type { Instant } from '../domain/instant.ts';
import type { Coverage } from './store.ts';

/** Which heights are missing. */
type Missing = {
  /** The highest height that can be. */
  readonly highest: BeaconHeight;
  /** Heights below the recorded ones are missing from here on, or all of them if the recorded ones do not reach a time. */
  readonly urgentFrom: BeaconHeight;
  readonly oldest: Instant;
  /** The step between the heights of a long gap. */
  readonly step: number;
  /** From this height on, all heights of a gap are read. */
  readonly completeFrom: BeaconHeight;
};

/** All missing heights in the order in which they are read, from the newest down. Some are older than is read, or pruned. */
export function* missingHeights(
  coverage: Coverage | undefined,
  { highest, urgentFrom, oldest, step, completeFrom }: Missing,
): Iterable<BeaconHeight> {
  const { first, last, gaps = [] } = coverage ?? {};
  const ranges: HeightRange[] = [{ from: (last?.beaconHeight ?? 0) + 1, to: highest }, ...gaps];
  if (first !== undefined) ranges.push({ from: first.time > oldest ? 1 : urgentFrom, to: first.beaconHeight - 1 });
  for (const { from, to } of ranges) {
    yield* heightsToRead({ from: Math.max(from, completeFrom), to }, 1);
    yield* heightsToRead({ from, to: Math.min(to, completeFrom - 1) }, step);
  }
}

/**
 * The heights of a range that are read, from the newest down: of a long range the multiples of the step, of a range that is
 * shorter than between two multiples all.
 */
export function* heightsToRead({ from, to }: HeightRange, step: number): Iterable<BeaconHeight> {
  const isShort = to - from + 1 < step - 1;
  const every = isShort ? 1 : step;
  for (let height = to - (to % every); height >= from; height -= every) yield height;
}
