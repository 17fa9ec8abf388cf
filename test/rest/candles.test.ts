import { beforeAll, describe, expect, test, vi } from 'vitest';
import { poolPairAt } from '../../src/domain/exchange.ts';
import { createMarketBuilder, type Pair } from '../../src/domain/market.ts';
import { createDocumentLoaders } from '../../src/rest/document.ts';
import { readCandlesParameters } from '../../src/rest/parameters.ts';
import { findPair, readCandles } from '../../src/rest/pool-documents.ts';
import { writeSearch } from '../../src/rest/udf.ts';
import { poolOfV3, stateOfV3 } from '../domain/v3-pools.ts';
import { createStoreModel } from '../history/store-model.ts';
import { START, startGateway } from '../support/gateway.ts';
import { sumOf } from '../support/metrics.ts';
import { openRest } from '../support/rest.ts';
import { until } from '../support/until.ts';

const PRV = '0000000000000000000000000000000000000000000000000000000000000004';
const BTC = 'b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696';
const START_SECONDS = START / 1_000;
const COLUMNS = [
  'time',
  'open',
  'high',
  'low',
  'close',
  'volume',
  'target_volume',
  'is_closed',
  'is_complete',
  'is_volume_exact',
];

/** A gateway that has recorded the two hours below its head, and some blocks after. */
async function openRecorded() {
  const store = createStoreModel();
  const rest = await openRest({ store, config: { historyBackfillHours: 2, historyBackfillStep: 1 } }, startGateway);
  await until(async () => {
    const { data } = await rest.ask('{ history { heights isBackfilling } }');
    return data.history?.isBackfilling === false && data.history.heights >= 179;
  });
  for (let block = 0; block < 3; block++) await rest.advance();
  // Without a gap: nothing is recorded any more then.
  await until(() => {
    const heights = store.heights();
    return heights.at(-1) === 1_640_000 && heights.length === 1_640_001 - (heights[0] ?? 0);
  });
  return { ...rest, store };
}

const FIELDS =
  'openTime open high low close inverseOpen inverseHigh inverseLow inverseClose volume inverseVolume isClosed isComplete isVolumeExact';
type Candle = Readonly<Record<string, number>> & {
  readonly openTime: string;
  readonly isClosed: boolean;
  readonly isComplete: boolean;
  readonly isVolumeExact: boolean;
};

/** The row of a candle whose base token is token 2, or token 1. */
function toRow(candle: Candle, isToken1: boolean) {
  const [prices, volumes] = isToken1
    ? [
        ['inverseOpen', 'inverseHigh', 'inverseLow', 'inverseClose'],
        ['inverseVolume', 'volume'],
      ]
    : [
        ['open', 'high', 'low', 'close'],
        ['volume', 'inverseVolume'],
      ];
  const known = prices.map((name) => candle[name] ?? Number.NaN);
  const row = [
    Date.parse(candle.openTime) / 1_000,
    ...[known[0], Math.max(...known), Math.min(...known), known[3]],
    ...volumes.map((name) => candle[name]),
    candle.isClosed,
    candle.isComplete,
    candle.isVolumeExact,
  ];
  return Object.fromEntries(COLUMNS.map((name, index) => [name, row[index]]));
}

let rest: Awaited<ReturnType<typeof openRecorded>>;
beforeAll(async () => {
  rest = await openRecorded();
  return () => rest.app.close();
});

