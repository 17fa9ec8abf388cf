import type { Block } from '../src/sandbox/chain/block.ts';
import type { Moment } from './judge.ts';
import type { Outages } from './outages.ts';
import { FORGIVEN, type Forgiven } from './strictness.ts';
import type { ShownBlock, ShownBlocks } from './truth/shown-blocks.ts';

/** What is wrong with what is told of a block; `undefined` for nothing. */
type Claim = (block: Block) => string | undefined;

/** Holds what the gateway serves against what the sandbox showed. */
export type Served = {
  /** The highest height that a whole answer has told so far. */
  highest(): number;
  /** Whether a height was told as the current one, at any time: it was published then. */
  wasTold(height: number): boolean;
  /** How many heights were told as the current one. */
  told(): number;
  /**
   * What is wrong with an answer that describes a height as the current one: all of it must be true of one block of that
   * height, which must not be older than an outage explains, and no answer before may have told a higher one.
   */
  misfit(height: number, moment: Moment, claim: Claim): string | undefined;
  /** What is wrong with what is told of any one block that was ever shown at a height. */
  misfitAt(height: number, claim: Claim): string | undefined;
  /** The same where what is told of the chain, its hash, time and best blocks, stands beside what is told of the pools. */
  misfitOfHead(height: number, moment: Moment, ofChain: Claim, ofPools: Claim): string | undefined;
  /** The same of any one block that was ever shown at a height. */
  misfitOfHeadAt(height: number, ofChain: Claim, ofPools: Claim): string | undefined;
  /** What is wrong with what is told of the chain alone, of any one block that was ever shown at a height. */
  misfitOfChain(height: number, claim: Claim): string | undefined;
  /** What may be told of the market at a moment: what its host showed, back to where an outage explains. The newest first. */
  markets(sentAt: number): readonly ShownBlock[];
  /** How far behind the tip a height is that was told at a moment when an upstream could be read: 0 where that is right. */
  behind(height: number, now: number): number;
};

/** So long after it was shown, a block must be served, where a node could be read all the time. */
const FRESH_WITHIN_MS = 6_000;

/** So far apart two heights may be that are told as one: a node lags by less, and a burst brings fewer blocks. */
const NEAR = 30;

/** Makes the comparison of a run. */
export function createServed(shown: ShownBlocks, outages: Outages, forgiven: Forgiven = FORGIVEN): Served {
  let highest = shown.chain.tip.height;
  const told = new Set<number>();

  function fitAny(blocks: readonly Block[], claim: Claim): string | undefined {
    let misfit: string | undefined = 'no such block was ever shown';
    for (const block of blocks) {
      misfit = claim(block);
      if (misfit === undefined) return undefined;
    }
    return blocks.length > 1
      ? `of ${blocks.length} blocks of that height none fits, the first shown not: ${misfit}`
      : misfit;
  }

  const isWholeMixed = forgiven.mixingTwoBlocksOfOneHeight || forgiven.mixingTwoHeights;

  function misfitOfChain(height: number, claim: Claim): string | undefined {
    const misfit = fitAny(shown.at(height), claim);
    if (misfit === undefined || !forgiven.mixingTwoHeights) return misfit;
    const near = Array.from({ length: 2 * NEAR + 1 }, (_, index) => height - NEAR + index);
    return near.some((other) => fitAny(shown.at(other), claim) === undefined) ? undefined : misfit;
  }

  const served: Served = {
    highest: () => highest,
    wasTold: (height) => told.has(height),
    told: () => told.size,
    misfit(height, { sentAt, floor }, claim) {
      if (height < floor) return `height ${height} after ${floor} had been told`;
      highest = Math.max(highest, height);
      told.add(height);

      const oldest = sentAt - FRESH_WITHIN_MS;
      const blocks = shown.at(height);
      if (!outages.couldBeRead('NODE', oldest, sentAt)) return fitAny(blocks, claim);
      const tips = new Set(shown.since(oldest).flatMap(({ block, others }) => [block, ...others]));
      const fresh = blocks.filter((block) => tips.has(block));
      if (fresh.length > 0) return fitAny(fresh, claim);
      const { block } = shown.tipAt(oldest);
      return `stuck at ${height}, though ${block.height} (${block.hash}) was the tip ${FRESH_WITHIN_MS} ms before`;
    },
    misfitAt: (height, claim) => fitAny(shown.at(height), claim),
    misfitOfHead: (height, moment, ofChain, ofPools) =>
      isWholeMixed
        ? (misfitOfChain(height, ofChain) ?? served.misfit(height, moment, ofPools))
        : served.misfit(height, moment, (block) => ofChain(block) ?? ofPools(block)),
    misfitOfHeadAt: (height, ofChain, ofPools) =>
      isWholeMixed
        ? (misfitOfChain(height, ofChain) ?? served.misfitAt(height, ofPools))
        : served.misfitAt(height, (block) => ofChain(block) ?? ofPools(block)),
    misfitOfChain,
    markets(sentAt) {
      const oldest = sentAt - FRESH_WITHIN_MS;
      return shown.since(outages.couldBeRead('MARKET_DATA', oldest, sentAt) ? oldest : 0);
    },
    behind(height, now) {
      const oldest = now - FRESH_WITHIN_MS;
      if (!outages.couldBeRead('NODE', oldest, now)) return 0;
      return Math.max(0, shown.tipAt(oldest).block.height - height);
    },
  };
  return served;
}
