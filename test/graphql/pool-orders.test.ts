import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toSignificantDecimal } from '../../src/domain/amount.ts';
import { isMatchable, type Order, type PoolState } from '../../src/sandbox/v3/pool.ts';
import { swap } from '../../src/sandbox/v3/swap.ts';
import { startGateway, startGatewayForTest } from '../support/gateway.ts';
import { PRV, XMR } from '../support/tokens.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway({ sandbox: { exchange: 'v3' } });
  // Complexity counts the pools that there are once the gateway knows them.
  await gateway.untilReady();
});
afterAll(() => gateway.close());

type Token = { readonly tokenId: string; readonly decimals: number | null };
type Pool = {
  readonly key: string;
  readonly beaconHeight: number;
  readonly token1: Token;
  readonly token2: Token;
} & Readonly<Record<string, unknown>>;

const POOL = 'key beaconHeight token1 { tokenId decimals } token2 { tokenId decimals }';
const ORDER = 'id sellToken { tokenId } buyToken { tokenId } sellAmount boughtAmount price isMatchable';
const ENTRY = 'price quantity exactPrice exactQuantity cumulativeQuantity cumulativeTotal';
const BOOK = `bids { ${ENTRY} } asks { ${ENTRY} } bestBid bestAsk isCrossed`;

/** All pools with those fields, and their states in the sandbox. */
async function askPools(fields: string): Promise<readonly { readonly pool: Pool; readonly state: PoolState }[]> {
  const { data, errors } = await gateway.ask(`{ poolPairs(first: 500) { nodes { ${POOL} ${fields} } } }`);
  expect(errors).toBeUndefined();
  const { states } = gateway.sandbox.chain.tip.v3 ?? { states: new Map<string, PoolState>() };
  return data.poolPairs.nodes.map((pool: Pool) => {
    const state = states.get(pool.key);
    if (state === undefined) throw new Error(`the chain has no pool ${pool.key}`);
    return { pool, state };
  });
}

/** The orders of a state that sell a token, in the order in which trades meet them: the list has the best at one of its ends. */
function sideOf({ orders }: PoolState, side: 0 | 1): readonly Order[] {
  const selling = orders.filter(({ sells }) => sells === side);
  return side === 0 ? selling : selling.toReversed();
}

/** Whole token 1 per whole token 2. */
function priceOf({ rates }: Order, { token1, token2 }: Pool): string | null {
  if (token1.decimals === null || token2.decimals === null) return null;
  return toSignificantDecimal(rates[0] * 10n ** BigInt(token2.decimals), rates[1] * 10n ** BigInt(token1.decimals), 18);
}

describe('PoolPair.orders', () => {
  test('are the open orders of the chain, best first on each side', async () => {
    const found = await askPools(`orders(first: 60) { ${ORDER} }`);
    let count = 0;
    for (const { pool, state } of found) {
      const tokens = [pool.token1.tokenId, pool.token2.tokenId];
      const expected = [...sideOf(state, 0), ...sideOf(state, 1)].map((order) => ({
        id: order.id,
        sellToken: { tokenId: tokens[order.sells] },
        buyToken: { tokenId: tokens[1 - order.sells] },
        sellAmount: String(order.balances[order.sells]),
        boughtAmount: String(order.balances[1 - order.sells]),
        price: priceOf(order, pool),
        isMatchable: isMatchable(order),
      }));
      expect(pool['orders']).toEqual(expected);
      count += expected.length;
    }
    expect(count).toBeGreaterThan(100);
    // Some decimals are unknown.
    expect(found.some(({ pool }) => pool.token2.decimals === null)).toBe(true);
  });

  test('are those of one side, as many as are wanted', async () => {
    const { data } = await gateway.ask(`{ pair(tickerId: "pXMR_PRV") { poolPair { ${POOL} } } }`);
    const { key } = data.pair.poolPair;
    const state = gateway.sandbox.chain.tip.v3?.states.get(key);
    if (state === undefined) throw new Error('the chain has no such pool');
    const ids = (side: 0 | 1, count: number) =>
      sideOf(state, side)
        .slice(0, count)
        .map(({ id }) => ({ id }));
    const answer = await gateway.ask(`{ pair(tickerId: "pXMR_PRV") { poolPair {
      one: orders(sells: "${PRV}") { id }
      other: orders(sells: "${XMR}", first: 2) { id }
      both: orders(first: 4) { id }
      none: orders(first: 0) { id }
    } } }`);
    expect(answer).toEqual({
      data: {
        pair: { poolPair: { one: ids(0, 50), other: ids(1, 2), both: [...ids(0, 2), ...ids(1, 2)], none: [] } },
      },
    });
  });

  test.each([
    ['first: -1', 'first is -1. It must be 0 or greater.'],
    ['first: 501', 'first is 501. The maximum is 500.'],
    ['first: 2147483647', 'first is 2147483647. The maximum is 500.'],
    [`sells: "${'1'.repeat(64)}"`, 'The token of sells is not one of the two tokens of the pool.'],
    ['sells: "PRV"', 'sells is not valid. Expected a token id: 64 lowercase hexadecimal characters.'],
  ])('with %s fail, and only that field', async (args, message) => {
    const { data, errors } = await gateway.ask(
      `{ pair(tickerId: "pXMR_PRV") { poolPair { beaconHeight orders(${args}) { id } } } }`,
    );
    expect(data.pair.poolPair).toEqual({ beaconHeight: expect.any(Number), orders: null });
    expect(errors?.map((error) => [error.message, error.extensions.code])).toEqual([[message, 'BAD_USER_INPUT']]);
  });
});

