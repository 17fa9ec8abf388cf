import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { BestBlock } from '../../domain/chain.ts';

/** The newest blocks that one node has shown as its tip. */
export type ShownBlocks = {
  /** The node showed this block as its tip. */
  add(block: ShownBlock): void;
  all(): readonly ShownBlock[];
  /**
   * The block that was last shown at a height. Only for a URL that has shown two blocks of some height in turn, as a load
   * balancer in front of nodes with different tips does. It is `'uncertain'` where there are two. It is `undefined` where
   * no block of that height was shown, and for all other URLs: their states and their tip are of one chain.
   */
  blockAt(height: BeaconHeight): ShownBlock | 'uncertain' | undefined;
  /** How many tips were shown since a block last was the tip. */
  tipsSince(hash: string): number;
};

/** A block that a node showed as its tip. */
export type ShownBlock = Pick<BestBlock, 'height' | 'hash' | 'time'>;

const BLOCKS_REMEMBERED = 64;

/** Creates the record of a node that has shown nothing yet. */
export function createShownBlocks(): ShownBlocks {
  let shown: readonly RememberedBlock[] = [];
  let tips = 0;

  return {
    add({ height, hash, time }) {
      tips += 1;
      const atHeight = shown.filter((block) => block.height === height);
      const known = atHeight.find((block) => block.hash === hash);
      if (known === undefined) {
        shown = [...shown, { height, hash, time, lastTip: tips, cameBack: false }].slice(-BLOCKS_REMEMBERED);
      } else {
        known.lastTip = tips;
        known.cameBack ||= known !== atHeight.at(-1);
      }
    },
    all: () => shown,
    blockAt(height) {
      const uncertain = shown.filter((block) => block.cameBack).map((block) => block.height);
      if (uncertain.length === 0) return undefined;
      // If a height was not shown, the next one above it shows whether the chain branches at or below it.
      const nearest = Math.min(...shown.map((block) => block.height).filter((each) => each >= height));
      return uncertain.includes(nearest) ? 'uncertain' : shown.findLast((block) => block.height === height);
    },
    tipsSince: (hash) => tips - (shown.find((block) => block.hash === hash)?.lastTip ?? 0),
  };
}

type RememberedBlock = ShownBlock & {
  /** The number of the last tip that it was. */
  lastTip: number;
  /** Whether it was shown again after another block of its height. */
  cameBack: boolean;
};
