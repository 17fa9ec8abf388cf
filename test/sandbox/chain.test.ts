import { describe, expect, test } from 'vitest';
import { type ChainOptions, createChain } from '../../src/sandbox/chain/chain.ts';
import { type Order, type Orders, ordersOf } from '../../src/sandbox/chain/order-book.ts';
import type { ChainPool } from '../../src/sandbox/chain/pools.ts';
import { figuresOf, priceOf } from '../../src/sandbox/chain/tickers.ts';
import type { ChainToken } from '../../src/sandbox/chain/tokens.ts';
import { trade } from '../../src/sandbox/chain/trade.ts';
import { noon } from './support.ts';

const options: ChainOptions = {
  seed: 7,
  startHeight: 1_640_000,
  startTime: noon,
  clock: undefined,
  history: 2_160,
  retention: undefined,
  pools: undefined,
  sharesPerPool: 6,
  v3From: Number.POSITIVE_INFINITY,
  tradesPerBlock: 10,
};
const day = createChain(options);
const young = (changes: Partial<ChainOptions> = {}) => createChain({ ...options, history: 50, ...changes });

describe('the chain', () => {
  test('has a day of blocks, 40 s apart, behind its first tip', () => {
    expect(day.tip).toMatchObject({ height: 1_640_000, time: noon });
    expect(day.oldestHeight).toBe(1_640_000 - 2_160);
    expect(day.block(day.oldestHeight)?.time).toBe(noon - 24 * 60 * 60);
    expect([...day.blocks()].every(({ hash }) => /^[0-9a-f]{64}$/.test(hash))).toBe(true);
    expect(new Set([...day.blocks()].map(({ hash }) => hash)).size).toBe(2_161);
  });

  test('has a week of blocks, of which those older than a day are created when they are read', () => {
    const chain = createChain({ ...options, history: 15_120 });
    expect([...chain.blocks()]).toHaveLength(2_161);
    expect(chain.oldestHeight).toBe(1_640_000 - 15_120);
    expect(chain.block(chain.oldestHeight)?.time).toBe(noon - 7 * 24 * 60 * 60);
    expect(chain.block(chain.oldestHeight - 1)).toBeUndefined();
    expect(chain.tip).toEqual(day.tip);

    // Whatever is read before.
    const other = createChain({ ...options, history: 15_120, past: [...chain.blocks()] });
    const heights = Array.from({ length: 12 }, (_, n) => chain.oldestHeight + n * 1_079);
    const blocks = heights.map((height) => chain.block(height));
    expect(blocks.map((block) => block?.height)).toEqual(heights);
    expect(heights.toReversed().map((height) => other.block(height))).toEqual(blocks.toReversed());
  });

  test('prunes all blocks older than a day before it prunes stored ones', () => {
    const chain = createChain({ ...options, history: 2_500, retention: 2_165 });
    chain.advance(4);
    expect(chain.oldestHeight).toBe(1_640_000 - 2_500);
    expect(chain.block(chain.oldestHeight)).toBeDefined();
    chain.advance(1);
    expect(chain.oldestHeight).toBe(1_640_000 - 2_159);
    expect(chain.block(chain.oldestHeight - 1)).toBeUndefined();
  });

  test('has the times of its clock, if it has one', () => {
    let now = noon;
    const chain = young({ clock: () => now });
    const times = () => [...chain.blocks()].slice(-4).map(({ time }) => time - noon);
    expect(times()).toEqual([-120, -80, -40, 0]);

    now += 4;
    chain.advance(1);
    now += 5;
    chain.advance(2);
    expect(times()).toEqual([0, 4, 9, 9]);
    now -= 60;
    chain.advance(1);
    expect(times()).toEqual([4, 9, 9, 9]);
  });

  test('gives a replacement of the tip a later time for any clock', () => {
    const chain = young({ clock: () => noon });
    chain.advance(1);
    chain.replaceTip();
    expect(chain.tip.time).toBe(noon + 1);
    chain.replaceTip();
    expect(chain.tip.time).toBe(noon + 2);
  });

  test('has shards whose blocks are never later than the beacon, nor earlier than their previous blocks', () => {
    let now = noon;
    const chain = young({ clock: () => now });
    for (let block = 0; block < 100; block++) {
      const before = chain.tip;
      now += block % 6;
      chain.advance(1);
      for (const [id, { time, height }] of chain.tip.shards.entries()) {
        expect(time).toBeLessThanOrEqual(chain.tip.time);
        expect(time).toBeGreaterThanOrEqual(before.shards[id]?.time ?? 0);
        if (height === before.shards[id]?.height) expect(time).toBe(before.shards[id]?.time);
      }
    }
  });

  test('has eight shards that advance at their own rates and sometimes skip a block', () => {
    const first = day.block(day.oldestHeight)?.shards ?? [];
    const gains = day.tip.shards.map(({ height }, id) => height - (first[id]?.height ?? 0));
    expect(gains).toHaveLength(8);
    expect(new Set(gains).size).toBe(8);
    expect(gains.every((gain) => gain > 1_000 && gain < 2_160)).toBe(true);
    expect(day.tip.shards.every(({ totalTxs }, id) => totalTxs > (first[id]?.totalTxs ?? 0))).toBe(true);
  });

  test('prunes blocks that are older than the retention', () => {
    const chain = young({ history: 10, retention: 20 });
    chain.advance(100);
    expect(chain.oldestHeight).toBe(chain.tip.height - 19);
    expect(chain.block(chain.oldestHeight)).toBeDefined();
    expect(chain.block(chain.oldestHeight - 1)).toBeUndefined();
    expect(chain.block(chain.tip.height + 1)).toBeUndefined();
    expect([...chain.blocks()]).toHaveLength(20);
  });

  test('replaces its tip by a block of the same height, a second later, with another hash and other trades', () => {
    const chain = young();
    const before = chain.tip;
    chain.replaceTip();
    expect(chain.tip).toMatchObject({ height: before.height, time: before.time + 1 });
    expect(chain.tip.hash).not.toBe(before.hash);
    expect(chain.tip.trades).not.toEqual(before.trades);
    expect(chain.block(before.height)).toBe(chain.tip);
    chain.replaceTip();
    expect(chain.tip.hash).not.toBe(before.hash);
  });
});