describe('candles', () => {
  test.each([
    ['pBTC_PRV', BTC, false],
    ['PRV_pUSDT', '716fd1009e2a1669caacc36891e707bfdf02590f96ebd897548e8963c95ebac0', true],
  ])(
    'of %s are those of GraphQL, in target tokens per base token, with the volume in whole base tokens',
    async (ticker, other, isToken1) => {
      const { data } = await rest.ask(
        `{ poolPair(token1Id: "${PRV}", token2Id: "${other}") { token1 { decimals } token2 { decimals } candles(interval: FIFTEEN_MINUTES, last: 6) { tradedToken1 tradedToken2 ${FIELDS} } } }`,
      );
      const { candles, token1, token2 } = data.poolPair;
      const document = await rest.read(`candles?ticker_id=${ticker}&interval=15m&limit=6`);
      expect(document).toEqual({
        message: 'OK',
        ticker_id: ticker,
        pool_id: expect.stringContaining(PRV),
        interval: '15m',
        candles: candles.map((candle: Candle) => toRow(candle, isToken1)),
      });
      expect(document.candles).toHaveLength(6);
      expect(document.candles.some(({ volume }: { volume: number }) => volume > 0)).toBe(true);
      for (const candle of candles) {
        expect(candle.volume).toBe(Number(`${candle.tradedToken2}e-${token2.decimals}`));
        expect(candle.inverseVolume).toBe(Number(`${candle.tradedToken1}e-${token1.decimals}`));
      }
    },
  );

  test.each(['pBTC_PRV', 'PRV_pDAI'])(
    'of %s contain the prices at their ends, also where liquidity was added and the ratio did not change',
    async (ticker) => {
      const { sources } = rest.app.service;
      const loaders = createDocumentLoaders(sources, sources.head.current());
      const found = await findPair(ticker, loaders);
      const range = { interval: 'ONE_DAY', from: undefined, to: undefined, last: 1 } as const;
      const [candle] = await loaders.history.candles(found.pool, range);
      if (candle === undefined) throw new Error('a day is recorded');
      const [small, large] = [1n, 2n].map((times) => {
        const amount = times * 10n ** 12n;
        return { beaconHeight: candle.lastHeight, reserve1: amount, reserve2: amount };
      });
      if (small === undefined || large === undefined) throw new Error('two states');
      const rowOf = async (open: typeof small, close: typeof large) => {
        vi.spyOn(loaders.history, 'candles').mockResolvedValue([{ ...candle, open, high: open, low: open, close }]);
        return (await readCandles(found, range, loaders))[0];
      };
      const [grown, shrunk] = [await rowOf(small, large), await rowOf(large, small)];
      expect(grown?.close).toBeGreaterThan(grown?.open ?? Number.NaN);
      expect(grown).toMatchObject({ high: grown?.close, low: grown?.open });
      expect(shrunk).toMatchObject({ high: shrunk?.open, low: shrunk?.close });
    },
  );

  test('are the last ones of a range, from included and to excluded', async () => {
    const range = `from=${START_SECONDS - 1_800}&to=${START_SECONDS}`;
    const times = async (more = '') =>
      (await rest.read(`candles?ticker_id=pBTC_PRV&interval=5m&${range}${more}`)).candles.map(
        ({ time }: { time: number }) => START_SECONDS - time,
      );
    expect(await times()).toEqual([1_800, 1_500, 1_200, 900, 600, 300]);
    expect(await times('&limit=2')).toEqual([600, 300]);
  });

  test.each([
    [{ accept: 'text/csv' }, ''],
    [{ accept: 'text/csv;q=0.9, application/json;q=0.1' }, ''],
    [{ accept: 'application/json;q=0.1, text/csv' }, ''],
    [{ accept: 'text/csv; charset=utf-8' }, ''],
    [{ accept: 'text/csv; charset=UTF-8; header=present' }, ''],
    [{ accept: 'application/json' }, '&format=csv'],
  ])('are CSV with %j%s', async (headers: Record<string, string>, parameter) => {
    const path = `candles?ticker_id=pBTC_PRV&interval=15m&limit=3`;
    const { candles } = await rest.read(`${path}&format=json`);
    const response = await rest.get(path + parameter, { headers });
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(response.headers.get('vary')).toBe('x-pdex-min-height, accept');
    const rows = candles.map((candle: Record<string, unknown>) => COLUMNS.map((name) => candle[name]).join(','));
    expect(await response.text()).toBe(`${[COLUMNS.join(','), ...rows].join('\r\n')}\r\n`);
  });

  test('are at most MAX_CANDLES without a limit', () => {
    const parameters = new URLSearchParams('ticker_id=pBTC_PRV&interval=1h');
    expect(readCandlesParameters(parameters, undefined, 3).last).toBe(3);
    expect(readCandlesParameters(parameters, undefined, 1_000).last).toBe(100);
  });

  test('are JSON with any other Accept', async () => {
    for (const accept of [
      '*/*',
      'application/json, text/csv',
      'text/html,*/*;q=0.8',
      '',
      'text/csv;q=0, application/json',
      'application/json; charset=utf-8, text/csv',
      `${'text/html,'.repeat(100)}text/csv`,
    ])
      expect(
        (await rest.get('candles?ticker_id=pBTC_PRV&interval=1h', { headers: { accept } })).headers.get('content-type'),
      ).toBe('application/json');
  });

  test('are the same for all pairs of two tokens, and for the pool ids of tickers with one id', async () => {
    const { pairs } = await rest.read('pairs');
    const ofTicker = (id: string) => pairs.filter((pair: { ticker_id: string }) => pair.ticker_id === id);
    const document = (id: string) => rest.read(`candles?ticker_id=${id}&interval=15m`);
    const read = async (id: string) => (await document(id)).candles;
    const three = await Promise.all(ofTicker('PRV_pUSDT').map(({ pool_id }: { pool_id: string }) => read(pool_id)));
    expect(three).toHaveLength(3);
    expect(await document('PRV_pUSDT')).toMatchObject({ pool_id: ofTicker('PRV_pUSDT')[0].pool_id, candles: three[0] });
    expect(three).toEqual(Array(3).fill(three[0]));

    const two = ofTicker('pFXC_PRV').map(({ pool_id }: { pool_id: string }) => pool_id);
    const response = await rest.get('candles?ticker_id=pFXC_PRV&interval=15m');
    expect([response.status, await response.json()]).toEqual([
      400,
      {
        code: 'AMBIGUOUS_TICKER',
        message: '2 pools have the ticker id "pFXC_PRV". Use one of their pool ids instead.',
        poolIds: two,
      },
    ]);
    expect(await read(two[0])).not.toEqual(await read(two[1]));
  });

  test('are read once for all clients with the same parameters, without a call, and have an entity tag', async () => {
    const { reads } = rest.store;
    const before = [reads.candles, rest.sandbox.node.calls('getpdestate'), rest.sandbox.marketData.calls('orderbook')];
    const path = 'candles?ticker_id=pETH_PRV&interval=1h&limit=7';
    const responses = await Promise.all(Array.from({ length: 20 }, () => rest.get(path)));
    expect(new Set(await Promise.all(responses.map((response) => response.text()))).size).toBe(1);
    const etag = responses[0]?.headers.get('etag') ?? '';
    expect((await rest.get(path, { headers: { 'if-none-match': etag } })).status).toBe(304);
    expect([reads.candles, rest.sandbox.node.calls('getpdestate'), rest.sandbox.marketData.calls('orderbook')]).toEqual(
      [(before[0] ?? 0) + 1, ...before.slice(1)],
    );
    expect(responses[0]?.headers.get('x-pdex-height')).toBe('1640003');
    expect(
      sumOf(await (await rest.get('/metrics')).text(), 'pdex_http_requests_total', { endpoint: 'candles' }),
    ).toBeGreaterThan(20);
  });

  test.each([
    ['', 'ticker_id is missing. Choose one of /tickers.'],
    ['ticker_id=pBTC_PRV', 'interval is missing.'],
    ['ticker_id=pBTC_PRV&interval=2h', 'interval is "2h". It must be one of 1m, 5m, 15m, 1h, 4h, 1d.'],
    ['ticker_id=pBTC_PRV&interval=toString', 'interval is "toString". It must be one of 1m, 5m, 15m, 1h, 4h, 1d.'],
    ['ticker_id=pBTC_PRV&interval=1h&from=9&to=9', 'from is not before to.'],
    ['ticker_id=pBTC_PRV&interval=1h&from=-1', 'from is "-1". It must be whole seconds since 1970-01-01T00:00:00Z.'],
    ['ticker_id=pBTC_PRV&interval=1h&to=NaN', 'to is "NaN". It must be whole seconds since 1970-01-01T00:00:00Z.'],
    [
      'ticker_id=pBTC_PRV&interval=1h&to=1767225600000',
      'to is "1767225600000". It must be whole seconds since 1970-01-01T00:00:00Z.',
    ],
    ['ticker_id=pBTC_PRV&interval=1h&limit=0', 'limit is "0". It must be a whole number from 1 to 1000.'],
    ['ticker_id=pBTC_PRV&interval=1h&limit=1001', 'limit is "1001". It must be a whole number from 1 to 1000.'],
    ['ticker_id=pBTC_PRV&interval=1h&format=xml', 'format is "xml". It must be one of json, csv.'],
    ['ticker_id=pBTC_PRV&interval=1h&limit=1&limit=2', 'limit is set more than once.'],
  ])('with %j are refused', async (parameters, message) => {
    const response = await rest.get(`candles?${parameters}`);
    expect([response.status, await response.json()]).toEqual([400, { code: 'BAD_USER_INPUT', message }]);
  });

  test.each([
    ['nothing', 'Ticker "nothing" does not exist.'],
    ['pDAF_PRV', 'Ticker "pDAF_PRV" has no pool on the chain, and so no candles.'],
  ])('of %s do not exist', async (ticker, message) => {
    const response = await rest.get(`candles?ticker_id=${ticker}&interval=1h`);
    expect([response.status, await response.json()]).toEqual([404, { code: 'NOT_FOUND', message }]);
  });

  test('of the far future are none', async () => {
    expect((await rest.read('candles?ticker_id=pBTC_PRV&interval=1h&from=99999999999')).candles).toEqual([]);
  });
});

