import { type GenesisPool, v3PoolsOf } from '../v3/genesis.ts';
import { type Block, branchVersion, createNextBlock, firstBlock, type Genesis, settledBlock } from './block.ts';
import { createEarlierBlocks } from './earlier-blocks.ts';
import { type ChainMarket, marketsOf } from './markets.ts';
import { type ChainPool, poolsOf } from './pools.ts';
import { createProviders, type Providers } from './providers.ts';
import { BLOCK_SECONDS } from './shards.ts';
import type { ChainToken } from './tokens.ts';
import { createValues } from './values.ts';

/** Options of a chain. The same options result in exactly the same chain. */
export type ChainOptions = {
  readonly seed: number;
  /** The beacon height of the first tip. */
  readonly startHeight: number;
  /** The time of the first tip, in Unix seconds. */
  readonly startTime: number;
  /** The time of the blocks after the first tip, in Unix seconds; `undefined` for 40 s after the previous block. */
  readonly clock: (() => number) | undefined;
  /** Number of blocks before the first tip. Those that are older than a day are created when they are read. */
  readonly history: number;
  /** Stored blocks of a chain with the same options, up to its first tip, so that they are not created again. */
  readonly past?: readonly Block[] | undefined;
  /** Maximum number of retained heights, including that of the tip; `undefined` for a default by size. */
  readonly retention: number | undefined;
  /** Number of pools; `undefined` for all of the catalogue. */
  readonly pools: number | undefined;
  readonly sharesPerPool: number;
  readonly tradesPerBlock: number;
  /** The height at which V3 of the exchange starts; infinite for a chain without it. */
  readonly v3From: number;
};

/** Two reserves in smallest units, in the order of the tokens' ids. */
type Reserves = { readonly reserve1: bigint; readonly reserve2: bigint };

/** The simulated chain that both hosts publish: blocks, pools of the node, and markets of the market-data host. */
export type Chain = {
  readonly seed: number;
  /** Every token of a pool or market. */
  readonly tokens: readonly ChainToken[];
  /** The node's pools, in no particular order. */
  readonly pools: readonly ChainPool[];
  readonly markets: readonly ChainMarket[];
  /** The height at which V3 of the exchange starts; infinite for a chain without it. */
  readonly v3From: number;
  /** The pools of V3, those of the markets first; none for a chain without it. */
  readonly v3Pools: readonly GenesisPool[];
  readonly providers: Providers;
  readonly tip: Block;
  /** The lowest height that has a block. */
  readonly oldestHeight: number;
  /** The block at a height; `undefined` if it is in the future or no longer retained. */
  block(height: number): Block | undefined;
  /** The same on the branch that forks at `from`, up to the height of the tip. */
  branchBlock(from: number, height: number): Block | undefined;
  /** The pools that exist at a height. */
  poolsAt(height: number): readonly ChainPool[];
  /** The reserves of a pool or market at a height, by default that of the tip; `undefined` if the block or pool does not exist. */
  reserves(venue: ChainPool | ChainMarket, height?: number): Reserves | undefined;
  /** The stored blocks to the tip: those of a day before the first tip, and the later ones. */
  blocks(): Iterable<Block>;
  /** Calls a function with each block that becomes the tip from now on. */
  onBlock(listener: (block: Block) => void): void;
};

/** A chain to which blocks can be added. */
type GrowingChain = Chain & {
  /** Creates blocks. */
  advance(blocks: number): void;
  /** Replaces the tip by another block of the same height, with another hash and other trades. */
  replaceTip(): void;
};

/**
 * How much later the block of a branch is than the block of the chain, in seconds. It differs between branches that fork at
 * near heights, so that the time identifies a block.
 */
function branchDelaySeconds(from: number): number {
  return 7 + 2 * (from % 8);
}

