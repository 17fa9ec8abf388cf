import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ChainInfo } from '../../domain/chain.ts';
import { UpstreamBadShapeError } from '../../errors.ts';
import type { NodeClient } from '../../upstream/node/client.ts';
import type { Watcher } from '../broadcast/follower.ts';
import type { ShownBlock } from './nodes.ts';

/** Reads the tip of one node; everyone who asks while a call is under way gets its answer. */
export type TipReader = {
  readonly node: NodeClient;
  ask(): Promise<ChainInfo>;
  isAsking(): boolean;
  /** What it last answered; `undefined` once a call has failed. */
  tip(): ChainInfo | undefined;
  /** Whether it answers: its last call succeeded, and it does not owe an answer for long. */
  isWell(): boolean;
  /** The newest blocks that it showed as its tip. */
  shown(): readonly ShownBlock[];
  /**
   * For a URL that has shown two blocks of some height in turn, as nodes with different tips behind one URL do: the block
   * that was last shown at a height, or `'uncertain'` where there are two. `undefined` where no block of that height was
   * shown, and for every other URL: its states and its tip are of one chain.
   */
  blockAt(height: BeaconHeight): ShownBlock | 'uncertain' | undefined;
  /** How many tips were shown since a block last was the tip. */
  looksWithout(hash: string): number;
};

/** How a tip is read. */
export type TipReaderOptions = {
  /** Whether a tip is of the chain that is followed. */
  readonly isRightChain: (tip: ChainInfo) => boolean;
  /** How long it may owe an answer and still count as well. */
  readonly graceMs: number;
  readonly watcher: Watcher;
};

const BLOCKS_REMEMBERED = 64;

/** Makes the reader of one node's tip, of which nothing is known yet. */
export function createTipReader(node: NodeClient, { isRightChain, graceMs, watcher }: TipReaderOptions): TipReader {
  let tip: ChainInfo | undefined;
  let underWay: Promise<ChainInfo> | undefined;
  let askedAt = 0;
  let isFailing = false;
  let shown: readonly ShownBlock[] = [];
  let looks = 0;
  /** For each of these blocks, by its hash, the last look that showed it. */
  const lastLooks = new Map<string, number>();
  /** Heights at which a block was shown again after another. */
  let uncertain: readonly BeaconHeight[] = [];

  async function askOnce(): Promise<ChainInfo> {
    try {
      const answer = await node.chainInfo();
      if (!isRightChain(answer)) {
        const misfit = `its chain ${JSON.stringify(answer.chainName)} is not the chain that the gateway follows`;
        throw new UpstreamBadShapeError('NODE', misfit, { host: node.name });
      }
      tip = answer;
      remember(answer);
      if (isFailing) watcher.recovered();
      isFailing = false;
      return answer;
    } catch (error) {
      tip = undefined;
      if (!isFailing) watcher.failed(error);
      isFailing = true;
      throw error;
    } finally {
      underWay = undefined;
    }
  }

  function remember({ beacon: { height, hash, time } }: ChainInfo): void {
    const there = shown.filter((block) => block.height === height);
    looks += 1;
    const isKnown = there.some((block) => block.hash === hash);
    if (!isKnown) shown = [...shown, { height, hash, time }].slice(-BLOCKS_REMEMBERED);
    else if (there.at(-1)?.hash !== hash && !uncertain.includes(height)) uncertain = [...uncertain, height];
    const oldest = shown[0]?.height ?? 0;
    if (uncertain.some((each) => each < oldest)) uncertain = uncertain.filter((each) => each >= oldest);
    lastLooks.set(hash, looks);
    if (lastLooks.size > 2 * BLOCKS_REMEMBERED)
      for (const old of lastLooks.keys()) if (!shown.some((block) => block.hash === old)) lastLooks.delete(old);
  }

  function blockAt(height: BeaconHeight): ShownBlock | 'uncertain' | undefined {
    if (uncertain.length === 0) return undefined;
    // Of a height that was not shown, the next above it tells whether the chain branches at or below it.
    const nearest = Math.min(...shown.map((block) => block.height).filter((each) => each >= height));
    return uncertain.includes(nearest) ? 'uncertain' : shown.findLast((block) => block.height === height);
  }

  return {
    node,
    ask() {
      if (underWay === undefined) {
        askedAt = performance.now();
        underWay = askOnce();
      }
      return underWay;
    },
    isAsking: () => underWay !== undefined,
    tip: () => tip,
    isWell: () => tip !== undefined && (underWay === undefined || performance.now() - askedAt <= graceMs),
    shown: () => shown,
    blockAt,
    looksWithout: (hash) => looks - (lastLooks.get(hash) ?? 0),
  };
}
