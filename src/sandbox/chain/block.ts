import { firstV3Block, nextV3Block, type V3Block, type V3Stage } from '../v3/block.ts';
import { volumesOf } from '../v3/trades.ts';
import type { ChainMarket } from './markets.ts';
import type { ChainPool, Venue } from './pools.ts';
import type { Providers } from './providers.ts';
import { createRandom, type Random } from './random.ts';
import { firstShards, nextShards, type Shard } from './shards.ts';
import { type ChainToken, isListed } from './tokens.ts';
import { MAX_RESERVE, type Side, type Trade, trade, tradeTowards } from './trade.ts';
import type { ValueAt } from './values.ts';

/** A beacon block with the state of the exchange after it. Immutable. */
export type Block = {
  readonly height: number;
  /** 64 hexadecimal characters. It is computed at each access, because most hashes of a history are never read. */
  readonly hash: string;
  /** Unix seconds. */
  readonly time: number;
  /** The number of earlier blocks of this height that were replaced; each has its own hash and trades. See {@link branchVersion}. */
  readonly version: number;
  /** Two reserves for each pool and then for each market, in smallest units; see `Venue.index`. */
  readonly reserves: Readonly<BigUint64Array>;
  readonly shares: Readonly<BigUint64Array>;
  readonly fees: Readonly<BigUint64Array>;
  readonly shards: readonly Shard[];
  readonly trades: readonly Trade[];
  /** V3 of the exchange; `undefined` below its start. */
  readonly v3: V3Block | undefined;
};

/** The version of the blocks of a branch that forks at a height. It is larger than any number of replaced blocks. */
export function branchVersion(from: number): number {
  return FIRST_BRANCH_VERSION + from;
}

const FIRST_BRANCH_VERSION = 1_000_000;

/** The parts of a chain that never change. */
export type Genesis = {
  readonly seed: number;
  readonly pools: readonly ChainPool[];
  readonly markets: readonly ChainMarket[];
  readonly providers: Providers;
  readonly valueAt: ValueAt;
  /** Maximum number of random trades in a block. */
  readonly tradesPerBlock: number;
  /** V3 of the exchange, and the height at which it starts. From there on, nobody trades with the pools of V1. */
  readonly v3: V3Stage & { readonly from: number };
  /** Whether a pool exists at a height. */
  exists(pool: ChainPool, height: number): boolean;
};

/** The first block of a chain. */
export function firstBlock(stage: Genesis, height: number, time: number): Block {
  const { pools, markets } = stage;
  return blockWith(
    stage,
    { height, time },
    [...pools, ...markets].map(({ initial }) => initial),
  );
}

/** A block at which every pool and market has its initial liquidity, and the price of its tokens' values at that time. */
export function settledBlock(stage: Genesis, height: number, time: number): Block {
  const { pools, markets, valueAt } = stage;
  const reservesOf = (venue: Venue) => {
    const [initial1, initial2] = venue.initial;
    const product = Number(initial1) * Number(initial2);
    const ratio = fairRatio(venue, (token) => valueAt(token, time));
    return [BigInt(Math.round(Math.sqrt(product / ratio))), BigInt(Math.round(Math.sqrt(product * ratio)))] as const;
  };
  return blockWith(stage, { height, time }, [...pools, ...markets].map(reservesOf));
}

function blockWith(
  stage: Genesis,
  { height, time }: Pick<Block, 'height' | 'time'>,
  reserves: readonly (readonly [bigint, bigint])[],
): Block {
  const { seed, providers } = stage;
  return {
    height,
    get hash() {
      return hashOf(seed, height, 0);
    },
    time,
    version: 0,
    reserves: BigUint64Array.from(reserves.flat()),
    shares: providers.initialShares,
    fees: providers.initialFees,
    shards: firstShards(seed, { height, time }),
    trades: [],
    v3: v3After(stage, undefined, { height, version: 0, usdOf: valuesAt(stage, time) }),
  };
}

/**
 * Creates the function that creates the block after another, with a time in Unix seconds. Each `version` results in another
 * block of the same height.
 */
