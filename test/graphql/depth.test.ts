import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { amountReceived } from '../../src/domain/swap.ts';
import { startGateway, startGatewayForTest } from '../support/gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const DEPTH = 'percent upToken1 upToken2 downToken2 downToken1';
const LEVEL = 'price poolQuantity bookQuantity quantity cumulativeQuantity cumulativeTotal';
const LADDER = `midPrice bids { ${LEVEL} } asks { ${LEVEL} }`;

type Depth = Record<'upToken1' | 'upToken2' | 'downToken2' | 'downToken1', string> & { readonly percent: number };
type Level = Record<
  'price' | 'poolQuantity' | 'bookQuantity' | 'quantity' | 'cumulativeQuantity' | 'cumulativeTotal',
  number
>;
type Entry = { readonly price: number; readonly quantity: number };

describe('PoolPair.depth', () => {
  test('is what moves the price by the default percentages, or by others, also at an earlier height', async () => {
    const pool = `poolPair(token1Id: "${PRV}", token2Id: "${BTC}"`;
    const fields = 'token1PoolValue token2PoolValue';
    const { data, errors } = await gateway.ask(`{
      beaconHeight
      now: ${pool}) { ${fields} depth { ${DEPTH} } }
      one: ${pool}, at: ${gateway.sandbox.chain.tip.height - 30}) { ${fields} depth(percents: [3.75]) { ${DEPTH} } }
    }`);
    expect(errors).toBeUndefined();
    expect(data.now.depth.map(({ percent }: Depth) => percent)).toEqual([0.5, 1, 2, 5, 10]);
    expect(data.one.depth.map(({ percent }: Depth) => percent)).toEqual([3.75]);
    for (const { token1PoolValue, token2PoolValue, depth } of [data.now, data.one]) {
      const [reserve1, reserve2] = [BigInt(token1PoolValue), BigInt(token2PoolValue)];
      for (const { percent, upToken1, upToken2, downToken2, downToken1 } of depth) {
        expect(Number(BigInt(upToken1) + reserve1) / Number(reserve1)).toBeCloseTo(Math.sqrt(1 + percent / 100), 8);
        expect(Number(BigInt(downToken2) + reserve2) / Number(reserve2)).toBeCloseTo(
          1 / Math.sqrt(1 - percent / 100),
          8,
        );
        expect(BigInt(upToken2)).toBe(amountReceived(reserve1, reserve2, BigInt(upToken1)));
        expect(BigInt(downToken1)).toBe(amountReceived(reserve2, reserve1, BigInt(downToken2)));
      }
    }
  });

  test('is empty for a pool with an empty side, and for no percentages', async () => {
    const { data } = await gateway.ask(
      '{ poolPairs(first: 500) { nodes { token1PoolValue token2PoolValue depth { percent } none: depth(percents: []) { percent } } } }',
    );
    const pools: { token1PoolValue: string; token2PoolValue: string; depth: object[]; none: object[] }[] =
      data.poolPairs.nodes;
    const isEmpty = (pool: (typeof pools)[number]) => pool.token1PoolValue === '0' || pool.token2PoolValue === '0';
    expect(pools.filter(isEmpty).length).toBeGreaterThan(0);
    for (const pool of pools) expect([pool.depth.length, pool.none]).toEqual([isEmpty(pool) ? 0 : 5, []]);
  });

  test.each([
    ['[1, 0]', 'percents contains 0. It must be above 0 and below 100.'],
    ['[-0.5]', 'percents contains -0.5. It must be above 0 and below 100.'],
    ['[100]', 'percents contains 100. It must be above 0 and below 100.'],
    [`[${Array(101).fill(1)}]`, 'percents has 101 entries. The maximum is 100.'],
  ])('of percentages that cannot be fails, and only that field: %s', async (percents, message) => {
    const { data, errors } = await gateway.ask(
      `{ poolPairs(first: 2, filter: { nonEmpty: true }) { nodes { depth(percents: ${percents}) { percent } beaconHeight } } }`,
    );
    const height = expect.any(Number);
    expect(data.poolPairs.nodes).toEqual(Array(2).fill({ depth: null, beaconHeight: height }));
    expect(errors?.map((error) => [error.message, error.extensions.code])).toEqual(
      Array(2).fill([message, 'BAD_USER_INPUT']),
    );
  });
});

