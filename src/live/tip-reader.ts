import type { ChainInfo } from '../domain/chain.ts';
import { UpstreamBadShapeError } from '../errors.ts';
import type { NodeClient } from '../upstream/node/client.ts';
import type { Watcher } from './follower.ts';
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

  async function askOnce(): Promise<ChainInfo> {
    try {
      const answer = await node.chainInfo();
      if (!isRightChain(answer)) {
        const misfit = `its chain is ${JSON.stringify(answer.chainName)}, not the one that is followed`;
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

  function remember({ beacon: { height, hash } }: ChainInfo): void {
    if (shown.some((block) => block.height === height && block.hash === hash)) return;
    shown = [...shown, { height, hash }].slice(-BLOCKS_REMEMBERED);
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
  };
}
