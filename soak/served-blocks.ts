import type { Block } from '../src/sandbox/chain/block.ts';
import type { RequestTimes } from './judge.ts';
import type { Outages } from './outages.ts';
import type { ShownBlock, ShownBlocks } from './shown-blocks.ts';

/** Compares a response with a block. @returns what differs */
type Claim = (block: Block) => string | undefined;

/** Compares the heights that the gateway serves with the blocks that the sandbox showed. Mismatches are `undefined` or a text. */
export type ServedBlocks = {
  /** The height of the tip at the start of the run. */
  readonly start: number;
  /** The highest height in any response so far; at first, that of the start. */
  highest(): number;
  /** Whether a height was ever served as the newest. */
  wasServed(height: number): boolean;
  /** The number of heights that were served as the newest. */
  count(): number;
  /**
   * The mismatch of a response about the newest height. The response must match one block of that height. The block must not be
   * older than outages explain, and no earlier response may have a higher height.
   */
  mismatch(height: number, times: RequestTimes, claim: Claim): string | undefined;
  /** The mismatch of a response about any block that was ever shown at a height. */
  mismatchAt(height: number, claim: Claim): string | undefined;
  /** The market data that a response may contain, the newest first: what the host showed, as old as outages explain. */
  markets(sentAt: number): readonly ShownBlock[];
  /** Whether an update without a height is of no block since long ago, although the market-data host could be read. */
  isOutdated(isOf: (blocks: readonly ShownBlock[]) => boolean, now: number): boolean;
  /** The number of heights by which a height is behind the tip although the node could be read; 0 if it is not. */
  behind(height: number, now: number): number;
};

/** Maximum time until a block is served while a node can be read. */
const FRESH_WITHIN_MS = 6_000;

/** The length of a text about one of several blocks. */
const MAX_MISMATCH = 600;

/** Creates the comparison of a run. */
export function createServedBlocks(shown: ShownBlocks, outages: Outages): ServedBlocks {
  const start = shown.chain.tip.height;
  let highest = start;
  const served = new Set<number>();

  function matchAny(blocks: readonly Block[], claim: Claim): string | undefined {
    const mismatches: string[] = [];
    for (const block of blocks) {
      const mismatch = claim(block);
      if (mismatch === undefined) return undefined;
      mismatches.push(mismatch.slice(0, MAX_MISMATCH));
    }
    const [first = 'no such block was ever shown'] = mismatches;
    return blocks.length > 1
      ? `none of ${blocks.length} blocks of that height matches:\n${mismatches.join('\n')}`
      : first;
  }

  return {
    start,
    highest: () => highest,
    wasServed: (height) => served.has(height),
    count: () => served.size,
    mismatch(height, { sentAt, minHeight }, claim) {
      if (height < minHeight) return `height ${height} after ${minHeight}`;
      highest = Math.max(highest, height);
      served.add(height);

      const oldest = sentAt - FRESH_WITHIN_MS;
      const blocks = shown.at(height);
      if (!outages.couldBeRead('NODE', oldest, sentAt)) return matchAny(blocks, claim);
      const tips = new Set(shown.since(oldest).flatMap(({ block, others }) => [block, ...others]));
      const fresh = blocks.filter((block) => tips.has(block));
      if (fresh.length > 0) return matchAny(fresh, claim);
      const { block } = shown.tipAt(oldest);
      return `stuck at ${height}, though ${block.height} (${block.hash}) was the tip ${FRESH_WITHIN_MS} ms before`;
    },
    mismatchAt: (height, claim) => matchAny(shown.at(height), claim),
    markets(sentAt) {
      const oldest = sentAt - FRESH_WITHIN_MS;
      return shown.since(outages.couldBeRead('MARKET_DATA', oldest, sentAt) ? oldest : 0);
    },
    isOutdated(isOf, now) {
      const oldest = now - FRESH_WITHIN_MS;
      return outages.couldBeRead('MARKET_DATA', oldest, now) && !isOf(shown.since(oldest));
    },
    behind(height, now) {
      const oldest = now - FRESH_WITHIN_MS;
      if (!outages.couldBeRead('NODE', oldest, now)) return 0;
      return Math.max(0, shown.tipAt(oldest).block.height - height);
    },
  };
}