describe('the pools', () => {
  test('are at least 48 over at least 22 tokens, with ids in order', () => {
    expect(day.pools.length).toBeGreaterThanOrEqual(48);
    expect(new Set(day.pools.flatMap(({ token1, token2 }) => [token1.id, token2.id])).size).toBeGreaterThanOrEqual(22);
    expect(new Set(day.pools.map(({ id }) => id)).size).toBe(day.pools.length);
    expect(day.pools.every(({ token1, token2 }) => token1.id < token2.id)).toBe(true);
    expect(day.tokens.every(({ id }) => /^[0-9a-f]{64}$/.test(id))).toBe(true);
    expect(new Set(day.tokens.map(({ decimals }) => decimals))).toEqual(new Set([0, 2, 4, 6, 8, 9]));
  });

  test('have tokens without a name, and two tokens with one symbol', () => {
    const pooled = new Set(day.pools.flatMap(({ token1, token2 }) => [token1, token2]));
    expect([...pooled].filter(({ symbol }) => symbol === undefined).length).toBeGreaterThanOrEqual(2);
    expect([...pooled].filter(({ symbol }) => symbol === 'FXC')).toHaveLength(2);
  });

  test('include empty ones, one above 2^53 and the one of the price example', () => {
    const reserves = day.pools.map((pool) => day.reserves(pool));
    expect(reserves.filter((held) => held?.reserve1 === 0n && held.reserve2 === 0n).length).toBeGreaterThanOrEqual(2);
    expect(reserves.some((held) => (held?.reserve2 ?? 0n) > 10n ** 19n)).toBe(true);
    expect(day.pools[0]?.initial).toEqual([1906314094145580n, 171442164981n]);
  });

  test('include one that did not exist at the oldest heights', () => {
    expect(day.poolsAt(day.tip.height)).toHaveLength(day.pools.length);
    expect(day.poolsAt(day.tip.height - 100)).toHaveLength(day.pools.length);
    expect(day.poolsAt(day.tip.height - 101)).toHaveLength(day.pools.length - 1);

    const late = day.pools.find(({ bornBehindTip }) => bornBehindTip !== undefined);
    if (!late) throw new Error('there is no such pool');
    expect(day.reserves(late, day.tip.height - 101)).toBeUndefined();
    expect(day.reserves(late, day.tip.height - 100)).toBeDefined();
  });

  test('mostly stay the same in a block, and most have changed after a day', () => {
    const changed = (from: number) =>
      day.pools.filter((pool) => day.reserves(pool, from)?.reserve1 !== day.reserves(pool)?.reserve1).length;
    expect(changed(day.tip.height - 1)).toBeLessThan(day.pools.length / 2);
    expect(changed(day.oldestHeight)).toBeGreaterThan(45);
    expect([...day.blocks()].some(({ trades }) => trades.length === 0)).toBe(true);
  });

  test('never lose product in a trade, and refuse a trade without output', () => {
    const reserves = BigUint64Array.of(1_000_003n, 18_000_000_000_000_000_000n);
    const before = 1_000_003n * 18_000_000_000_000_000_000n;
    // 18e18 * 1,000 / (1,000,003 + 1,000), rounded down.
    expect(trade(reserves, 0, 0, 1_000n)?.amountOut).toBe(17_981_964_090_017_712n);
    expect((reserves[0] ?? 0n) * (reserves[1] ?? 0n)).toBeGreaterThanOrEqual(before);
    expect(trade(reserves, 0, 1, 1n)).toBeUndefined();
  });

  test('stay near their initial prices for three days of blocks', () => {
    const chain = young({ retention: 100 });
    chain.advance(6_480);
    for (const pool of chain.pools) {
      const held = chain.reserves(pool);
      const ratio = Number(held?.reserve1 ?? 0n) / Number(pool.initial[0] || 1n);
      if (pool.initial[0] > 0n) expect(ratio > 0.2 && ratio < 2).toBe(true);
    }
  });
});