type Line = Readonly<Record<'price' | 'quantity' | 'cumulativeQuantity' | 'cumulativeTotal', number>> & {
  readonly exactPrice: string;
  readonly exactQuantity: string;
};
type Book = Readonly<Record<'bids' | 'asks', readonly Line[]>> & {
  readonly bestBid: number | null;
  readonly bestAsk: number | null;
  readonly isCrossed: boolean;
};

describe('PoolPair.book', () => {
  test('has all that the orders of the chain offer, at their prices', async () => {
    let entries = 0;
    for (const { pool, state } of await askPools(`book { ${BOOK} } best: book(depth: 1) { ${BOOK} }`)) {
      const [book, best] = [pool['book'] as Book | null, pool['best'] as Book | null];
      if (pool.token1.decimals === null || pool.token2.decimals === null) {
        expect([book, best]).toEqual([null, null]);
        continue;
      }
      if (book === null || best === null) throw new Error('the pool has a book');
      const matchable = state.orders.filter(isMatchable);
      const prices = (side: 0 | 1) =>
        new Set(matchable.filter(({ sells }) => sells === side).map((o) => priceOf(o, pool)));
      expect(new Set(book.bids.map(({ exactPrice }) => exactPrice))).toEqual(prices(0));
      expect(new Set(book.asks.map(({ exactPrice }) => exactPrice))).toEqual(prices(1));
      const unit = 10 ** pool.token2.decimals;
      const offered = (side: 0 | 1) =>
        matchable
          .filter(({ sells }) => sells === side)
          .reduce(
            (sum, { rates, balances }) => sum + (side === 1 ? balances[1] : (balances[0] * rates[1]) / rates[0]),
            0n,
          );
      for (const [lines, side] of [
        [book.bids, 0],
        [book.asks, 1],
      ] as const) {
        if (lines.length === 0) continue;
        expect((lines.at(-1)?.cumulativeQuantity ?? 0) / (Number(offered(side)) / unit)).toBeCloseTo(1, 12);
        const sorted = lines.toSorted((a, b) => (side === 0 ? b.price - a.price : a.price - b.price));
        expect(lines).toEqual(sorted);
      }
      const { bestBid, bestAsk } = book;
      expect([bestBid, bestAsk]).toEqual([book.bids[0]?.price ?? null, book.asks[0]?.price ?? null]);
      expect(book.isCrossed).toBe(bestBid !== null && bestAsk !== null && bestBid > bestAsk);
      expect(best).toEqual({ ...book, bids: book.bids.slice(0, 1), asks: book.asks.slice(0, 1) });
      entries += book.bids.length + book.asks.length;
    }
    expect(entries).toBeGreaterThan(100);
  });

  test('refuses a negative depth', async () => {
    const { data, errors } = await gateway.ask(
      '{ poolPairs(first: 2) { nodes { beaconHeight book(depth: -2) { bestBid } } } }',
    );
    expect(data.poolPairs.nodes).toEqual(Array(2).fill({ beaconHeight: expect.any(Number), book: null }));
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(Array(2).fill('BAD_USER_INPUT'));
  });

  test('counts half of its depth on each side', async () => {
    const query = (depth: number) => `{ poolPairs(first: 100) { nodes { book(depth: ${depth}) { bids { price } } } } }`;
    expect((await gateway.ask(query(300))).errors).toBeUndefined();
    const { errors } = await gateway.ask(query(1_000));
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['QUERY_TOO_COMPLEX']);
  });
});

