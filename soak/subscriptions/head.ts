import type { SoakContext } from '../context.ts';
import { type CheckedSubscription, createHeights } from './subscription.ts';

type HeadResult = {
  readonly beaconHeight: number;
  readonly previousHeight: number | null;
  readonly hash: string;
  readonly time: string;
};

/** A subscription to heads: each must be a block that was shown, and have the previous height. */
export function createHeadSubscription({ served }: SoakContext): CheckedSubscription {
  const heights = createHeights();
  return {
    kind: 'head',
    source: 'head',
    query: 'subscription { head { beaconHeight previousHeight hash time } }',
    check(data) {
      const { beaconHeight, previousHeight, hash, time } = data['head'] as HeadResult;
      const before = heights.last();
      return (
        heights.step(beaconHeight) ??
        (previousHeight !== null && previousHeight > beaconHeight ? `previousHeight ${previousHeight}` : undefined) ??
        (before !== undefined && (previousHeight === null || previousHeight < before)
          ? `previousHeight ${previousHeight}, though ${before} was received`
          : undefined) ??
        served.mismatchAt(beaconHeight, (block) => {
          const isTrue = block.hash === hash && new Date(block.time * 1_000).toISOString() === time;
          return isTrue ? undefined : `not the block ${block.hash}`;
        })
      );
    },
    height: heights.last,
    skipped: heights.skipped,
    resumed: () => undefined,
  };
}