export function createNextBlock(stage: Genesis): (previous: Block, time: number, version?: number) => Block {
  const { seed, pools, markets, tradesPerBlock } = stage;
  const followers = Map.groupBy(markets, ({ nodePool }) => nodePool);
  const traded: readonly (Venue | ChainPool)[] = [
    ...pools.filter(({ initial }) => initial[0] > 0n),
    ...markets.filter(({ nodePool, oddity }) => !nodePool && !oddity?.endsWith('figures')),
  ];
  // A block of a large chain would change too much otherwise: further pools are corrected when they trade.
  const listed: readonly (Venue | ChainPool)[] = [...traded, ...markets.filter(({ nodePool }) => nodePool)].filter(
    ({ token1, token2 }) => isListed(token1) && isListed(token2),
  );

  function tradeInPools(height: number, reserves: BigUint64Array, usdOf: UsdOf, random: Random): Trade[] {
    const trades: Trade[] = [];
    const add = (made: Trade | undefined) => made && trades.push(made);
    const tradeOnce = (venue: Venue) => {
      add(tradeAtRandom(reserves, venue, fairRatio(venue, usdOf), random));
      add(arbitrage(reserves, venue, fairRatio(venue, usdOf)));
    };

    for (let count = random.below(tradesPerBlock + 1); count > 0; count--) {
      // The first ones of the list have the most trades.
      const venue = traded[Math.floor(random.unit() ** 1.5 * traded.length)];
      if (!venue) continue;
      if (!('id' in venue)) tradeOnce(venue);
      else if (stage.exists(venue, height)) {
        tradeOnce(venue);
        for (const market of followers.get(venue) ?? []) {
          if (random.chance(0.8)) add(follow(reserves, market, venue, random));
        }
      }
    }
    for (const venue of listed) {
      if (!('id' in venue) || stage.exists(venue, height)) add(arbitrage(reserves, venue, fairRatio(venue, usdOf)));
    }
    return trades;
  }

  return (previous, time, version = 0) => {
    const height = previous.height + 1;
    const random = createRandom(seed, 'block', height, version);
    const reserves = previous.reserves.slice();
    const usdOf = valuesAt(stage, time);
    const v3 = v3After(stage, previous.v3, { height, version, usdOf });
    const trades = v3 ? tradesOfMarkets(markets, v3) : tradeInPools(height, reserves, usdOf, random);

    const moved = random.chance(1 / 8) ? moveLiquidity(stage, previous, reserves, random) : undefined;
    return {
      height,
      get hash() {
        return hashOf(seed, height, version);
      },
      time,
      version,
      reserves,
      shares: moved?.shares ?? previous.shares,
      fees: moved?.fees ?? previous.fees,
      shards: nextShards(seed, previous.shards, { height, time, version }, time - previous.time),
      trades,
      v3,
    };
  };
}

/** The value of a token in US dollars. */
type UsdOf = (token: ChainToken) => number;

/** The values of all tokens at a time. Each is computed once. */
function valuesAt({ valueAt }: Genesis, time: number): UsdOf {
  const values = new Map<ChainToken, number>();
  return (token) => {
    const value = values.get(token) ?? valueAt(token, time);
    values.set(token, value);
    return value;
  };
}

/** V3 after a block; `undefined` below its start. */
function v3After(
  { v3 }: Genesis,
  previous: V3Block | undefined,
  block: { readonly height: number; readonly version: number; readonly usdOf: UsdOf },
): V3Block | undefined {
  if (block.height < v3.from) return undefined;
  return previous ? nextV3Block(v3, previous, block) : firstV3Block(v3, block);
}

/** What the trades of a block changed in the pools of the markets, through curve and orders together. */
function tradesOfMarkets(markets: readonly ChainMarket[], { events }: V3Block): readonly Trade[] {
  const venues = new Map(markets.map(({ poolId, index }) => [poolId, index]));
  return events.flatMap((event) =>
    event.kind === 'trade'
      ? volumesOf(event.trade).flatMap(({ poolId, sold, paid, got }): Trade[] => {
          const venue = venues.get(poolId);
          return venue === undefined ? [] : [{ venue, sideIn: sold, amountIn: paid, amountOut: got }];
        })
      : [],
  );
}