describe.each([1, 7])('the prices of a week, with seed %i', (seed) => {
  const chain = createChain({ ...options, seed, history: 15_120 });
  const traded = chain.pools.filter(({ initial, bornBehindTip }) => initial[0] > 0n && bornBehindTip === undefined);
  const isStable = ({ symbol }: ChainToken) => ['USDT', 'USDC', 'DAI', 'BUSD', 'GUSD'].includes(symbol ?? '');

  /** Whole tokens 2 for one whole token 1 of each pool, by its reserves: without fees. */
  function spotPrices(height: number): ReadonlyMap<ChainPool, number> {
    return new Map(
      traded.map((pool) => {
        const { reserve1 = 0n, reserve2 = 0n } = chain.reserves(pool, height) ?? {};
        return [pool, (Number(reserve2) / Number(reserve1)) * 10 ** (pool.token1.decimals - pool.token2.decimals)];
      }),
    );
  }

  /** The products of the prices of all routes of up to four pools that return to their first token. */
  function* roundTrips(
    prices: ReadonlyMap<ChainPool, number>,
    route: readonly ChainPool[] = [],
    [at, end, product]: readonly [ChainToken | undefined, ChainToken | undefined, number] = [undefined, undefined, 1],
  ): Generator<number> {
    if (route.length > 0 && at === end) return yield product;
    for (const [pool, price] of route.length < 4 ? prices : []) {
      if (route.includes(pool)) continue;
      const start = end ?? pool.token1;
      if (pool.token1 === (at ?? start))
        yield* roundTrips(prices, [...route, pool], [pool.token2, start, product * price]);
      else if (pool.token2 === at) yield* roundTrips(prices, [...route, pool], [pool.token1, start, product / price]);
    }
  }

  test('agree within 1 % over any route of up to four pools, at each of 5 heights', () => {
    for (let n = 0; n < 5; n++) {
      const products = [...roundTrips(spotPrices(chain.tip.height - n * 3_024))];
      expect(products.length).toBeGreaterThan(300);
      expect(Math.max(...products)).toBeLessThan(1.01);
      expect(Math.min(...products)).toBeGreaterThan(0.99);
    }
  });

  test('of stablecoins stay within 1 % of each other, and all others move a few percent each day', () => {
    for (const day of [0, 3, 6]) {
      const heights = Array.from({ length: 72 }, (_, n) => chain.tip.height - day * 2_160 - n * 30);
      const prices = heights.map(spotPrices);
      for (const pool of traded) {
        const ofPool = prices.map((each) => each.get(pool) ?? 0);
        const moved = Math.max(...ofPool) / Math.min(...ofPool) - 1;
        if (isStable(pool.token1) && isStable(pool.token2)) {
          expect(Math.max(...ofPool)).toBeLessThan(1.01);
          expect(Math.min(...ofPool)).toBeGreaterThan(0.99);
        } else if (pool.token1.symbol !== 'cDAI' && pool.token2.symbol !== 'cDAI') {
          expect(moved).toBeGreaterThan(0.008);
          expect(moved).toBeLessThan(0.12);
        }
      }
    }
  });
});

