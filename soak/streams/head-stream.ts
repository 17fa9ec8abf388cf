import type { Stage } from '../stage.ts';
import { createHeights, type Stream } from './stream.ts';

type HeadTold = {
  readonly beaconHeight: number;
  readonly previousHeight: number | null;
  readonly hash: string;
  readonly time: string;
};

/** Follows heads: each must be a block that was shown, and name the height before it. */
export function createHeadStream({ served }: Stage): Stream {
  const heights = createHeights();
  return {
    kind: 'head',
    source: 'head',
    query: 'subscription { head { beaconHeight previousHeight hash time } }',
    take(data) {
      const { beaconHeight, previousHeight, hash, time } = data['head'] as HeadTold;
      const before = heights.last();
      return (
        heights.step(beaconHeight) ??
        (previousHeight !== null && previousHeight > beaconHeight ? `previousHeight ${previousHeight}` : undefined) ??
        (before !== undefined && (previousHeight === null || previousHeight < before)
          ? `previousHeight ${previousHeight}, though ${before} had come`
          : undefined) ??
        served.misfitOfChain(beaconHeight, (block) => {
          const isTrue = block.hash === hash && new Date(block.time * 1_000).toISOString() === time;
          return isTrue ? undefined : `not the block ${block.hash}`;
        })
      );
    },
    height: heights.last,
    missed: heights.missed,
    resumed: () => undefined,
  };
}