/** Creates a chain with its history, of blocks 40 s apart. Later blocks are created only by `advance`. */
export function createChain(options: ChainOptions): GrowingChain {
  const { seed, startHeight, startTime, clock, history, tradesPerBlock, v3From } = options;
  const pools = poolsOf(seed, options.pools);
  const hasV3 = v3From < Number.POSITIVE_INFINITY;
  const markets = marketsOf(seed, pools, hasV3);
  const providers = createProviders(seed, pools, options.sharesPerPool);
  const stored = Math.min(history, BLOCKS_OF_DAY);
  const retention = options.retention ?? reasonableRetention(pools.length + markets.length, stored);
  const born = (pool: ChainPool) => (pool.bornBehindTip === undefined ? 0 : startHeight - pool.bornBehindTip);
  const exists = (pool: ChainPool, height: number) => height >= born(pool);
  const latecomers = pools.some(({ bornBehindTip }) => bornBehindTip !== undefined);

  const origin = { height: startHeight - stored, time: startTime - stored * BLOCK_SECONDS };
  const valueAt = createValues(seed, origin);
  const v3Pools = hasV3 ? v3PoolsOf(seed, markets) : [];
  const v3 = { seed, pools: v3Pools, tradesPerBlock, from: v3From };
  const stage: Genesis = { seed, pools, markets, providers, valueAt, tradesPerBlock, exists, v3 };
  const createNext = createNextBlock(stage);
  const [first, ...later] = options.past ?? [];
  let tip = first ?? firstBlock(stage, origin.height, origin.time);
  const earlierBlock = createEarlierBlocks(
    (height) => settledBlock(stage, height, startTime - (startHeight - height) * BLOCK_SECONDS),
    (previous) => createNext(previous, previous.time + BLOCK_SECONDS),
  );
  const blocks = new Map([[tip.height, tip]]);
  const branches = new Map<number, Block[]>();
  const listeners: ((block: Block) => void)[] = [];
  let oldestStored = tip.height;
  /** A node prunes all earlier blocks before it prunes a stored one. */
  const oldestHeight = () => (oldestStored === origin.height ? startHeight - history : oldestStored);

  function show(block: Block): void {
    tip = block;
    blocks.set(block.height, block);
    for (; tip.height - oldestStored >= retention; oldestStored++) blocks.delete(oldestStored);
    for (const listener of listeners) listener(block);
  }
  function timeAfter(previous: Block): number {
    return clock ? Math.max(previous.time, clock()) : previous.time + BLOCK_SECONDS;
  }
  for (const block of later) show(block);
  while (tip.height < startHeight) show(createNext(tip, tip.time + BLOCK_SECONDS));

  function blockAt(height: number): Block | undefined {
    const isEarlier = height < origin.height && height >= oldestHeight();
    return isEarlier ? earlierBlock(height) : blocks.get(height);
  }

  function branchBlock(from: number, height: number): Block | undefined {
    if (height < from) return blockAt(height);
    if (height > tip.height) return undefined;
    const branch = branches.get(from) ?? [];
    branches.set(from, branch);
    while (from + branch.length <= height) {
      const previous = branch.at(-1) ?? blocks.get(from - 1);
      const replaced = blocks.get(from + branch.length);
      if (previous === undefined || replaced === undefined) return undefined;
      branch.push(createNext(previous, replaced.time + branchDelaySeconds(from), branchVersion(from)));
    }
    return branch[height - from];
  }

  return {
    seed,
    tokens: [...new Set([...pools, ...markets].flatMap(({ token1, token2 }) => [token1, token2]))],
    pools,
    markets,
    v3From,
    v3Pools,
    providers,
    get tip() {
      return tip;
    },
    get oldestHeight() {
      return oldestHeight();
    },
    block: blockAt,
    branchBlock,
    onBlock: (listener) => void listeners.push(listener),
    blocks: () => blocks.values(),
    poolsAt: (height) => (latecomers ? pools.filter((pool) => exists(pool, height)) : pools),
    reserves(venue, height = tip.height) {
      if ('id' in venue && !exists(venue, height)) return undefined;
      const [reserve1, reserve2] = blockAt(height)?.reserves.subarray(venue.index * 2, venue.index * 2 + 2) ?? [];
      return reserve1 === undefined || reserve2 === undefined ? undefined : { reserve1, reserve2 };
    },
    advance(count) {
      for (let i = 0; i < count; i++) show(createNext(tip, timeAfter(tip)));
    },
    replaceTip() {
      const previous = blocks.get(tip.height - 1);
      if (!previous) throw new Error('the tip of a chain with one block cannot be replaced');
      // Another producer creates the replacement later, so that its time differs.
      show(createNext(previous, Math.max(tip.time + 1, timeAfter(previous)), tip.version + 1));
    },
  };
}

/** Blocks that are stored from the beginning, because the figures of the last 24 hours are computed from their trades. */
const BLOCKS_OF_DAY = 2_160;

// At most 10,000 heights and about 64 MB of reserves, but always the blocks of the beginning.
function reasonableRetention(venues: number, stored: number): number {
  const affordable = Math.floor(64_000_000 / (venues * 16 + 1));
  return Math.max(stored + 1, Math.min(10_000, affordable));
}