test('the prices of a chain with a clock move by its time, not by its blocks', () => {
  const ofStep = (seconds: number, blocks: number) => {
    let now = noon;
    const chain = young({ clock: () => now });
    const [pool] = chain.pools;
    const ratios: number[] = [];
    for (let block = 0; block < blocks; block++) {
      now += seconds;
      chain.advance(1);
      const { reserve1 = 0n, reserve2 = 1n } = (pool && chain.reserves(pool)) ?? {};
      ratios.push(Number(reserve1) / Number(reserve2));
    }
    return ratios.at(-1) ?? 0;
  };
  expect(Math.abs(Math.log(ofStep(4, 1_000) / ofStep(40, 100)))).toBeLessThan(0.005);
});

describe('the past', () => {
  test('never changes', () => {
    const chain = young();
    const copy = (height: number) => {
      const block = chain.block(height);
      return [
        block?.hash,
        block?.reserves.join(),
        block?.shares.join(),
        block?.fees.join(),
        JSON.stringify(block?.shards),
      ];
    };
    const heights = [chain.tip.height, chain.tip.height - 1, chain.tip.height - 30];
    const before = heights.map(copy);
    chain.advance(200);
    chain.replaceTip();
    expect(heights.map(copy)).toEqual(before);
  });

  test('depends on the seed', () => {
    const trace = (seed: number) => [...young({ seed }).blocks()].map(({ hash, reserves }) => hash + reserves.join());
    expect(trace(3)).toEqual(trace(3));
    expect(trace(3)).not.toEqual(trace(4));
  });

  test('does not depend on how the blocks were created', () => {
    const [one, other] = [young(), young()];
    one.advance(30);
    for (let i = 0; i < 30; i++) other.advance(1);
    expect(one.tip).toEqual(other.tip);
  });
});

