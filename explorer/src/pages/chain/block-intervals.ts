/** A block as far as its time matters. */
type TimedBlock = { readonly beaconHeight: number; readonly time: string };

/** How long after the block below it a block was produced, in milliseconds. */
export type BlockInterval = { readonly height: number; readonly ms: number };

/** The intervals of blocks, oldest first. A block whose predecessor is not known has none. */
export function intervalsOf(blocks: readonly TimedBlock[]): readonly BlockInterval[] {
  return blocks.flatMap(({ beaconHeight, time }, index) => {
    const before = blocks[index - 1];
    if (before === undefined || before.beaconHeight !== beaconHeight - 1) return [];
    return [{ height: beaconHeight, ms: Math.max(0, Date.parse(time) - Date.parse(before.time)) }];
  });
}

/** The interval in the middle: a few late blocks do not change it. @returns `undefined` if there is none */
export function medianOf(intervals: readonly BlockInterval[]): number | undefined {
  const sorted = intervals.map(({ ms }) => ms).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  return sorted.length % 2 === 0 && upper !== undefined ? (upper + (sorted[middle - 1] ?? upper)) / 2 : upper;
}