describe('the Universal Datafeed', () => {
  const history = (parameters: string) => rest.read(`/udf/history?symbol=pBTC_PRV&${parameters}`);

  test('says what it can do, and the time', async () => {
    expect(await rest.read('/udf/config')).toEqual({
      supports_search: true,
      supports_group_request: false,
      supports_marks: false,
      supports_timescale_marks: false,
      supports_time: true,
      supported_resolutions: ['1', '5', '15', '60', '240', '1D'],
      exchanges: [{ value: 'pDEX', name: 'pDEX', desc: 'The decentralized exchange' }],
      symbols_types: [{ name: 'Crypto', value: 'crypto' }],
    });
    const time = await rest.get('/udf/time');
    expect([time.headers.get('content-type'), await time.text()]).toEqual([
      'text/plain',
      String(Math.floor(rest.clock.now / 1_000)),
    ]);
  });

  test('finds symbols, and describes each', async () => {
    expect(await rest.read('/udf/search?query=BTC_prv&type=&exchange=&limit=30')).toEqual([
      {
        symbol: 'pBTC_PRV',
        full_name: 'pDEX:pBTC_PRV',
        ticker: 'pBTC_PRV',
        description: 'pBTC/PRV',
        exchange: 'pDEX',
        type: 'crypto',
      },
    ]);
    expect(await rest.read('/udf/search?query=usd&limit=3')).toHaveLength(3);
    expect(await rest.read('/udf/search')).toHaveLength(30);
    expect(await rest.read('/udf/search?query=&type=stock')).toEqual([]);
    expect(await rest.read('/udf/search?query=&exchange=Other')).toEqual([]);
    expect(await rest.read('/udf/search?query=&exchange=pDEX&limit=3')).toHaveLength(3);
    const symbol = await rest.read('/udf/symbols?symbol=pDEX:pBTC_PRV');
    expect(symbol).toEqual({
      name: 'pBTC_PRV',
      ticker: 'pBTC_PRV',
      description: 'pBTC/PRV',
      type: 'crypto',
      exchange: 'pDEX',
      listed_exchange: 'pDEX',
      session: '24x7',
      timezone: 'Etc/UTC',
      format: 'price',
      minmov: 1,
      pricescale: 100,
      currency_code: 'PRV',
      has_intraday: true,
      intraday_multipliers: ['1', '5', '15', '60', '240'],
      has_daily: true,
      has_weekly_and_monthly: false,
      supported_resolutions: ['1', '5', '15', '60', '240', '1D'],
      volume_precision: 6,
      data_status: 'streaming',
    });
    expect(await rest.read('/udf/symbols?symbol=pdex:pBTC_PRV')).toEqual(symbol);
  });

  test('looks for the pools of no more pairs than it finds', async () => {
    const { sources } = rest.app.service;
    const loaders = createDocumentLoaders(sources, sources.head.current());
    const find = vi.spyOn(loaders.exchange, 'find');
    const { rows } = await writeSearch({ query: '', type: '', exchange: '', limit: 3 }, loaders);
    expect(rows).toBe(3);
    // Each name needs the pools of its ticker id too.
    expect(find.mock.calls.length).toBeLessThan(20);
  });

  test('looks for two pools of the ticker id of each symbol that it finds, however many there are', async () => {
    const { sources } = rest.app.service;
    const loaders = createDocumentLoaders(sources, sources.head.current());
    const pools = Array.from({ length: 300 }, (_, number) => poolOfV3([PRV, BTC], [5n, 5n], { number }));
    const state = stateOfV3(pools);
    const poolIds = pools.map(({ v3 }) => v3?.poolId ?? '');
    const names = { tickerId: 'pBTC_PRV', baseId: BTC, base: 'pBTC', targetId: PRV, target: 'PRV' };
    const builder = createMarketBuilder<Pair>();
    const pairs = poolIds.map((poolId) => ({ ...names, poolId }));
    for (const pair of pairs) builder.add(pair);
    vi.spyOn(loaders.market.pairs, 'all').mockResolvedValue(builder.build(pairs));
    const find = vi.spyOn(loaders.exchange, 'find').mockImplementation((placeIn) => {
      const place = placeIn(state);
      return place === undefined ? undefined : poolPairAt(state, place);
    });
    const { texts } = await writeSearch({ query: '', type: '', exchange: '', limit: 300 }, loaders);
    expect(JSON.parse(texts[0] ?? '').map(({ ticker }: { ticker: string }) => ticker)).toEqual(poolIds);
    expect(find.mock.calls.length).toBeLessThan(1_000);
  });

  test('has prices of six digits, with at least two decimals and at most sixteen', async () => {
    const { tickers } = await rest.read('tickers');
    const scales = new Set<number>();
    for (const { pool_id: poolId, pool_price: price } of tickers) {
      if (price === undefined) continue;
      const { pricescale } = await rest.read(`/udf/symbols?symbol=${poolId}`);
      expect([poolId, pricescale]).toEqual([
        poolId,
        10 ** Math.min(16, Math.max(2, 5 - Math.floor(Math.log10(price)))),
      ]);
      scales.add(pricescale);
    }
    expect(scales.size).toBeGreaterThan(3);
  });

  test('names each pool of a ticker id by its pool id, so that every symbol that it finds has bars', async () => {
    const found: readonly { symbol: string; ticker: string }[] = await rest.read('/udf/search?limit=500');
    expect(found.filter(({ symbol }) => symbol === 'PRV_pUSDT')).toHaveLength(1);
    const two = found.filter(({ symbol }) => symbol === 'pFXC_PRV');
    expect(new Set(two.map(({ ticker }) => ticker)).size).toBe(2);
    const described = await Promise.all(two.map(({ ticker }) => rest.read(`/udf/symbols?symbol=${ticker}`)));
    // One of the two FXC has four decimals.
    expect(described.map(({ volume_precision }) => volume_precision).sort()).toEqual([4, 6]);
    for (const { ticker, symbol } of found) {
      expect(await rest.read(`/udf/symbols?symbol=${ticker}`)).toMatchObject({ name: symbol, ticker });
      const { s } = await rest.read(`/udf/history?symbol=${ticker}&resolution=1D&to=1800000000&countback=1`);
      expect([symbol, s]).toEqual([symbol, 'ok']);
    }
  });

  test('has the candles as bars', async () => {
    const { candles } = await rest.read('candles?ticker_id=pBTC_PRV&interval=15m&limit=4');
    const column = (name: string) => candles.map((candle: Record<string, number>) => candle[name]);
    const bars = {
      ...{ s: 'ok', t: column('time'), o: column('open'), h: column('high'), l: column('low'), c: column('close') },
      v: column('volume'),
    };
    const to = START_SECONDS + 3_600;
    expect(await history(`resolution=15&from=${bars.t[0]}&to=${to}`)).toEqual(bars);
    expect(await history(`resolution=15&from=${START_SECONDS}&to=${to}&countback=4`)).toEqual(bars);
    for (const countback of ['', '&countback=100000'])
      expect(await history(`resolution=15&from=-100&to=${to}${countback}`)).toMatchObject({ s: 'ok' });
    expect(await history(`resolution=D&to=${to}&countback=2`)).toEqual(
      await history(`resolution=1D&to=${to}&countback=2`),
    );
  });

  test('says where the newest bar before an empty range is', async () => {
    const last = START_SECONDS + 120;
    expect(await history(`resolution=1&from=${START_SECONDS + 600}&to=${START_SECONDS + 900}`)).toEqual({
      s: 'no_data',
      nextTime: last,
    });
    const at = START_SECONDS + 600;
    expect(await history(`resolution=1&from=${at}&to=${at}`)).toEqual({ s: 'no_data', nextTime: last });
    expect(await history('resolution=1&from=60&to=120')).toEqual({ s: 'no_data' });
    expect(await history('resolution=1&from=60&to=120&countback=5')).toEqual({ s: 'no_data' });
  });

  test.each([
    ['symbols?symbol=nothing', 404, 'NOT_FOUND', 'Ticker "nothing" does not exist.'],
    ['symbols', 400, 'BAD_USER_INPUT', 'symbol is missing.'],
    ['search?limit=0', 400, 'BAD_USER_INPUT', 'limit is "0". It must be a whole number from 1 to 500.'],
    [
      'history?symbol=pBTC_PRV&resolution=7&to=9',
      400,
      'BAD_USER_INPUT',
      'resolution is "7". It must be one of 1, 5, 15, 60, 240, 1D.',
    ],
    ['history?symbol=pBTC_PRV&resolution=1&from=9', 400, 'BAD_USER_INPUT', 'to is missing.'],
    ['history?symbol=pBTC_PRV&resolution=1&to=9', 400, 'BAD_USER_INPUT', 'from and countback are missing.'],
    ['history?symbol=pBTC_PRV&resolution=1&from=-9&from=9&to=9', 400, 'BAD_USER_INPUT', 'from is set more than once.'],
    ['history?symbol=pBTC_PRV&resolution=1&from=9&to=8', 400, 'BAD_USER_INPUT', 'from is after to.'],
    [
      'history?symbol=pBTC_PRV&resolution=1&from=NaN&to=8',
      400,
      'BAD_USER_INPUT',
      'from is "NaN". It must be whole seconds since 1970-01-01T00:00:00Z.',
    ],
    [
      'history?symbol=pBTC_PRV&resolution=1&to=8&countback=-1',
      400,
      'BAD_USER_INPUT',
      'countback is "-1". It must be a whole number from 1 to 999999999.',
    ],
    ['nothing', 404, 'NOT_FOUND', 'This path does not exist. /openapi.json describes the paths of this gateway.'],
  ])('refuses %s in its own shape', async (path, status, code, errmsg) => {
    const response = await rest.get(`/udf/${path}`);
    expect([response.status, await response.json()]).toEqual([status, { s: 'error', errmsg, code }]);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });
});