describe('Pair.depthLadder', () => {
  test('adds the order book to the pool, at the prices of the levels', async () => {
    const { data, errors } = await gateway.ask(`{
      pair(tickerId: "pBTC_PRV") {
        poolPair { token1PoolValue token2PoolValue spotPrice token1 { decimals } token2 { decimals } }
        orderBook(depth: 0) { bids { price quantity } asks { price quantity } }
        depthLadder { ${LADDER} }
        wide: depthLadder(levels: 2, stepPercent: 5) { ${LADDER} }
      }
    }`);
    expect(errors).toBeUndefined();
    const { poolPair, orderBook, depthLadder, wide } = data.pair;
    const base = Number(poolPair.token2PoolValue) / 10 ** poolPair.token2.decimals;
    const target = Number(poolPair.token1PoolValue) / 10 ** poolPair.token1.decimals;
    for (const [ladder, levels, stepPercent] of [
      [depthLadder, 20, 0.25],
      [wide, 2, 5],
    ] as const) {
      expect(ladder.midPrice).toBe(poolPair.spotPrice);
      for (const [side, sign] of [
        ['bids', -1],
        ['asks', 1],
      ] as const) {
        expect(ladder[side]).toHaveLength(levels);
        const last: Level = ladder[side].at(-1);
        const factor = 1 + (sign * levels * stepPercent) / 100;
        expect(last.price / (poolPair.spotPrice * factor)).toBeCloseTo(1, 12);
        const inside = orderBook[side].filter(({ price }: Entry) => sign * (price - last.price) <= 0);
        expect(inside.length).toBeGreaterThan(0);
        const fromBook = inside.reduce((sum: number, { quantity }: Entry) => sum + quantity, 0);
        const worth = inside.reduce((sum: number, { price, quantity }: Entry) => sum + price * quantity, 0);
        const fromPool = sign * base * (1 - 1 / Math.sqrt(factor));
        const paid = sign * target * (Math.sqrt(factor) - 1);
        expect(last.cumulativeQuantity / (fromPool + fromBook)).toBeCloseTo(1, 9);
        expect(last.cumulativeTotal / (paid + worth)).toBeCloseTo(1, 9);
      }
    }
  });

  test('counts target tokens per base token, whichever token of the pool is the base', async () => {
    const { data, errors } = await gateway.ask(
      '{ pairs { poolPrice ticker { lastPrice } depthLadder(levels: 1) { midPrice } } }',
    );
    expect(errors).toBeUndefined();
    const priced = data.pairs.filter(({ poolPrice }: { poolPrice: number | null }) => poolPrice !== null);
    expect(priced.length).toBeGreaterThan(20);
    for (const { poolPrice, depthLadder } of priced) {
      // The price of one whole token is near the spot price, unless the pool has only a few tokens.
      expect(Math.abs(Math.log10(poolPrice / depthLadder.midPrice))).toBeLessThan(0.5);
    }
    const without = data.pairs.filter(({ poolPrice }: { poolPrice: number | null }) => poolPrice === null);
    expect(without.map(({ depthLadder }: { depthLadder: unknown }) => depthLadder)).toEqual(without.map(() => null));
  });

  test('of an empty book is the pool alone', async () => {
    const { data } = await gateway.ask(`{ pair(tickerId: "pSWAP_pUSDT") { depthLadder(levels: 3) { ${LADDER} } } }`);
    for (const level of [...data.pair.depthLadder.bids, ...data.pair.depthLadder.asks] as Level[]) {
      expect([level.bookQuantity, level.quantity]).toEqual([0, level.poolQuantity]);
    }
  });

  test.each([
    ['levels: 0', 'levels is 0. It must be from 1 to 200.'],
    ['levels: 201, stepPercent: 0.1', 'levels is 201. It must be from 1 to 200.'],
    ['levels: -3', 'levels is -3. It must be from 1 to 200.'],
    ['stepPercent: 0', 'stepPercent is 0. It must be above 0.'],
    ['stepPercent: -1', 'stepPercent is -1. It must be above 0.'],
    [
      'levels: 200, stepPercent: 0.5',
      'levels * stepPercent is 100. It must be below 100, so that all prices are above 0.',
    ],
    ['stepPercent: 5', 'levels * stepPercent is 100. It must be below 100, so that all prices are above 0.'],
  ])('with %s fails, and only that field', async (args, message) => {
    const { data, errors } = await gateway.ask(
      `{ pair(tickerId: "pBTC_PRV") { id depthLadder(${args}) { midPrice } } }`,
    );
    expect(data.pair).toEqual({ id: expect.any(String), depthLadder: null });
    expect(errors?.map((error) => [error.message, error.extensions.code, error.path])).toEqual([
      [message, 'BAD_USER_INPUT', ['pair', 'depthLadder']],
    ]);
  });

  test('of the most levels is answered, and costs accordingly', async () => {
    const query = (args: string) => `{ pair(tickerId: "pBTC_PRV") { depthLadder(${args}) { ${LADDER} } } }`;
    const { data } = await gateway.ask(query('levels: 200, stepPercent: 0.499'));
    expect([data.pair.depthLadder.bids.length, data.pair.depthLadder.asks.length]).toEqual([200, 200]);
    expect(data.pair.depthLadder.bids.at(-1).price).toBeGreaterThan(0);

    const tooMany = await gateway.ask(`{ pairs { depthLadder(levels: 200, stepPercent: 0.25) { ${LADDER} } } }`);
    expect(tooMany.errors?.map(({ extensions }) => extensions.code)).toEqual(['QUERY_TOO_COMPLEX']);
  });
});