describe('the markets', () => {
  test('have several pools for one ticker, with the same two tokens and with different ones', () => {
    const groups = [...Map.groupBy(day.markets, ({ tickerId }) => tickerId).values()].filter(
      (group) => group.length > 1,
    );
    const tokens = (group: (typeof groups)[number]) =>
      new Set(group.map(({ token1, token2 }) => token1.id + token2.id)).size;
    expect(groups.some((group) => tokens(group) === 1)).toBe(true);
    expect(groups.some((group) => tokens(group) > 1)).toBe(true);
    expect(new Set(day.markets.map(({ poolId }) => poolId)).size).toBe(day.markets.length);
  });

  test('have pool ids that start with the smaller token id', () => {
    for (const { poolId, base, target } of day.markets) {
      const [one, other] = [base.id, target.id].sort();
      expect(poolId).toMatch(new RegExp(`^${one}-${other}-[0-9a-f]{64}$`));
    }
    expect(day.markets.some(({ base, token1 }) => base === token1)).toBe(true);
    expect(day.markets.some(({ base, token2 }) => base === token2)).toBe(true);
  });

  test('mostly correspond to pools of the node', () => {
    const followers = day.markets.filter(({ nodePool }) => nodePool);
    expect(followers.length).toBeGreaterThan(40);
    expect(day.markets.length - followers.length).toBeGreaterThanOrEqual(3);
    for (const market of followers) {
      expect([market.nodePool?.token1, market.nodePool?.token2]).toEqual([market.token1, market.token2]);
    }
  });

  test('follow the price of the node without sharing its reserves', () => {
    const market = day.markets[0];
    if (!market?.nodePool) throw new Error('the first market has a pool');
    const [own, node] = [day.reserves(market), day.reserves(market.nodePool)];
    const ratio = (held: typeof own) => Number(held?.reserve1) / Number(held?.reserve2);
    expect(ratio(own) / ratio(node)).toBeCloseTo(1, 1);
    expect(own).not.toEqual(node);
  });

  test('change their reserves only by trades', () => {
    const blocks = [...day.blocks()].slice(-300);
    for (const [i, block] of blocks.entries()) {
      const previous = blocks[i - 1];
      if (!previous) continue;
      const expected = previous.reserves.slice(day.pools.length * 2);
      for (const { venue, sideIn, amountIn, amountOut } of block.trades) {
        const place = (venue - day.pools.length) * 2;
        if (place < 0) continue;
        expected[place + sideIn] = (expected[place + sideIn] ?? 0n) + amountIn;
        expected[place + 1 - sideIn] = (expected[place + 1 - sideIn] ?? 0n) - amountOut;
      }
      expect(block.reserves.slice(day.pools.length * 2)).toEqual(expected);
    }
  });

  test('have volumes of a day by the clock at any block interval', () => {
    let now = noon;
    const chain = createChain({ ...options, clock: () => now, tradesPerBlock: 40 });
    const volumes = () => figuresOf(chain).map(({ baseVolume }) => baseVolume);
    const first = volumes();
    now += 1;
    chain.advance(1);
    expect(Math.min(...volumes().map((volume, i) => volume - (first[i] ?? 0)))).toBeGreaterThanOrEqual(-1e-9);
    now += 24 * 60 * 60;
    chain.advance(1);
    const ofOneBlock = chain.tip.trades.filter(({ venue }) => venue >= chain.pools.length);
    expect(volumes().filter((volume) => volume > 0)).toHaveLength(new Set(ofOneBlock.map(({ venue }) => venue)).size);
  });

  test('have volumes that are the sum of the trades of the last 2,160 blocks', () => {
    const chain = createChain(options);
    chain.advance(100);
    const figures = figuresOf(chain);

    for (const [i, market] of chain.markets.entries()) {
      const sums = [0n, 0n];
      for (let height = chain.tip.height; height > chain.tip.height - 2_160; height--) {
        for (const made of chain.block(height)?.trades ?? []) {
          if (made.venue !== market.index) continue;
          sums[made.sideIn] = (sums[made.sideIn] ?? 0n) + made.amountIn;
          sums[1 - made.sideIn] = (sums[1 - made.sideIn] ?? 0n) + made.amountOut;
        }
      }
      const [base, target] = market.base === market.token1 ? sums : sums.toReversed();
      expect(figures[i]?.baseVolume).toBe(Number(base) / 10 ** market.base.decimals);
      expect(figures[i]?.targetVolume).toBe(Number(target) / 10 ** market.target.decimals);
    }
    expect(figures.filter(({ baseVolume }) => baseVolume > 0).length).toBeGreaterThan(40);
  });
});

