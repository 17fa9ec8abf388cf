import { beforeAll, expect, test } from 'vitest';
import type { PoolState } from '../../src/sandbox/v3/pool.ts';
import { createStoreModel } from '../history/store-model.ts';
import { startGateway } from '../support/gateway.ts';
import { openRest, readDayFigures } from '../support/rest.ts';

const V3 = { sandbox: { exchange: 'v3' } } as const;
const FIELDS = 'poolId poolPrice change { high low } poolPair { liquidityUsd isTradable }';

/** A row of `/tickers`, as it was written: a double would round `liquidity`. */
const liquidityIn = (text: string, poolId: string) =>
  new RegExp(`"pool_id":"${poolId}"[^}]*"liquidity":([0-9.]+)`).exec(text)?.[1];

type Row = Readonly<Record<string, unknown>>;

/** A gateway with the history of some blocks. */
let rest: Awaited<ReturnType<typeof openRest>>;
beforeAll(async () => {
  rest = await openRest({ ...V3, store: createStoreModel(), config: { historyBackfillHours: 0 } }, startGateway);
  for (let made = 0; made < 16; made++) await rest.advance();
  return () => rest.app.close();
});

test('tickers have the price, the liquidity and the range of the pool that they name', async () => {
  const { get, ask, sandbox } = rest;
  const { data } = await ask(`{ beaconHeight pairs { ${FIELDS} } }`);
  const { text, height } = await readDayFigures(get, 'high');
  expect(height).toBe(data.beaconHeight);
  const { tickers }: { tickers: Row[] } = JSON.parse(text);
  expect(tickers).toHaveLength(sandbox.chain.markets.length);
  const pairs = new Map<unknown, { poolPrice: number; change: Row; poolPair: Row }>(
    data.pairs.map((pair: Row) => [pair['poolId'], pair]),
  );
  for (const ticker of tickers) {
    const pair = pairs.get(ticker['pool_id']);
    expect(ticker).toMatchObject({
      pool_price: pair?.poolPrice,
      liquidity_in_usd: pair?.poolPair['liquidityUsd'],
    });
    expect([ticker['high'], ticker['low']]).toEqual([pair?.change['high'], pair?.change['low']]);
  }
  expect(tickers.filter(({ high, low }) => Number(high) > Number(low)).length).toBeGreaterThan(10);
  const ofUsdt = tickers.filter(({ ticker_id }) => ticker_id === 'PRV_pUSDT');
  for (const field of ['pool_price', 'liquidity', 'liquidity_in_usd', 'high', 'low'])
    expect([field, new Set(ofUsdt.map((ticker) => ticker[field])).size]).toEqual([field, 3]);

  // Liquidity is the value of what the pool holds, and not of the amounts that prices are computed with.
  let uneven = 0;
  for (const { pool_id: poolId, target_id: targetId } of ofUsdt) {
    const pool = sandbox.chain.v3Pools.find(({ id }) => id === poolId);
    const state = sandbox.chain.tip.v3?.states.get(String(poolId));
    if (pool === undefined || state === undefined) throw new Error('the sandbox has this pool');
    const { token0, token1 } = pool;
    const [own, other] = token0.id === targetId ? ([0, 1] as const) : ([1, 0] as const);
    const held = state.real[own] + (state.real[other] * state.virtual[own]) / state.virtual[other];
    if (held !== 2n * state.real[own]) uneven += 1;
    const { decimals } = own === 0 ? token0 : token1;
    const digits = String(held).padStart(decimals + 1, '0');
    const expected = `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`.replace(/\.?0+$/, '');
    expect(liquidityIn(text, String(poolId))).toBe(expected);
  }
  expect(uneven).toBeGreaterThan(0);
});