// A random walk that tends to the ratio of the tokens' values.
function tradeAtRandom(
  reserves: BigUint64Array,
  { index }: Venue,
  fairRatio: number,
  random: Random,
): Trade | undefined {
  const drift = Math.log(ratioOf(reserves, index) / fairRatio);
  const sideIn: Side = random.unit() < 0.5 - Math.max(-MAX_PULL, Math.min(MAX_PULL, drift * PULL)) ? 1 : 0;
  const fraction = 10 ** random.between(-4.5, -2.3);

  return trade(reserves, index, sideIn, BigInt(Math.ceil(Number(reserves[index * 2 + sideIn] ?? 0n) * fraction)));
}

/** How strongly a difference from the fair ratio decides about the side of a trade, and at most. */
const PULL = 25;
const MAX_PULL = 0.45;

function follow(reserves: BigUint64Array, market: Venue, pool: Venue, random: Random): Trade | undefined {
  return tradeTowards(reserves, market.index, ratioOf(reserves, pool.index) * random.between(0.9995, 1.0005));
}

// The trade of somebody who earns from a pool whose price is not that of the other pools.
function arbitrage(reserves: BigUint64Array, { index }: Venue, ratio: number): Trade | undefined {
  const drift = ratioOf(reserves, index) / ratio;
  return drift > 1 + MAX_DRIFT || drift < 1 - MAX_DRIFT ? tradeTowards(reserves, index, ratio) : undefined;
}

/** How far the price of a pool may be from the values of its tokens after a block. A route of four pools and back stays within 1 %. */
const MAX_DRIFT = 0.002;

// Smallest units of token 2 that have the value of one of token 1.
function fairRatio({ token1, token2 }: Venue, usdOf: (token: ChainToken) => number): number {
  return (usdOf(token1) / usdOf(token2)) * 10 ** (token2.decimals - token1.decimals);
}

function ratioOf(reserves: Readonly<BigUint64Array>, venue: number): number {
  return Number(reserves[venue * 2 + 1] ?? 0n) / Number(reserves[venue * 2] ?? 0n);
}

// One provider adds or removes liquidity of one pool, and the providers of that pool earn fees.
function moveLiquidity(stage: Genesis, previous: Block, reserves: BigUint64Array, random: Random) {
  const pool = stage.pools[random.below(stage.pools.length)];
  const { perPool, first, earnsFees } = stage.providers;
  if (!pool || perPool === 0 || !stage.exists(pool, previous.height + 1)) return undefined;

  const shares = previous.shares.slice();
  const fees = previous.fees.slice();
  const start = first(pool.index);
  const total = shares.subarray(start, start + perPool).reduce((sum, share) => sum + share, 0n);
  const [place1, place2] = [pool.index * 2, pool.index * 2 + 1];
  const [reserve1 = 0n, reserve2 = 0n] = reserves.subarray(place1, place1 + 2);
  if (total === 0n) return undefined;

  const provider = start + random.below(perPool);
  const share = shares[provider] ?? 0n;
  const wanted = (total * BigInt(5 + random.below(200))) / 10_000n;
  const crowded = reserve1 > (pool.initial[0] * 5n) / 4n || reserve2 > (pool.initial[1] * 5n) / 4n;
  // Since the start of V3, nobody can contribute to these pools.
  const isLeftover = previous.v3 !== undefined;
  const change = crowded || isLeftover || random.chance(0.5) ? -(wanted < share ? wanted : share) : wanted;
  const after1 = reserve1 + (reserve1 * change) / total;
  const after2 = reserve2 + (reserve2 * change) / total;

  // A pool is never emptied, because it could not trade any more.
  if (after1 > MAX_RESERVE || after2 > MAX_RESERVE || after1 < pool.initial[0] / 4n || after2 < pool.initial[1] / 4n) {
    return undefined;
  }
  reserves[place1] = after1;
  reserves[place2] = after2;
  shares[provider] = share + change;
  for (let place = start; place < start + perPool; place++) {
    if (earnsFees(place)) fees[place] = (fees[place] ?? 0n) + BigInt(random.below(1_000_000));
  }
  return { shares, fees };
}

function hashOf(seed: number, height: number, version: number): string {
  return createRandom(seed, 'hash', height, version).hex(64);
}
