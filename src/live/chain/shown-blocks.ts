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
  /**
   * The height up to which the URL surely has one chain. Only for a URL that has shown two blocks of some height in turn;
   * `undefined` for all others.
   */
  commonHeight(): BeaconHeight | undefined;
  /** How many tips were shown since a block last was the tip. Tips of new heights do not count: they show only one block. */
  tipsSince(hash: string): number;
};

/** A block that a node showed as its tip. */
export type ShownBlock = Pick<BestBlock, 'height' | 'hash' | 'time'>;

const BLOCKS_REMEMBERED = 64;

/**
 * If a URL has shown two blocks of a height in turn, one of them is given up when this number of tips has not shown it. Behind
 * a load balancer, a node that is not among this number of tips was not there yet, or had no other chain yet.
 */
export const TIPS_UNTIL_UNITED = 16;

/** Creates the record of a node that has shown nothing yet. */
export function createShownBlocks(): ShownBlocks {
  let shown: readonly ShownBlock[] = [];
  /** Counts the tips of heights that were shown before: they show whether there is another block. */
  let tips = 0;
  /** For each of these blocks, by its hash, the number of the last tip that it was. */
  const lastTips = new Map<string, number>();
  /** Heights at which a block was shown again after another. */
  let uncertain: readonly BeaconHeight[] = [];
  /** Both chains have the heights up to this one. */
  let common: BeaconHeight | undefined;

  const tipsSince = (hash: string) => tips - (lastTips.get(hash) ?? 0);

  /**
   * A branch is not older than the tips that could have shown it. The height stays as long as two blocks of one height are
   * recent, because then there still are two chains.
   */
  function commonHeight(): BeaconHeight | undefined {
    if (uncertain.length === 0) return undefined;
    const recent = shown.filter(({ hash }) => tipsSince(hash) < TIPS_UNTIL_UNITED).map((block) => block.height);
    const isSplit = new Set(recent).size < recent.length;
    const below = Math.min(...recent) - (tips > TIPS_UNTIL_UNITED ? 1 : BLOCKS_REMEMBERED);
    return isSplit && common !== undefined ? Math.min(common, below) : below;
  }

  return {
    add({ height, hash, time }) {
      const atHeight = shown.filter((block) => block.height === height);
      if (atHeight.length > 0) tips += 1;
      const isKnown = atHeight.some((block) => block.hash === hash);
      if (!isKnown) shown = [...shown, { height, hash, time }].slice(-BLOCKS_REMEMBERED);
      else if (atHeight.at(-1)?.hash !== hash && !uncertain.includes(height)) uncertain = [...uncertain, height];
      const oldest = shown[0]?.height ?? 0;
      if (uncertain.some((each) => each < oldest)) uncertain = uncertain.filter((each) => each >= oldest);
      lastTips.set(hash, tips);
      if (lastTips.size > 2 * BLOCKS_REMEMBERED)
        for (const old of lastTips.keys()) if (!shown.some((block) => block.hash === old)) lastTips.delete(old);
      common = commonHeight();
    },
    all: () => shown,
    blockAt(height) {
      if (uncertain.length === 0) return undefined;
      // If a height was not shown, the next one above it shows whether the chain branches at or below it.
      const nearest = Math.min(...shown.map((block) => block.height).filter((each) => each >= height));
      return uncertain.includes(nearest) ? 'uncertain' : shown.findLast((block) => block.height === height);
    },
    commonHeight: () => common,
    tipsSince,
  };
}