describe('the ladders of a thousand pairs', () => {
  test('are charged, or refused if there are more levels than an answer may have', async () => {
    const url = await serveManyPairs(1_000);
    const { ask } = await startGatewayForTest({ configOf: () => ({ marketDataUrl: url }) });
    expect((await ask('{ pairs { id } }')).data.pairs).toHaveLength(1_000);
    for (const args of ['levels: 200, stepPercent: 0.25', 'levels: 60']) {
      const { data, errors } = await ask(`{ pairs { depthLadder(${args}) { ${LADDER} } } }`);
      expect([data, errors?.map(({ extensions }) => extensions.code)]).toEqual([undefined, ['QUERY_TOO_COMPLEX']]);
    }
    // No pair has a pool, so that no book is read. It costs as much as if they had.
    const rate = { rateLimitPerSecond: 1, rateLimitBurst: 5_000 };
    const limited = await startGatewayForTest({ configOf: () => ({ marketDataUrl: url }), config: rate });
    await limited.untilReady();
    const few = `{ pairs { depthLadder(levels: 1) { midPrice } } }`;
    expect((await limited.ask(few)).errors).toBeUndefined();
    expect((await limited.ask(few)).errors?.map(({ extensions }) => extensions.code)).toEqual(['RATE_LIMITED']);
  });
});

/** Serves a market-data host that lists so many pairs, of tokens without pools. */
async function serveManyPairs(count: number): Promise<URL> {
  const rows = Array.from({ length: count }, (_, index) => ({
    ticker_id: `A${index}_B`,
    base_id: index.toString(16).padStart(64, 'a'),
    base: `A${index}`,
    target_id: PRV,
    target: 'B',
    pool_id: `pool ${index}`,
    base_currency: `A${index}`,
    target_currency: 'B',
  }));
  const server = createServer((request, response) => {
    const name = request.url?.includes('tickers') ? 'tickers' : 'pairs';
    response.end(JSON.stringify({ message: 'OK', [name]: rows }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

describe('while an upstream cannot be read', () => {
  const QUERY = `{
    pair(tickerId: "pBTC_PRV") { tickerId poolPrice poolPair { depth { percent } } depthLadder(levels: 1) { midPrice } orderBook { bestBid } }
  }`;

  test('the order book, only the ladder and the book fail', async () => {
    const { ask, sandbox, untilReady } = await startGatewayForTest();
    await untilReady();
    sandbox.marketData.faults.set({ kind: 'garbage', on: 'orderbook' });
    const { data, errors } = await ask(QUERY);
    expect(data.pair).toEqual({
      tickerId: 'pBTC_PRV',
      poolPrice: expect.any(Number),
      poolPair: { depth: Array(5).fill({ percent: expect.any(Number) }) },
      depthLadder: null,
      orderBook: null,
    });
    expect(errors?.map(({ path, extensions }) => [path?.at(-1), extensions.code]).toSorted()).toEqual([
      ['depthLadder', 'UPSTREAM_BAD_SHAPE'],
      ['orderBook', 'UPSTREAM_BAD_SHAPE'],
    ]);
  });

  test('the node, the book is complete, and no book is read for the ladder', async () => {
    const { ask, sandbox } = await startGatewayForTest({ before: ({ node }) => node.stop() });
    const { data, errors } = await ask('{ pair(tickerId: "pBTC_PRV") { depthLadder(levels: 1) { midPrice } } }');
    expect([data.pair, errors?.map(({ extensions }) => extensions.code)]).toEqual([
      { depthLadder: null },
      ['UPSTREAM_UNREACHABLE'],
    ]);
    expect(sandbox.marketData.calls('orderbook')).toBe(0);
    const { data: partial } = await ask(QUERY);
    expect(partial.pair).toMatchObject({
      poolPrice: null,
      depthLadder: null,
      orderBook: { bestBid: expect.any(Number) },
    });
  });
});