describe('PoolPair.depth of a pool with orders', () => {
  test('has amounts that the exchange swaps, and that move its curve as far', async () => {
    const percents = [0.25, 1, 5, 40];
    const fields = 'percent upToken1 upToken2 downToken2 downToken1';
    let throughOrders = 0;
    for (const { pool, state } of await askPools(`depth(percents: ${JSON.stringify(percents)}) { ${fields} }`)) {
      const depths = pool['depth'] as readonly Readonly<Record<string, string>>[];
      if (state.real.includes(0n)) expect(depths).toEqual([]);
      for (const { percent, upToken1 = '', upToken2 = '', downToken2 = '', downToken1 = '' } of depths) {
        for (const [side, paid, got, factor] of [
          [0, BigInt(upToken1), BigInt(upToken2), 1 + Number(percent) / 100],
          [1, BigInt(downToken2), BigInt(downToken1), 1 / (1 - Number(percent) / 100)],
        ] as const) {
          const trade = swap(state, side, paid);
          if (typeof trade === 'string') throw new Error(`${pool.key} refuses ${paid}: ${trade}`);
          expect(trade.bought).toBe(got);
          const moved = (after: PoolState) => Number(after.virtual[side]) / Number(state.virtual[side]);
          expect(moved(trade.after)).toBeGreaterThan(Math.sqrt(factor) * (1 - 1e-12));
          const less = swap(state, side, paid - 1n);
          if (typeof less !== 'string') expect(moved(less.after)).toBeLessThan(Math.sqrt(factor) * (1 + 1e-12));
          if (trade.orderChanges.size > 0) throughOrders += 1;
        }
      }
    }
    expect(throughOrders).toBeGreaterThan(20);
  });
});

describe('Pair.depthLadder of a pool with orders', () => {
  const LADDER = 'midPrice bids { price poolQuantity bookQuantity } asks { price poolQuantity bookQuantity }';
  type Level = Readonly<Record<'price' | 'poolQuantity' | 'bookQuantity', number>>;
  type Ladder = { readonly midPrice: number; readonly bids: readonly Level[]; readonly asks: readonly Level[] };

  test('has the orders of the pool, in the units of the pair, and reads no book of the host', async () => {
    const { data, errors } = await gateway.ask(`{ pairs {
      baseId targetId depthLadder(levels: 60, stepPercent: 1.5) { ${LADDER} } poolPair { ${POOL} spotPrice }
    } }`);
    expect(errors).toBeUndefined();
    expect(gateway.sandbox.marketData.calls('orderbook')).toBe(0);
    let withOrders = 0;
    for (const { baseId, depthLadder, poolPair } of data.pairs) {
      const state = poolPair && gateway.sandbox.chain.tip.v3?.states.get(poolPair.key);
      if (depthLadder === null) {
        expect(poolPair === null || poolPair.spotPrice === null || state?.real.includes(0n)).toBe(true);
        continue;
      }
      const { bids, asks, midPrice }: Ladder = depthLadder;
      const base = poolPair.token1.tokenId === baseId ? 0 : 1;
      const tokens = [poolPair.token1, poolPair.token2];
      const whole = (amount: bigint, side: 0 | 1) => Number(amount) / 10 ** tokens[side].decimals;
      const target = base === 0 ? 1 : 0;
      expect(midPrice).toBeCloseTo(whole(state.virtual[target], target) / whole(state.virtual[base], base), 9);
      for (const [levels, sells] of [
        [asks, base],
        [bids, target],
      ] as const) {
        const sign = sells === base ? 1 : -1;
        const last = levels.at(-1)?.price ?? Number.NaN;
        const expected = state.orders
          .filter((order: Order) => order.sells === sells && isMatchable(order))
          .map(({ rates, balances }: Order) => ({
            price: whole(rates[target], target) / whole(rates[base], base),
            quantity: whole(sells === base ? balances[base] : (balances[target] * rates[base]) / rates[target], base),
          }))
          .filter(({ price }: { price: number }) => sign * (price - last) <= 0)
          .reduce((sum: number, { quantity }: { quantity: number }) => sum + quantity, 0);
        const found = levels.reduce((sum, { bookQuantity }) => sum + bookQuantity, 0);
        expect(Math.abs(found - expected)).toBeLessThanOrEqual(1e-9 * expected);
        if (found > 0) withOrders += 1;
        // The curve gives what it holds, and no more.
        const given = levels.reduce((sum, { poolQuantity }) => sum + poolQuantity, 0);
        if (sells === base) expect(given).toBeLessThanOrEqual(whole(state.real[base], base) * (1 + 1e-9));
      }
    }
    expect(withOrders).toBeGreaterThan(10);
  });

  test('does not need the host to answer', async () => {
    const { ask, sandbox, untilReady } = await startGatewayForTest({ sandbox: { exchange: 'v3' } });
    await untilReady();
    sandbox.marketData.faults.set({ kind: 'garbage', on: 'orderbook' });
    const { data, errors } = await ask('{ pair(tickerId: "pXMR_PRV") { depthLadder(levels: 1) { midPrice } } }');
    expect([data.pair.depthLadder, errors]).toEqual([{ midPrice: expect.any(Number) }, undefined]);
  });
});

test('pools of the first version have neither orders nor a book', async () => {
  const { ask } = await startGatewayForTest();
  const { data } = await ask('{ poolPairs(first: 2) { nodes { orders { id } book { bestBid } } } }');
  expect(data.poolPairs.nodes).toEqual(Array(2).fill({ orders: null, book: null }));
});