test('without a history, candles say so, and a client need not retry', async () => {
  const { get } = await openRest();
  const [candles, bars] = await Promise.all([
    get('candles?ticker_id=pBTC_PRV&interval=1h'),
    get('/udf/history?symbol=pBTC_PRV&resolution=1&from=0&to=9'),
  ]);
  const message = 'This gateway records no history.';
  expect([candles.status, candles.headers.get('retry-after'), await candles.json()]).toEqual([
    503,
    null,
    { code: 'HISTORY_UNAVAILABLE', message },
  ]);
  expect([bars.status, await bars.json()]).toEqual([503, { s: 'error', errmsg: message, code: 'HISTORY_UNAVAILABLE' }]);
});

test('candles and bars cost as much as in an operation', async () => {
  const { get } = await openRest({ config: { rateLimitPerSecond: 1, rateLimitBurst: 300 }, store: createStoreModel() });
  const leftAfter = async (path: string) =>
    Number(/r=(\d+)/.exec((await get(path)).headers.get('ratelimit') ?? '')?.[1]);
  const before = await leftAfter('/udf/time');
  const after = await leftAfter('candles?ticker_id=pBTC_PRV&interval=1h&limit=60');
  expect(before - after).toBeGreaterThanOrEqual(60);
  expect((await get('candles?ticker_id=pBTC_PRV&interval=1h&limit=1000')).status).toBe(429);
});

test('a gateway without the REST API has no datafeed', async () => {
  const gateway = await startGateway({ config: { rest: false } });
  const { origin } = new URL(await gateway.app.listen(0, '127.0.0.1'));
  expect((await fetch(`${origin}/udf/config`)).status).toBe(404);
  await gateway.close();
});
