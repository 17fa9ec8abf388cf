import { type Block, createNextBlock, firstBlock, type Stage } from './block.ts';
import { marketsOf, type WorldMarket } from './markets.ts';
import { poolsOf, type WorldPool } from './pools.ts';
import { createProviders, type Providers } from './providers.ts';
import { blockSeconds } from './shards.ts';
import type { WorldToken } from './tokens.ts';

/** What a world is made from; the same options make the same world, to the last bit. */
export type WorldOptions = {
  readonly seed: number;
  /** The beacon height of the first tip. */
  readonly startHeight: number;
  /** The Unix seconds of the first tip. */
  readonly startTime: number;
  /** How many blocks lie behind the first tip. */
  readonly history: number;
  /** How many heights are kept at most, the tip's included; `undefined` for what is reasonable. */
  readonly retention: number | undefined;
  /** `undefined` for all of the catalogue. */
  readonly pools: number | undefined;
  readonly sharesPerPool: number;
  readonly tradesPerBlock: number;
};

/** Two reserves in smallest units, in the order of the tokens' ids. */
export type Reserves = { readonly reserve1: bigint; readonly reserve2: bigint };

/** The truth that both hosts tell: a chain, its pools and the markets of the exchange's newer generation. */
export type World = {
  readonly seed: number;
  /** Every token of a pool or market, without repetition. */
  readonly tokens: readonly WorldToken[];
  /** The node's pools, in no particular order. */
  readonly pools: readonly WorldPool[];
  readonly markets: readonly WorldMarket[];
  readonly providers: Providers;
  readonly tip: Block;
  /** The lowest height whose state is still answered. */
  readonly oldestHeight: number;
  /** The block of a height; `undefined` when it is in the future or pruned. */
  block(height: number): Block | undefined;
  /** The pools that exist at a height. */
  poolsAt(height: number): readonly WorldPool[];
  /** What a pool or market holds at a height, the tip's by default; `undefined` where the height has no block or pool. */
  reserves(venue: WorldPool | WorldMarket, height?: number): Reserves | undefined;
  /** The retained blocks from the oldest to the tip. */
  blocks(): Iterable<Block>;
};

/** A world together with what makes it go on. */
export type GrowingWorld = World & {
  /** Makes blocks. */
  advance(blocks: number): void;
  /** Puts another block, with another hash and other trades, in the place of the tip. */
  replaceTip(): void;
};

/** Makes a world with its history. Pure: time passes only when it is told to go on. */
export function createWorld(options: WorldOptions): GrowingWorld {
  const { seed, startHeight, startTime, history } = options;
  const pools = poolsOf(seed, options.pools);
  const markets = marketsOf(seed, pools);
  const providers = createProviders(seed, pools, options.sharesPerPool);
  const retention = options.retention ?? reasonableRetention(pools.length + markets.length, history);
  const born = (pool: WorldPool) => (pool.bornBehindTip === undefined ? 0 : startHeight - pool.bornBehindTip);
  const exists = (pool: WorldPool, height: number) => height >= born(pool);
  const latecomers = pools.some(({ bornBehindTip }) => bornBehindTip !== undefined);

  const stage: Stage = { seed, pools, markets, providers, tradesPerBlock: options.tradesPerBlock, exists };
  const createNext = createNextBlock(stage);
  let tip = firstBlock(stage, startHeight - history, startTime - history * blockSeconds);
  const blocks = new Map([[tip.height, tip]]);
  let oldestHeight = tip.height;

  function show(block: Block): void {
    tip = block;
    blocks.set(block.height, block);
    for (; tip.height - oldestHeight >= retention; oldestHeight++) blocks.delete(oldestHeight);
  }
  function advance(count: number): void {
    for (let i = 0; i < count; i++) show(createNext(tip));
  }
  advance(history);

  return {
    seed,
    tokens: [...new Set([...pools, ...markets].flatMap(({ token1, token2 }) => [token1, token2]))],
    pools,
    markets,
    providers,
    get tip() {
      return tip;
    },
    get oldestHeight() {
      return oldestHeight;
    },
    block: (height) => blocks.get(height),
    blocks: () => blocks.values(),
    poolsAt: (height) => (latecomers ? pools.filter((pool) => exists(pool, height)) : pools),
    reserves(venue, height = tip.height) {
      if ('id' in venue && !exists(venue, height)) return undefined;
      const [reserve1, reserve2] = blocks.get(height)?.reserves.subarray(venue.index * 2, venue.index * 2 + 2) ?? [];
      return reserve1 === undefined || reserve2 === undefined ? undefined : { reserve1, reserve2 };
    },
    advance,
    replaceTip() {
      const previous = blocks.get(tip.height - 1);
      if (!previous) throw new Error('a world of one block has nothing to put another tip on');
      show(createNext(previous, tip.version + 1));
    },
  };
}

// At most 10,000 heights, and no more than about 64 MB of reserves, but always what lies behind the first tip.
function reasonableRetention(venues: number, history: number): number {
  const affordable = Math.floor(64_000_000 / (venues * 16 + 1));
  return Math.max(history + 1, Math.min(10_000, affordable));
}
