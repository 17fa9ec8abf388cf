import { beforeAll, describe, expect, test } from 'vitest';
import { createHistoryStore } from '../../src/history/store-client.ts';
import { readTradesParameters } from '../../src/rest/parameters.ts';
import type { ChainMarket } from '../../src/sandbox/chain/markets.ts';
import { NEVER_MS, startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';
import { sumOf } from '../support/metrics.ts';
import { type Hop, hopsOf } from '../support/node-trades.ts';
import { openRest, readDayFigures } from '../support/rest.ts';
import { until } from '../support/until.ts';

const FIELDS = ['trade_id', 'price', 'base_volume', 'target_volume', 'trade_timestamp', 'type'];
const OF_TRADES = ['pool_base_volume', 'pool_target_volume', 'is_pool_volume_complete', 'pool_last_price'];
type Trade = Readonly<Record<string, string>>;
type Row = Readonly<Record<string, string | boolean>>;

/** A gateway with V3, whose trades are recorded from its first head on. */
function openTraded(options: TestGatewayOptions = {}, start?: typeof startGateway) {
  const store = createHistoryStore({ database: { kind: 'memory' }, rawDays: 7 });
  const config = { historyBackfillHours: 0, tradesBackfillHours: 0, ...options.config };
  return openRest({ store, ...options, sandbox: { exchange: 'v3', history: 30 }, config }, start);
}

/** Waits until the trades of so many blocks are recorded. Between two requests, a document could change until then. */
function untilTradesRecorded({ app }: Pick<TestGateway, 'app'>, blocks: number) {
  return until(() => app.service.sources.history.status().tradeCoverage?.blocks === blocks);
}

/** A document whose numbers are texts, as they were written: a double would round them. */
function withDigits(text: string): { readonly buy: readonly Trade[]; readonly sell: readonly Trade[] } {
  const asText = (_key: string, value: unknown, { source }: { readonly source?: string }) =>
    typeof value === 'number' ? source : value;
  return JSON.parse(text, asText as (key: string, value: unknown) => unknown);
}

/** Whole tokens with all digits. */
function decimal(units: bigint, decimals: number): string {
  const digits = String(units).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const rest = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return rest === '' ? whole : `${whole}.${rest}`;
}

/** What trades moved of the first or of the second token of a pool. */
function sumOfSide(hops: readonly Hop[], side: 0 | 1): bigint {
  return hops.reduce((sum, { change }) => sum + (change[side] < 0n ? -change[side] : change[side]), 0n);
}

/** What the document must have of trades through pools of markets, newest first, without its price. */
function expectedOf(hops: readonly Hop[], markets: readonly ChainMarket[], type?: string) {
  const rows = hops.toReversed().flatMap(({ poolId, change, transactionId, step, time }) => {
    const market = markets.find((each) => each.poolId === poolId);
    if (market === undefined) return [];
    const [first] = poolId.split('-');
    const [base, target] = market.base.id === first ? change : change.toReversed();
    const absolute = (amount = 0n) => (amount < 0n ? -amount : amount);
    return {
      trade_id: `${transactionId}-${step}`,
      base_volume: decimal(absolute(base), market.base.decimals),
      target_volume: decimal(absolute(target), market.target.decimals),
      trade_timestamp: String(time),
      // The trader pays with what comes into the pool.
      type: (base ?? 0n) > 0n ? 'sell' : 'buy',
    };
  });
  return type === undefined ? rows : rows.filter((row) => row.type === type);
}

/** Both sides of a document, newest first. */
function rowsOf({ buy, sell }: ReturnType<typeof withDigits>) {
  return [...buy, ...sell].map(({ price: _, ...row }) => row);
}

/** The fields of all tickers. */
function fieldsOf(tickers: readonly object[]): readonly string[] {
  return [...new Set(tickers.flatMap((ticker) => Object.keys(ticker)))];
}

function expectNoFieldsOfTrades(tickers: readonly object[]): void {
  expect(fieldsOf(tickers)).toContain('pool_price');
  expect(fieldsOf(tickers).filter((field) => OF_TRADES.includes(field))).toEqual([]);
}

const ofSides = (rows: readonly { readonly type: string }[]) => [
  ...rows.filter(({ type }) => type === 'buy'),
  ...rows.filter(({ type }) => type === 'sell'),
];

describe('the trades of a ticker', () => {
  let rest: Awaited<ReturnType<typeof openTraded>>;
  let opened: number;
  let first: number;
  let hops: readonly Hop[];
  const read = async (parameters: string) =>
    withDigits(await (await rest.get(`historical_trades?${parameters}`)).text());
  const marketsOf = (ticker: string) => rest.sandbox.chain.markets.filter(({ tickerId }) => tickerId === ticker);

  beforeAll(async () => {
    rest = await openTraded({}, startGateway);
    opened = rest.sandbox.chain.tip.height;
    await rest.advance();
    first = rest.sandbox.chain.tip.height;
    // Some of them are recorded then, and the newest ones are in memory.
    for (let block = 0; block < 14; block++) await rest.advance();
    await untilTradesRecorded(rest, 13);
    hops = await hopsOf(rest.sandbox, first);
    return () => rest.app.close();
  });
  const since = () => `start_time=${rest.sandbox.chain.block(first)?.time ?? 0}000`;

  test('are those of the blocks, exactly, newest first, of each pool', async () => {
    let seen = 0;
    const sides = new Set<string>();
    for (const market of rest.sandbox.chain.markets) {
      const document = await read(`ticker_id=${market.poolId}&limit=500&${since()}`);
      expect(Object.keys(document)).toEqual(['buy', 'sell']);
      const expected = expectedOf(hops, [market]);
      expect(rowsOf(document)).toEqual(ofSides(expected));
      for (const trade of [...document.buy, ...document.sell]) {
        expect(Object.keys(trade)).toEqual(FIELDS);
        const price = Number(trade['target_volume']) / Number(trade['base_volume']);
        expect(Math.abs(Number(trade['price']) / price - 1)).toBeLessThan(1e-12);
        sides.add(`${trade['type']} ${market.base.id < market.target.id}`);
      }
      seen += expected.length;
    }
    expect(seen).toBeGreaterThan(30);
    expect(sides.size).toBe(4);
  });

  test('of several pools are those of all, or of the one that pool_id names', async () => {
    const markets = marketsOf('PRV_pUSDT');
    expect(markets).toHaveLength(3);
    const expected = expectedOf(hops, markets);
    const all = await read(`ticker_id=PRV_pUSDT&limit=500&${since()}`);
    expect(rowsOf(all)).toEqual(ofSides(expected));
    const ids = rowsOf(all).map(({ trade_id: id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const market of markets)
      expect(rowsOf(await read(`ticker_id=PRV_pUSDT&pool_id=${market.poolId}&limit=500&${since()}`))).toEqual(
        ofSides(expectedOf(hops, [market])),
      );
  });

  test('are the newest ones of both sides together, or of one side', async () => {
    const markets = marketsOf('PRV_pUSDT');
    const expected = expectedOf(hops, markets);
    expect(rowsOf(await read('ticker_id=PRV_pUSDT&limit=3'))).toEqual(ofSides(expected.slice(0, 3)));
    // As CoinGecko has it. No market has so many trades here.
    expect(readTradesParameters(new URLSearchParams('ticker_id=PRV_pUSDT&limit=0')).last).toBe(500);
    for (const type of ['buy', 'sell']) {
      const document = await read(`ticker_id=PRV_pUSDT&limit=2&type=${type}&${since()}`);
      const ofType = expectedOf(hops, markets, type);
      expect(ofType.length).toBeGreaterThan(2);
      expect(rowsOf(document)).toEqual(ofType.slice(0, 2));
      expect(document).toMatchObject({ [type === 'buy' ? 'sell' : 'buy']: [] });
    }
  });

  test('are those of a range, start_time included and end_time excluded', async () => {
    const markets = marketsOf('PRV_pUSDT');
    const times = [...new Set(expectedOf(hops, markets).map(({ trade_timestamp: time }) => Number(time)))];
    const [end = 0, start = 0] = [times[1], times.at(-2)];
    expect(end).toBeGreaterThan(start);
    const inRange = hops.filter(({ time }) => time >= start && time < end);
    const document = await read(`ticker_id=PRV_pUSDT&limit=500&start_time=${start}&end_time=${end}`);
    expect(rowsOf(document)).toEqual(ofSides(expectedOf(inRange, markets)));
    expect(await read('ticker_id=PRV_pUSDT&start_time=99999999999999')).toEqual({ buy: [], sell: [] });
    expect(await read('ticker_id=PRV_pUSDT&start_time=0&end_time=1')).toEqual({ buy: [], sell: [] });
  });

  test('are what candles and bars have as their volumes, and candles say where', async () => {
    let seen = 0;
    for (const market of rest.sandbox.chain.markets) {
      const { candles } = JSON.parse(await (await rest.get(`candles?ticker_id=${market.poolId}&interval=1m`)).text());
      const exact = candles.filter((candle: Row) => candle['is_volume_exact']);
      expect(exact.length).toBeGreaterThan(3);
      for (const { time, volume, target_volume } of exact) {
        const inMinute = hops.filter(
          (hop) => Math.floor(hop.time / 60_000) * 60 === time && hop.poolId === market.poolId,
        );
        const isFirst = market.poolId.startsWith(market.base.id);
        const whole = (side: 0 | 1, decimals: number) => Number(decimal(sumOfSide(inMinute, side), decimals));
        expect([volume, target_volume]).toEqual([
          whole(isFirst ? 0 : 1, market.base.decimals),
          whole(isFirst ? 1 : 0, market.target.decimals),
        ]);
        seen += inMinute.length;
      }
      const bars = await rest.read(`/udf/history?symbol=${market.poolId}&resolution=1&to=1800000000&countback=100`);
      expect(bars.v).toEqual(candles.map((candle: Row) => candle['volume']));
    }
    expect(seen).toBeGreaterThan(30);
  });

  test('are what the volumes and the last prices of tickers come from', async () => {
    const { get, sandbox, ask } = rest;
    const hops = await hopsOf(sandbox, opened);
    const expected = sandbox.chain.markets.map(({ poolId, base, target }) => {
      const ofPool = hops.filter((hop) => hop.poolId === poolId);
      const baseSide = poolId.startsWith(base.id) ? 0 : 1;
      const last = ofPool.at(-1)?.change;
      return {
        pool_id: poolId,
        pool_base_volume: decimal(sumOfSide(ofPool, baseSide), base.decimals),
        pool_target_volume: decimal(sumOfSide(ofPool, baseSide === 0 ? 1 : 0), target.decimals),
        price:
          last &&
          Math.abs(Number(last[1 - baseSide]) / Number(last[baseSide])) * 10 ** (base.decimals - target.decimals),
      };
    });
    expect(expected.filter(({ price }) => price !== undefined).length).toBeGreaterThan(5);
    const { text, height } = await readDayFigures(get, 'pool_base_volume');
    expect(height).toBe(sandbox.chain.tip.height);
    const { tickers: rows } = withDigits(text) as unknown as { tickers: readonly Row[] };
    expect(
      rows.map(({ pool_id, pool_base_volume, pool_target_volume, pool_last_price: price }) => ({
        ...{ pool_id, pool_base_volume, pool_target_volume },
        price: price === undefined ? undefined : Number(price),
      })),
    ).toEqual(expected.map((row) => ({ ...row, price: row.price && expect.closeTo(row.price, 9) })));

    const { data } = await ask('{ tickers { poolId tradedPrice poolPair { volume(hours: 24) { isComplete } } } }');
    const { tickers } = await (await get('tickers')).json();
    expect(
      tickers.map(({ pool_id: poolId, pool_last_price: price, is_pool_volume_complete: isComplete }: Row) => ({
        ...{ poolId, tradedPrice: price ?? null, poolPair: { volume: { isComplete } } },
      })),
    ).toEqual(data.tickers);
  });

  test('are read once for all clients, without a call, with the headers of the other documents', async () => {
    const path = 'historical_trades?ticker_id=PRV_pUSDT&limit=7&unknown=1';
    const { node, marketData } = rest.sandbox;
    const calls = () => [
      ...(['retrievebeaconblockbyheight', 'pdexv3_getState'] as const).map((call) => node.calls(call)),
      marketData.calls('orderbook'),
    ];
    const before = calls();
    const responses = await Promise.all(Array.from({ length: 20 }, () => rest.get(path)));
    expect(new Set(await Promise.all(responses.map((response) => response.text()))).size).toBe(1);
    const { headers } = responses[0] as Response;
    expect([headers.get('content-type'), headers.get('vary'), headers.get('access-control-allow-origin')]).toEqual([
      ...['application/json', 'x-pdex-min-height', '*'],
    ]);
    expect(headers.get('x-pdex-height')).toBe(String(rest.sandbox.chain.tip.height));
    expect(headers.get('cache-control')).toMatch(/^max-age=\d+$/);
    const etag = headers.get('etag') ?? '';
    for (const method of ['GET', 'HEAD']) {
      expect((await rest.get(path, { method, headers: { 'if-none-match': etag } })).status).toBe(304);
    }
    const head = await rest.get(path, { method: 'HEAD' });
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
    expect((await rest.get(path, { method: 'OPTIONS' })).status).toBe(204);
    expect((await rest.get(path, { method: 'POST', body: '{}' })).status).toBe(405);
    expect(calls()).toEqual(before);
    const metrics = await (await rest.get('/metrics')).text();
    expect(sumOf(metrics, 'pdex_http_requests_total', { endpoint: 'trades' })).toBeGreaterThan(20);
  });

  test.each([
    ['', 'ticker_id is missing. Choose one of /tickers.'],
    ['ticker_id=', 'ticker_id is missing. Choose one of /tickers.'],
    ['pool_id=x', 'ticker_id is missing. Choose one of /tickers.'],
    ['ticker_id=a&ticker_id=b', 'ticker_id is set more than once.'],
    ['ticker_id=PRV_pUSDT&pool_id=a&pool_id=b', 'pool_id is set more than once.'],
    ['ticker_id=PRV_pUSDT&limit=501', 'limit is "501". It must be a whole number from 0 to 500.'],
    ['ticker_id=PRV_pUSDT&limit=1e2', 'limit is "1e2". It must be a whole number from 0 to 500.'],
    ['ticker_id=PRV_pUSDT&limit=-1', 'limit is "-1". It must be a whole number from 0 to 500.'],
    ['ticker_id=PRV_pUSDT&limit=', 'limit is "". It must be a whole number from 0 to 500.'],
    ['ticker_id=PRV_pUSDT&type=BUY', 'type is "BUY". It must be one of buy, sell.'],
    ['ticker_id=PRV_pUSDT&type=toString', 'type is "toString". It must be one of buy, sell.'],
    ['ticker_id=PRV_pUSDT&type=', 'type is "". It must be one of buy, sell.'],
    ['ticker_id=PRV_pUSDT&start_time=5&end_time=5', 'start_time is not before end_time.'],
    [
      'ticker_id=PRV_pUSDT&start_time=-1',
      'start_time is "-1". It must be whole milliseconds, not seconds, since 1970-01-01T00:00:00Z.',
    ],
    [
      'ticker_id=PRV_pUSDT&end_time=1767225600',
      'end_time is "1767225600". It must be whole milliseconds, not seconds, since 1970-01-01T00:00:00Z.',
    ],
    [
      'ticker_id=PRV_pUSDT&end_time=1767225600000000',
      'end_time is "1767225600000000". It must be whole milliseconds, not seconds, since 1970-01-01T00:00:00Z.',
    ],
  ])('with %j are refused', async (parameters, message) => {
    const response = await rest.get(`historical_trades?${parameters}`);
    expect([response.status, await response.json()]).toEqual([400, { code: 'BAD_USER_INPUT', message }]);
  });

  test.each([
    ['ticker_id=nothing', 'Ticker "nothing" does not exist.'],
    ['ticker_id=__proto__', 'Ticker "__proto__" does not exist.'],
    ['ticker_id=PRV_pUSDT&pool_id=', 'Ticker "PRV_pUSDT" does not have the pool "", and so no trades.'],
    ['ticker_id=PRV_pUSDT&pool_id=x', 'Ticker "PRV_pUSDT" does not have the pool "x", and so no trades.'],
  ])('with %j do not exist', async (parameters, message) => {
    const response = await rest.get(`historical_trades?${parameters}`);
    expect([response.status, await response.json()]).toEqual([404, { code: 'NOT_FOUND', message }]);
  });
});

test('of a block that was replaced are in no later document, and the others keep their ids', async () => {
  const { sandbox, app, get, advance } = await openTraded();
  await advance();
  const { height } = sandbox.chain.tip;
  const ofBlock = await hopsOf(sandbox, height);
  const poolIds = [...new Set(ofBlock.map(({ poolId }) => poolId))].slice(0, 4);
  const idsOf = async () => {
    const rows = poolIds.map(async (poolId) =>
      rowsOf(withDigits(await (await get(`historical_trades?ticker_id=${poolId}&limit=500`)).text())),
    );
    return (await Promise.all(rows)).flat().map(({ trade_id: id }) => id);
  };
  const namesOf = (hops: readonly Hop[]) =>
    hops.filter(({ poolId }) => poolIds.includes(poolId)).map(({ transactionId, step }) => `${transactionId}-${step}`);
  const below = namesOf(await hopsOf(sandbox, height - 1, height - 1));
  expect(await idsOf()).toEqual(expect.arrayContaining([...below, ...namesOf(ofBlock)]));

  sandbox.replaceTip();
  const now = namesOf(await hopsOf(sandbox, height));
  const lost = namesOf(ofBlock).filter((id) => !now.includes(id));
  expect(lost.length).toBeGreaterThan(0);
  await expect.poll(async () => (await idsOf()).filter((id) => lost.includes(id ?? ''))).toEqual([]);
  expect(await idsOf()).toEqual(expect.arrayContaining([...below, ...now]));
  // Until they are recorded: the first head, and all blocks up to three below the newest.
  for (let block = 0; block < 6; block++) await advance();
  await untilTradesRecorded({ app }, 5);
  const later = await idsOf();
  expect(later).toEqual(expect.arrayContaining([...below, ...now]));
  expect(new Set(later).size).toBe(later.length);
});

test('cost as much as candles', async () => {
  const { get } = await openTraded({ config: { rateLimitPerSecond: 1, rateLimitBurst: 1_000 } });
  const left = async (path: string) => {
    const response = await get(path);
    expect([path, response.status]).toEqual([path, 200]);
    return Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]);
  };
  const before = await left('/openapi.json');
  const afterTrades = await left('historical_trades?ticker_id=pBTC_PRV&limit=40');
  const afterCandles = await left('candles?ticker_id=pBTC_PRV&interval=1m&limit=40');
  expect(before - afterTrades).toBeGreaterThan(40);
  // A point can have come back.
  expect(Math.abs(before - afterTrades - (afterTrades - afterCandles))).toBeLessThanOrEqual(1);
});

test('of tokens with unknown decimals are left out, as are their candles and the volumes of their tickers', async () => {
  const { read, advance, ask } = await openTraded({ config: { tokensFile: [] } });
  for (let block = 0; block < 6; block++) await advance();
  const { data } = await ask('{ pair(tickerId: "pLINK_PRV") { poolPair { trades(first: 1) { nodes { id } } } } }');
  expect(data.pair.poolPair.trades.nodes).toHaveLength(1);
  expect(await read('historical_trades?ticker_id=pLINK_PRV')).toEqual({ buy: [], sell: [] });
  expect((await read('candles?ticker_id=pLINK_PRV&interval=1h')).candles).toEqual([]);
  const ticker = (await read('tickers')).tickers.find(({ ticker_id: id }: Row) => id === 'pLINK_PRV');
  expect(ticker).toHaveProperty('liquidity');
  for (const field of [...OF_TRADES, 'pool_price']) expect(ticker).not.toHaveProperty(field);
});

test('are an error without a history, and tickers have no fields of trades then', async () => {
  const { get, read } = await openRest({ sandbox: { exchange: 'v3' } });
  const response = await get('historical_trades?ticker_id=pBTC_PRV');
  expect([response.status, (await response.json()).code]).toEqual([503, 'HISTORY_UNAVAILABLE']);
  expectNoFieldsOfTrades((await read('tickers')).tickers);
});

test('are an error while the node refuses the call, and tickers have all other fields then', async () => {
  let clear = () => {};
  const { get, read, untilReady, advance } = await openTraded({
    before({ node }) {
      clear = node.faults.set({ kind: 'status', status: 500, body: '', on: 'retrievebeaconblockbyheight' });
    },
  });
  await untilReady();
  const response = await get('historical_trades?ticker_id=pBTC_PRV');
  expect([response.status, (await response.json()).code]).toEqual([503, 'UPSTREAM_BAD_STATUS']);
  expectNoFieldsOfTrades((await read('tickers')).tickers);

  clear();
  await expect
    .poll(async () => {
      await advance();
      return fieldsOf((await read('tickers')).tickers);
    })
    .toEqual(expect.arrayContaining(OF_TRADES));
});

test('are not found where V1 trades, and tickers have no fields of trades there', async () => {
  const { get, read } = await openRest({ store: createHistoryStore({ database: { kind: 'memory' }, rawDays: 7 }) });
  const response = await get('historical_trades?ticker_id=pBTC_PRV');
  expect([response.status, await response.json()]).toEqual([
    404,
    {
      code: 'NOT_FOUND',
      message: 'Ticker "pBTC_PRV" does not have a pool of V3 on the chain, and so no trades.',
    },
  ]);
  expectNoFieldsOfTrades((await read('tickers')).tickers);
});

test('tickers do not wait long for the trades of a block, and are not kept by caches without them', async () => {
  const { get, advance, clock } = await openTraded({
    before: ({ node }) => void node.faults.set({ kind: 'hang', on: 'retrievebeaconblockbyheight' }),
    config: { upstreamTimeoutMs: NEVER_MS, headPollMs: 500, marketPollMs: 600_000 },
  });
  // Each head is expected to be the newest one for 40 seconds.
  for (let block = 0; block < 3; block++) {
    clock.now += 40_000;
    await advance();
    const response = await get('tickers');
    expect(response.headers.get('cache-control')).toMatch(/max-age=0\b/);
    const { tickers } = await response.json();
    expect(tickers.some((ticker: Row) => 'pool_price' in ticker && !('pool_base_volume' in ticker))).toBe(true);
  }
});