test('a ticker of a pool that the node does not have has none of these fields', async () => {
  let missing = '';
  const { read, untilReady } = await openRest({
    ...V3,
    before({ chain, node }) {
      const ids = chain.v3Pools.map(({ id }) => id).sort();
      const named = chain.markets.filter(({ tickerId }) => tickerId === 'PRV_pUSDT').map(({ poolId }) => poolId);
      missing = named.sort()[0] ?? '';
      node.faults.set({ kind: 'missing-pools', pools: ids.indexOf(missing) + 1 });
    },
  });
  await untilReady();
  const { tickers } = await read('tickers');
  const ofUsdt = tickers.filter(({ ticker_id }: Row) => ticker_id === 'PRV_pUSDT');
  expect(ofUsdt).toHaveLength(3);
  for (const ticker of ofUsdt)
    for (const field of ['pool_price', 'liquidity', 'liquidity_in_usd'])
      expect([ticker.pool_id, field in ticker]).toEqual([ticker.pool_id, ticker.pool_id !== missing]);
});

test('candles and symbols of several pools of two tokens are named by their pool ids', async () => {
  const { read, get, ask, sandbox } = rest;
  const poolIds = sandbox.chain.markets.filter(({ tickerId }) => tickerId === 'PRV_pUSDT').map(({ poolId }) => poolId);
  const closes = new Set<number>();
  for (const poolId of poolIds) {
    const { candles, pool_id } = await read(`candles?ticker_id=${poolId}&interval=1m&limit=1`);
    const { data } = await ask('query ($id: String!) { pair(poolId: $id) { poolPrice } }', { id: poolId });
    expect([pool_id, candles[0].close]).toEqual([poolId, data.pair.poolPrice]);
    closes.add(candles[0].close);
    expect(await read(`/udf/symbols?symbol=${poolId}`)).toMatchObject({ name: 'PRV_pUSDT', ticker: poolId });
  }
  expect(closes.size).toBe(3);
  const found = await read('/udf/search?query=PRV_pUSDT&limit=30&type=&exchange=');
  expect(found.map(({ ticker }: Row) => ticker)).toEqual(poolIds);

  const ambiguous = await get('candles?ticker_id=PRV_pUSDT&interval=1m');
  expect(ambiguous.status).toBe(400);
  const [code, text] = [
    'AMBIGUOUS_TICKER',
    '3 pools have the ticker id "PRV_pUSDT". Use one of their pool ids instead.',
  ];
  expect(await ambiguous.json()).toEqual({ code, message: text, poolIds });
  const ofChart = await get('/udf/symbols?symbol=PRV_pUSDT');
  expect([ofChart.status, await ofChart.json()]).toEqual([400, { s: 'error', errmsg: text, code, poolIds }]);
});

test('a symbol whose price is negative or 0 by the documented formula has two decimals', async () => {
  const poolIds: string[] = [];
  const { read, ask, untilReady } = await openRest({
    // No other test shares the blocks of a sandbox with this history.
    sandbox: { exchange: 'v3', history: 199 },
    before({ chain }) {
      const states = chain.tip.v3?.states as Map<string, PoolState>;
      const markets = chain.markets.filter(({ tickerId }) => tickerId === 'PRV_pUSDT');
      for (const [index, { poolId, base }] of markets.slice(0, 2).entries()) {
        const state = states.get(poolId);
        if (state === undefined) throw new Error('the sandbox has this pool');
        // Rounded to doubles, the formula takes more USDT than there are, or as many.
        const [usdt, prv] = [3n * 2n ** 61n, index === 0 ? 7n * 10n ** 28n : 10n ** 29n];
        states.set(poolId, { ...state, virtual: poolId.startsWith(base.id) ? [prv, usdt] : [usdt, prv] });
        poolIds.push(poolId);
      }
    },
  });
  await untilReady();
  const prices: number[] = [];
  for (const poolId of poolIds) {
    const { data } = await ask('query ($id: String!) { pair(poolId: $id) { poolPrice divergence { lastPercent } } }', {
      id: poolId,
    });
    prices.push(data.pair.poolPrice);
    expect(data.pair.divergence).toEqual({ lastPercent: null });
    expect(await read(`/udf/symbols?symbol=${poolId}`)).toMatchObject({ ticker: poolId, pricescale: 100 });
  }
  expect(prices).toEqual([-0.001024, 0]);
});
