import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { type TickerRow, tickersOf } from './market.ts';

/** A block that was the tip for a while. */
export type ShownBlock = {
  readonly block: Block;
  /** What other nodes showed as their tip meanwhile: blocks of branches. */
  readonly others: readonly Block[];
  /** When it became the tip, in milliseconds of `performance.now()`, as all times of the soak. */
  readonly shownAt: number;
  /** When another block became the tip. */
  readonly goneAt: number;
  /** What the market-data host said of its tickers meanwhile. */
  readonly tickers: readonly TickerRow[];
};

/** A branch that is shown beside the chain. */
type Branch = { readonly from: number; end(): void };

/** Every block that the nodes ever showed, those that were replaced among them. Only through it does the chain go on. */
export type ShownBlocks = {
  readonly chain: Sandbox['chain'];
  /** Makes blocks, one after the other. */
  advance(count?: number): void;
  replaceTip(): void;
  /** From now on some node shows a branch of the chain, which leaves it at the height of the tip. */
  branch(): Branch;
  /** Every block that was shown at a height, the last first, those of branches at the end. */
  at(height: number): readonly Block[];
  /** The tip at a moment. */
  tipAt(moment: number): ShownBlock;
  /** What was the tip at some moment from then on, the newest first. */
  since(moment: number): readonly ShownBlock[];
  readonly count: { readonly made: number; readonly replaced: number };
};

/** Tickers are compared with those of this many blocks at the most: more than any outage of the soak is long. */
const TICKERS_KEPT = 400;

/** Starts to note what a sandbox shows. */
export function createShownBlocks(sandbox: Sandbox): ShownBlocks {
  const { chain } = sandbox;
  const shown: ShownBlock[] = [];
  const replaced = new Map<number, Block[]>();
  const branches = new Set<number>();
  const branched = new Map<number, Set<Block>>();
  const count = { made: 0, replaced: 0 };
  note();

  function note(): void {
    const now = performance.now();
    const before = shown.at(-1);
    if (before) shown[shown.length - 1] = { ...before, goneAt: now };
    const forgotten = shown[shown.length - TICKERS_KEPT];
    if (forgotten) shown[shown.length - TICKERS_KEPT] = { ...forgotten, tickers: [] };
    const { height } = chain.tip;
    const others = [...branches].map((from) => chain.branchBlock(from, height)).filter((block) => block !== undefined);
    if (others.length > 0) branched.set(height, new Set([...(branched.get(height) ?? []), ...others]));
    shown.push({ block: chain.tip, others, shownAt: now, goneAt: Number.POSITIVE_INFINITY, tickers: tickersOf(chain) });
  }

  function since(moment: number): ShownBlock[] {
    const found: ShownBlock[] = [];
    for (let place = shown.length - 1; place >= 0; place--) {
      const block = shown[place];
      if (!block || block.goneAt < moment) break;
      found.push(block);
    }
    return found;
  }

  return {
    chain,
    count,
    advance(blocks = 1) {
      for (let made = 0; made < blocks; made++) {
        sandbox.advance(1);
        count.made += 1;
        note();
      }
    },
    replaceTip() {
      const { height } = chain.tip;
      replaced.set(height, [chain.tip, ...(replaced.get(height) ?? [])]);
      sandbox.replaceTip();
      count.replaced += 1;
      note();
    },
    branch() {
      const { height: from } = chain.tip;
      branches.add(from);
      note();
      return {
        from,
        end() {
          branches.delete(from);
          note();
        },
      };
    },
    at(height) {
      const block = chain.block(height);
      return block ? [block, ...(replaced.get(height) ?? []), ...(branched.get(height) ?? [])] : [];
    },
    tipAt(moment) {
      const found = since(moment).at(-1) ?? shown.at(-1);
      if (!found) throw new Error('nothing was shown yet');
      return found;
    },
    since,
  };
}
