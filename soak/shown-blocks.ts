import type { Block } from '../src/sandbox/chain/block.ts';
import type { SandboxHosts } from '../src/sandbox/sandbox.ts';
import { expectedTickers, type TickerRow } from './expected/market.ts';
import { BLOCKS_UNTIL_FINAL } from './outages.ts';

/** A block that was the tip for a while. */
export type ShownBlock = {
  readonly block: Block;
  /** The tips of nodes on branches meanwhile. */
  readonly others: readonly Block[];
  /** When it became the tip, in milliseconds of `performance.now()`. */
  readonly shownAt: number;
  /** When another block became the tip. */
  readonly replacedAt: number;
  /** The tickers of the market-data host meanwhile. */
  readonly tickers: readonly TickerRow[];
};

/** A branch of the chain. */
type Branch = { readonly from: number; end(): void };

/** Records every block that the nodes ever showed, including replaced ones. All changes of the chain go through it. */
export type ShownBlocks = {
  readonly chain: SandboxHosts['chain'];
  /** Creates blocks. */
  advance(count?: number): void;
  replaceTip(): void;
  /** Records that a node shows a branch from now on, which forks at the height of the tip. */
  branch(): Branch;
  /** Every block that was shown at a height, the last first, those of branches at the end. */
  at(height: number): readonly Block[];
  /** When a height was shown first. */
  shownAt(height: number): number;
  /** Whether a node on a branch has shown another block at a height. */
  isBranched(height: number): boolean;
  /**
   * The blocks of branches at a height that a gateway could take for final: the nodes on the branch have shown so many blocks above
   * them. What it has recorded of them stays.
   */
  finalOnBranches(height: number): readonly Block[];
  /** The tip at a time. */
  tipAt(moment: number): ShownBlock;
  /** The tips since a time, the newest first. */
  since(moment: number): readonly ShownBlock[];
  readonly count: { readonly made: number; readonly replaced: number };
};

/** Number of blocks whose tickers are stored: more than during any outage of a run. */
const MAX_BLOCKS_WITH_TICKERS = 400;

/** Starts to record what a sandbox shows. */
export function createShownBlocks(sandbox: SandboxHosts): ShownBlocks {
  const { chain } = sandbox;
  const shown: ShownBlock[] = [];
  const replaced = new Map<number, Block[]>();
  const branches = new Set<number>();
  const branched = new Map<number, Set<Block>>();
  const count = { made: 0, replaced: 0 };
  record();

  function record(): void {
    const now = performance.now();
    const before = shown.at(-1);
    if (before) shown[shown.length - 1] = { ...before, replacedAt: now };
    const oldest = shown[shown.length - MAX_BLOCKS_WITH_TICKERS];
    if (oldest) shown[shown.length - MAX_BLOCKS_WITH_TICKERS] = { ...oldest, tickers: [] };
    const { height } = chain.tip;
    const others = [...branches].map((from) => chain.branchBlock(from, height)).filter((block) => block !== undefined);
    if (others.length > 0) branched.set(height, new Set([...(branched.get(height) ?? []), ...others]));
    shown.push({
      block: chain.tip,
      others,
      shownAt: now,
      replacedAt: Number.POSITIVE_INFINITY,
      tickers: expectedTickers(chain),
    });
  }

  function since(moment: number): ShownBlock[] {
    const found: ShownBlock[] = [];
    for (let place = shown.length - 1; place >= 0; place--) {
      const block = shown[place];
      if (!block || block.replacedAt < moment) break;
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
        record();
      }
    },
    replaceTip() {
      const { height } = chain.tip;
      replaced.set(height, [chain.tip, ...(replaced.get(height) ?? [])]);
      sandbox.replaceTip();
      count.replaced += 1;
      record();
    },
    branch() {
      const { height: from } = chain.tip;
      branches.add(from);
      record();
      return {
        from,
        end() {
          branches.delete(from);
          record();
        },
      };
    },
    at(height) {
      const block = chain.block(height);
      return block ? [block, ...(replaced.get(height) ?? []), ...(branched.get(height) ?? [])] : [];
    },
    shownAt: (height) => shown.findLast(({ block }) => block.height < height)?.replacedAt ?? 0,
    isBranched: (height) => branched.has(height),
    finalOnBranches(height) {
      const above = new Set([...(branched.get(height + BLOCKS_UNTIL_FINAL) ?? [])].map(({ version }) => version));
      return [...(branched.get(height) ?? [])].filter(({ version }) => above.has(version));
    },
    tipAt(moment) {
      const found = since(moment).at(-1) ?? shown.at(-1);
      if (!found) throw new Error('no block was shown yet');
      return found;
    },
    since,
  };
}