describe('the order books', () => {
  const books = day.markets.map((market) => ({ market, ...ordersOf(day.seed, market, day.tip) }));

  test('have more than 50 entries per side, except thin ones and an empty one', () => {
    const deep = books.filter(({ bids, asks }) => bids.length > 50 && asks.length > 50);
    expect(deep.length).toBeGreaterThan(40);
    expect(books.some(({ bids }) => bids.length > 0 && bids.length < 10)).toBe(true);
    expect(books.filter(({ bids, asks }) => bids.length === 0 && asks.length === 0)).toHaveLength(1);
  });

  const prices = (side: readonly Order[]) => side.map(([price]) => price);
  const isSorted = ({ bids, asks }: Orders) =>
    prices(bids).every((price, i) => i === 0 || price < (prices(bids)[i - 1] ?? 0)) &&
    prices(asks).every((price, i) => i === 0 || price > (prices(asks)[i - 1] ?? 0));
  const spread = ({ bids, asks }: Orders) => Math.min(...prices(asks)) - Math.max(...prices(bids));
  const tickersOf = (found: typeof books) => found.map(({ market }) => market.tickerId).sort();

  test('are unsorted for four markets, and crossed for two of them', () => {
    expect(tickersOf(books.filter((book) => !isSorted(book)))).toEqual([
      'pBAT_pETH',
      'pKNC_pETH',
      'pPOWR_PRV',
      'pZRX_PRV',
    ]);
    expect(tickersOf(books.filter((book) => spread(book) < 0))).toEqual(['pKNC_pETH', 'pPOWR_PRV']);
  });

  test('have prices near the market price if sorted, and quantities by the value of the token', () => {
    for (const { market, bids, asks } of books.filter((book) => isSorted(book) && book.bids.length > 0)) {
      const [bid = 0, ask = 0] = [bids[0]?.[0], asks[0]?.[0]];
      const price = priceOf(market, day.tip);
      expect(bid < price && price < ask).toBe(true);
      expect((ask - bid) / price).toBeCloseTo(0.006, 4);
      expect(bids.at(-1)?.[0]).toBeGreaterThan(price * 0.6);

      const { decimals, usd } = market.base;
      const odd = [...bids, ...asks].filter(
        ([, quantity]) =>
          Number(quantity.toFixed(Math.min(6, decimals))) !== quantity || quantity <= 0 || quantity * usd >= 11_000,
      );
      expect(odd).toEqual([]);
    }
  });

  test('of V3 are those of pools of the exchange: sorted, not crossed, and never empty', () => {
    const { seed, markets, tip } = young({ v3From: 0 });
    expect(markets.filter(({ poolId }) => !tip.v3?.states.has(poolId))).toEqual([]);
    const ofPools = markets.map((market) => ({ market, ...ordersOf(seed, market, tip) }));
    const isUnusual = (book: Orders) =>
      !isSorted(book) || spread(book) < 0 || book.bids.length + book.asks.length === 0;
    expect(tickersOf(ofPools.filter(isUnusual))).toEqual([]);
  });

  test('keep most of their levels in the next block, and change some', () => {
    const chain = young();
    const market = chain.markets[0];
    if (!market) throw new Error('there is a market');
    const quantities = () => ordersOf(chain.seed, market, chain.tip).bids.map(([, quantity]) => quantity);
    const before = quantities();
    chain.advance(1);
    const same = quantities().filter((quantity, i) => quantity === before[i]).length;
    expect(same).toBeGreaterThan(before.length / 2);
    expect(same).toBeLessThan(before.length);
  });

  test('have repeated prices, bids of 1e-8, noise and exponents if unsorted', () => {
    const book = books.find(({ market }) => market.oddity === 'crossed book');
    const text = JSON.stringify(book?.bids);
    expect(new Set(prices(book?.bids ?? [])).size).toBeLessThan(book?.bids.length ?? 0);
    expect(text).toContain('[1e-8,1]');
    expect(text).toMatch(/\d\.\d{15,}/);
    expect(JSON.stringify(book?.asks)).toContain('4e-9');
  });
});

describe('a large chain', () => {
  test('has the configured numbers of pools and shares', () => {
    const chain = young({ pools: 2_000, sharesPerPool: 10, history: 5 });
    expect(chain.pools).toHaveLength(2_000);
    expect(new Set(chain.pools.map(({ id }) => id)).size).toBe(2_000);
    expect(chain.tip.shares).toHaveLength(20_000);
    expect(new Set(chain.providers.of(1_999)).size).toBe(10);
  });
});
