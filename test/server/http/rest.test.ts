import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createStoreModel } from '../../history/store-model.ts';
import { startGateway } from '../../support/gateway.ts';
import { sample } from '../../support/metrics.ts';
import { openRest } from '../../support/rest.ts';

const PAIRS = '{ pairs { tickerId baseId base targetId target poolId } }';
const TICKERS = `{ beaconHeight tickers {
  tickerId baseId baseCurrency targetId targetCurrency poolId lastPrice baseVolume targetVolume poolPrice
  targetToken { decimals }
  poolPair { token1 { tokenId } token1PoolValue token2PoolValue liquidityUsd }
} }`;
const BOOK = `{ orderBook(tickerId: "pPOWR_PRV", depth: 6) {
  tickerId message timestamp bestBid bestAsk
  bids { exactPrice exactQuantity } asks { exactPrice exactQuantity }
} }`;

type GraphqlTicker = Readonly<Record<string, unknown>> & {
  readonly targetId: string;
  readonly poolPrice: number | null;
  readonly targetToken: { readonly decimals: number | null };
  readonly poolPair: {
    readonly token1: { readonly tokenId: string };
    readonly token1PoolValue: string;
    readonly token2PoolValue: string;
    readonly liquidityUsd: number | null;
  } | null;
};

/** The fields of a document for those of GraphQL. */
function toDocument(ticker: GraphqlTicker) {
  const { tickerId, baseId, baseCurrency, targetId, targetCurrency, poolId, lastPrice } = ticker;
  const { baseVolume, targetVolume, poolPrice, poolPair, targetToken } = ticker;
  return {
    ticker_id: tickerId,
    base_id: baseId,
    base_currency: baseCurrency,
    target_id: targetId,
    target_currency: targetCurrency,
    pool_id: poolId,
    last_price: lastPrice,
    base_volume: baseVolume,
    target_volume: targetVolume,
    ...(poolPrice !== null && { pool_price: poolPrice }),
    ...(poolPair && poolPair.liquidityUsd !== null && { liquidity_in_usd: poolPair.liquidityUsd }),
    ...(poolPair &&
      targetToken.decimals !== null && { liquidity: liquidityOf(poolPair, targetId, targetToken.decimals) }),
  };
}

const isOf = (tickerId: string) => (ticker: Readonly<Record<string, unknown>>) => ticker['ticker_id'] === tickerId;

function liquidityOf(pool: NonNullable<GraphqlTicker['poolPair']>, targetId: string, decimals: number): number {
  const isToken1 = pool.token1.tokenId === targetId;
  if (pool.token1PoolValue === '0' || pool.token2PoolValue === '0') return 0;
  return Number(`${2n * BigInt(isToken1 ? pool.token1PoolValue : pool.token2PoolValue)}e-${decimals}`);
}

describe('the documents', () => {
  test('have the pairs and tickers of GraphQL, with the price and liquidity of their pools', async () => {
    const { ask, get, read } = await openRest();
    const { data: graphql } = await ask(TICKERS);
    const response = await get('tickers');
    expect(response.headers.get('x-pdex-height')).toBe(String(graphql.beaconHeight));
    const { message, tickers } = await response.json();
    expect([message, tickers]).toEqual(['OK', graphql.tickers.map(toDocument)]);
    for (const name of ['liquidity', 'liquidity_in_usd'])
      expect(tickers.filter((ticker: object) => name in ticker).length).toBeGreaterThan(20);
    expect(tickers.filter((ticker: object) => !('pool_price' in ticker)).length).toBeGreaterThan(1);

    const { data } = await ask(PAIRS);
    expect(await read('pairs')).toEqual({
      message: 'OK',
      pairs: data.pairs.map((pair: Readonly<Record<string, string>>) => ({
        ticker_id: pair['tickerId'],
        base_id: pair['baseId'],
        base: pair['base'],
        target_id: pair['targetId'],
        target: pair['target'],
        pool_id: pair['poolId'],
      })),
    });
  });

  test('have sorted order books with merged entries and a time in milliseconds', async () => {
    const { ask, get, sandbox } = await openRest();
    const response = await get('orderbook?ticker_id=pPOWR_PRV&depth=6');
    const text = await response.text();
    const { data } = await ask(BOOK);
    const { bids, asks, ...rest } = data.orderBook;
    const numbers = (side: readonly { exactPrice: string; exactQuantity: string }[]) =>
      `[${side.map(({ exactPrice, exactQuantity }) => `[${exactPrice},${exactQuantity}]`).join()}]`;
    expect(rest.bestBid).toBeGreaterThan(rest.bestAsk);
    expect(text).toBe(
      `{"message":"OK","ticker_id":"pPOWR_PRV","timestamp":${sandbox.chain.tip.time * 1_000},"bids":${numbers(bids)},"asks":${numbers(asks)}}`,
    );
  });

  test('have as many entries of a book as depth says, both sides together, and are complete without it', async () => {
    const { read } = await openRest();
    const lengths = async (parameters: string) => {
      const { bids, asks } = await read(`orderbook?ticker_id=pBTC_PRV${parameters}`);
      return [bids.length, asks.length];
    };
    const all = await lengths('');
    expect(Math.min(...all)).toBeGreaterThan(50);
    expect(await lengths('&depth=0')).toEqual(all);
    expect(await lengths('&depth=100')).toEqual([50, 50]);
    expect(await lengths('&depth=5')).toEqual([3, 3]);
    expect(await lengths('&depth=000000001&unknown=1')).toEqual([1, 1]);
    expect(await lengths('&depth=999999999')).toEqual(all);
  });

  test('have a crossed book as it is, and uncrossed on request', async () => {
    const { read } = await openRest();
    const best = async (parameters: string) => {
      const { bids, asks } = await read(`orderbook?ticker_id=pPOWR_PRV${parameters}`);
      return { bid: bids[0][0], ask: asks[0][0], length: bids.length + asks.length };
    };
    const crossed = await best('');
    expect(crossed.bid).toBeGreaterThan(crossed.ask);
    expect(await best('&uncrossed=false')).toEqual(crossed);
    const uncrossed = await best('&uncrossed=true');
    expect(uncrossed.bid).toBeLessThan(uncrossed.ask);
    expect(uncrossed.length).toBeLessThan(crossed.length);
    // Orders are matched before the depth counts.
    expect(await best('&uncrossed=true&depth=2')).toEqual({ ...uncrossed, length: 2 });
  });

  test('have the best prices of order books that are in memory, and read no other one', async () => {
    const { ask, read, sandbox, clock } = await openRest();
    const tickerOf = async (id: string) => (await read('tickers')).tickers.find(isOf(id));
    expect(await tickerOf('pBTC_PRV')).not.toHaveProperty('bid');
    expect(sandbox.marketData.calls('orderbook')).toBe(0);

    const { orderBook } = (await ask('{ orderBook(tickerId: "pBTC_PRV") { bestBid bestAsk } }')).data;
    expect(await tickerOf('pBTC_PRV')).toMatchObject({ bid: orderBook.bestBid, ask: orderBook.bestAsk });
    expect(await tickerOf('pETH_PRV')).not.toHaveProperty('bid');
    expect(sandbox.marketData.calls('orderbook')).toBe(1);

    clock.now += 59_999;
    expect(await tickerOf('pBTC_PRV')).toHaveProperty('bid');
    clock.now += 1;
    expect(await tickerOf('pBTC_PRV')).not.toHaveProperty('bid');
  });

  test.each([
    ['three rounds of the sweep', 30, (tickers: number) => (3 * tickers * 60_000) / 30],
    ['ten minutes if three rounds take longer', 1, () => 600_000],
  ])('have the best prices of the order books of the last %s', async (_, bookSweepPerMinute, shownForMs) => {
    const { ask, read, sandbox, app, clock } = await openRest({ config: { bookSweepPerMinute } });
    await ask('{ orderBook(tickerId: "pBTC_PRV") { bestBid } }');
    sandbox.marketData.faults.set({ kind: 'status', status: 503, on: 'orderbook' });
    const isShown = async () =>
      (await read('tickers')).tickers.some(
        (ticker: object) => 'bid' in ticker && Object.values(ticker).includes('pBTC_PRV'),
      );
    const { market } = app.service.sources.market.tickers.newest() ?? {};
    clock.now += shownForMs(market?.byTickerId.size ?? 0) - 1;
    expect(await isShown()).toBe(true);
    clock.now += 1;
    expect(await isShown()).toBe(false);
  });

  test('have the high and low of the recorded history from the first one on, target per base', async () => {
    const { ask, read, advance } = await openRest({
      store: createStoreModel(),
      config: { historyBackfillHours: 1, historyBackfillStep: 1 },
    });
    const changes = async () => {
      const { data, errors } = await ask(
        '{ history { isBackfilling firstHeight lastHeight gaps { from } } pairs { poolId change { high low } } }',
      );
      expect(errors).toBeUndefined();
      return data;
    };
    await expect
      .poll(async () => {
        await advance();
        const { history, pairs } = await changes();
        // Before older heights are read, the history is not backfilling either.
        const isFilled = history.lastHeight - history.firstHeight > 60 && history.gaps.length === 0;
        return (
          isFilled && !history.isBackfilling && pairs.some(({ change }: { change: object | null }) => change !== null)
        );
      })
      .toBe(true);
    const startedAt = performance.now();
    let { tickers } = await read('tickers');
    // The first document waits for the ranges, but at most two seconds: on a busy machine, a later one has them.
    while (performance.now() - startedAt > 2_000 && !tickers.some((ticker: object) => 'high' in ticker)) {
      await sleep(20);
      ({ tickers } = await read('tickers'));
    }
    const { pairs } = await changes();
    const ranges = new Map(
      pairs.map(({ poolId, change }: { poolId: string; change: object | null }) => [poolId, change]),
    );
    for (const { pool_id, high, low } of tickers)
      expect({ high: high ?? null, low: low ?? null }).toEqual(ranges.get(pool_id) ?? { high: null, low: null });
    expect(tickers.filter(({ high, low }: { high?: number; low?: number }) => Number(high) > Number(low))).not.toEqual(
      [],
    );
    // In the node's pool, PRV is the token that prices are counted in.
    const { high, low, pool_price: price } = tickers.find(isOf('PRV_pDAI'));
    expect([low < high, low <= price, price <= high]).toEqual([true, true, true]);
  });

  test('are complete for many pairs, and written again for an order book, but only once in a second', async () => {
    const { ask, read, app, clock } = await openRest({
      sandbox: { pools: 1_500, history: 20 },
      config: { marketPollMs: 600_000 },
    });
    const { tickers } = await read('tickers');
    expect(tickers.length).toBeGreaterThan(1_000);
    expect(tickers.length).toBe(app.service.sources.market.tickers.newest()?.market.rows.length);
    const { data } = await ask(TICKERS.replace('tickers {', 'tickers(filter: { base: "pETH" }) {'));
    const filtered = tickers.filter((ticker: Record<string, unknown>) => ticker['base_currency'] === 'pETH');
    expect(filtered).toEqual(data.tickers.map(toDocument));

    const hasBid = async () => (await read('tickers')).tickers.some((ticker: object) => 'bid' in ticker);
    expect(await hasBid()).toBe(false);
    await ask('{ orderBook(tickerId: "pBTC_PRV") { bestBid } }');
    clock.now += 999;
    expect(await hasBid()).toBe(false);
    clock.now += 1;
    expect(await hasBid()).toBe(true);
  });

  test('are made from what was read, without a call for a request', async () => {
    const { read, get, sandbox } = await openRest({ config: { marketPollMs: 600_000, headPollMs: 600_000 } });
    await read('tickers');
    await read('pairs');
    const calls = sandbox.marketData.calls() + sandbox.node.calls();
    for (const path of ['tickers', 'pairs', 'orderbook?ticker_id=__proto__', 'orderbook?ticker_id=constructor'])
      for (let n = 0; n < 3; n++) await (await get(path)).text();
    expect(sandbox.marketData.calls() + sandbox.node.calls()).toBe(calls);
    for (let n = 0; n < 3; n++) await read(`orderbook?ticker_id=pBTC_PRV&depth=${n}`);
    expect(sandbox.marketData.calls('orderbook')).toBe(1);
  });

  test('change with the head', async () => {
    const { read, advance } = await openRest();
    const before = await read('tickers');
    await advance(3);
    expect(await read('tickers')).not.toEqual(before);
  });
});

describe('HTTP', () => {
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  let rest: Awaited<ReturnType<typeof openRest>>;
  const get: typeof rest.get = (...sent) => rest.get(...sent);
  beforeAll(async () => {
    gateway = await startGateway({ config: { marketPollMs: 60_000, corsOrigins: ['https://one.example'] } });
    rest = await openRest({}, async () => gateway);
  });
  afterAll(() => gateway.close());

  test('caches can store a document, and get 304 while it is the same', async () => {
    const response = await get('pairs');
    expect(response.headers.get('cache-control')).toBe('max-age=60');
    expect(response.headers.get('age')).toBeNull();
    const etag = response.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{22}"$/);

    for (const method of ['GET', 'HEAD']) {
      const again = await get('pairs', { method, headers: { 'if-none-match': `"other", W/${etag}` } });
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
      expect(again.headers.get('cache-control')).toBe('max-age=60');
    }
    expect((await get('pairs', { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
    expect((await get('orderbook?ticker_id=pBTC_PRV')).headers.get('cache-control')).toBe('max-age=1');
    const description = await get('/openapi.json');
    expect(description.headers.get('cache-control')).toBe('no-cache');
    const known = { headers: { 'if-none-match': description.headers.get('etag') ?? '' } };
    expect((await get('/openapi.json', known)).status).toBe(304);
  });

  test('pages of any origin may read, whatever CORS_ORIGINS is', async () => {
    const headers = { origin: 'https://other.example', 'sec-fetch-site': 'cross-site' };
    for (const path of ['pairs', 'tickers', 'orderbook?ticker_id=x', '/openapi.json', 'unknown']) {
      const response = await get(path, { headers });
      expect([path, response.headers.get('access-control-allow-origin')]).toEqual([path, '*']);
      expect(response.headers.get('access-control-expose-headers')).toContain('etag');
    }
    const preflight = await get('pairs', {
      method: 'OPTIONS',
      headers: {
        ...headers,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'if-none-match',
      },
    });
    expect([preflight.status, await preflight.text()]).toEqual([204, '']);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      allow: 'GET, HEAD, OPTIONS',
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, OPTIONS',
      'access-control-allow-headers': '*',
      'access-control-max-age': '86400',
    });
  });

  test('the paths also match with a slash at the end, and with percent-encoded characters', async () => {
    for (const path of ['pairs/', '%74ickers', 'pairs/?x=1', 'orderbook/?ticker_id=pBTC%5FPRV'])
      expect([path, (await get(path)).status]).toEqual([path, 200]);
  });

  const WRONG: readonly (readonly [path: string, status: number, code?: string])[] = [
    ['/apis', 404],
    ['/api', 404, 'NOT_FOUND'],
    ['/udf', 404, 'NOT_FOUND'],
    ['/api/', 404, 'NOT_FOUND'],
    ['/api/v1/public/other/pairs', 404, 'NOT_FOUND'],
    ['/api/v1/public/market-data', 404, 'NOT_FOUND'],
    ['/api/v1/public/market-data/pairs//', 404, 'NOT_FOUND'],
    ['/api/v1/public/market-data/trades', 404, 'NOT_FOUND'],
    ['/api/%ff', 404, 'NOT_FOUND'],
    [`/api/${'a'.repeat(8_000)}`, 404, 'NOT_FOUND'],
    ['orderbook', 400, 'BAD_USER_INPUT'],
    ['orderbook?ticker_id=', 400, 'BAD_USER_INPUT'],
    ['orderbook?ticker_id=a&ticker_id=b', 400, 'BAD_USER_INPUT'],
    ['orderbook?ticker_id=%ff', 400, 'BAD_USER_INPUT'],
    ['orderbook?ticker_id=pBTC_PRV&depth=-1', 400, 'BAD_USER_INPUT'],
    ['orderbook?ticker_id=pBTC_PRV&depth=', 400, 'BAD_USER_INPUT'],
    ['orderbook?ticker_id=pBTC_PRV&depth=1.5', 400, 'BAD_USER_INPUT'],
    ['orderbook?ticker_id=pBTC_PRV&depth=1e3', 400, 'BAD_USER_INPUT'],
    ['orderbook?ticker_id=pBTC_PRV&depth=1000000000', 400, 'BAD_USER_INPUT'],
    ['orderbook?ticker_id=pBTC_PRV&depth=1&depth=1', 400, 'BAD_USER_INPUT'],
    ['orderbook?ticker_id=pBTC_PRV&uncrossed=yes', 400, 'BAD_USER_INPUT'],
    ['orderbook?ticker_id=unknown', 404, 'NOT_FOUND'],
    ['orderbook?ticker_id=__proto__', 404, 'NOT_FOUND'],
    ['orderbook?ticker_id=pbtc_prv', 404, 'NOT_FOUND'],
    [`orderbook?ticker_id=${'a'.repeat(8_000)}`, 404, 'NOT_FOUND'],
  ];

  test('wrong paths and parameters are refused', async () => {
    for (const [path, status, code] of WRONG) {
      const response = await get(path);
      const text = await response.text();
      expect([path, response.status]).toEqual([path, status]);
      if (code === undefined) continue;
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect([path, JSON.parse(text)]).toEqual([path, { code, message: expect.any(String) }]);
      expect(text.length).toBeLessThan(650);
    }
  });

  test('an error names its parameter', async () => {
    expect(await (await get('orderbook?ticker_id=pBTC_PRV&depth=-1')).json()).toEqual({
      code: 'BAD_USER_INPUT',
      message: 'depth is "-1". It must be 0 (the complete book) or a whole number of entries, both sides together.',
    });
    expect((await (await get('orderbook')).json()).message).toContain('ticker_id');
    expect((await (await get('orderbook?ticker_id=x&uncrossed=1')).json()).message).toContain('uncrossed');
  });

  test('other methods are refused with 405', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const response = await get('pairs', { method, ...(method === 'POST' && { body: '{}' }) });
      expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD, OPTIONS']);
      expect((await response.json()).code).toBe('METHOD_NOT_ALLOWED');
    }
  });

  test('several requests on one connection are answered in their order', async () => {
    const socket = connect(Number(new URL(rest.origin).port), '127.0.0.1');
    const lines = ['tickers', 'orderbook?ticker_id=pBTC_PRV', 'nothing', 'pairs'].map(
      (path, n) => `GET /api/v1/public/market-data/${path} HTTP/1.1\r\nHost: x\r\nx-request-id: ${n}\r\n`,
    );
    socket.write(`${lines.join('\r\n')}Connection: close\r\n\r\n`);
    const answer = String(Buffer.concat(await socket.toArray()));
    expect([...answer.matchAll(/x-request-id: (\d)/g)].map(([, n]) => n)).toEqual(['0', '1', '2', '3']);
  });

  test('REST=false serves none of it', async () => {
    const { get } = await openRest({ config: { rest: false } });
    for (const path of ['pairs', '/openapi.json', '/api/']) {
      const response = await get(path);
      expect([response.status, await response.text()]).toEqual([404, 'Not found. The GraphQL endpoint is /graphql.\n']);
    }
    expect(await (await get('/')).text()).not.toContain('openapi');
  });
});

describe('limits, metrics and the log', () => {
  test('a list costs as much as in an operation, and an order book as well', async () => {
    const { get } = await openRest({ config: { rateLimitPerSecond: 1, rateLimitBurst: 300 } });
    const left = async (path: string, init?: RequestInit) => {
      const response = await get(path, init);
      await response.text();
      return [response.status, Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1])];
    };
    expect(await left('/openapi.json')).toEqual([200, 299]);
    expect(await left('pairs', { method: 'OPTIONS' })).toEqual([204, 299]);
    expect(await left('pairs', { method: 'POST' })).toEqual([405, 298]);
    expect(await left('orderbook?ticker_id=pBTC_PRV')).toEqual([200, 248]);
    const [, afterPairs = 0] = await left('pairs');
    expect(248 - afterPairs).toBeGreaterThan(40);
    await left('pairs');
    await left('pairs');
    await left('pairs');
    const refused = await get('pairs');
    expect([refused.status, (await refused.json()).code]).toEqual([429, 'RATE_LIMITED']);
    const retryAfter = Number(refused.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(0);
    expect(refused.headers.get('ratelimit')).toMatch(new RegExp(`;t=${retryAfter}$`));
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
  });

  test('an address with too many connections is refused', async () => {
    const { origin, get } = await openRest({ config: { maxConnectionsPerAddress: 1 } });
    const socket = connect(Number(new URL(origin).port), '127.0.0.1');
    socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    const response = await get('pairs');
    expect([response.status, (await response.json()).code]).toEqual([429, 'RATE_LIMITED']);
    expect(response.headers.get('connection')).toBe('close');
    socket.destroy();
  });

  test('requests are counted by path and status, and errors by code', async () => {
    const { get, origin } = await openRest();
    for (const path of ['pairs', 'pairs/', 'tickers', 'orderbook', 'nothing', '/openapi.json'])
      await (await get(path)).text();
    await (await get('pairs', { headers: { 'if-none-match': '*' } })).text();
    const metrics = await (await fetch(`${origin}/metrics`)).text();
    const count = (endpoint: string, status: number) =>
      sample(metrics, `pdex_http_requests_total{endpoint="${endpoint}",status="${status}"}`);
    expect([count('pairs', 200), count('pairs', 304), count('tickers', 200)]).toEqual([2, 1, 1]);
    expect([count('orderbook', 400), count('nowhere', 404), count('openapi', 200)]).toEqual([1, 1, 1]);
    expect(sample(metrics, 'pdex_errors_total{code="BAD_USER_INPUT"}')).toBe(1);
    expect(sample(metrics, 'pdex_errors_total{code="NOT_FOUND"}')).toBe(1);
  });

  test('requests have lines in the access log, without their parameters', async () => {
    const { get, lines } = await openRest({ config: { accessLog: 'all', marketPollMs: 60_000, headPollMs: 60_000 } });
    for (const path of ['tickers', 'tickers', 'orderbook?ticker_id=secret']) {
      await (await get(path, { headers: { 'x-request-id': path.slice(0, 9) } })).text();
    }
    const path = (name: string) => `/api/v1/public/market-data/${name}`;
    const requests = () => lines.filter(({ path }) => String(path).startsWith('/api/'));
    await expect.poll(() => requests().length).toBe(3);
    const [first, second, third] = requests();
    expect(first).toMatchObject({ requestId: 'tickers', path: path('tickers'), from: 'executed', status: 200 });
    expect(second).toMatchObject({ from: 'cached', height: expect.any(Number), cost: expect.any(Number) });
    expect(third).toMatchObject({ path: path('orderbook'), codes: ['NOT_FOUND'], status: 404 });
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  test('a stored document has `cached` in the access log, also if its client has waited for a minimum height', async () => {
    const { get, origin, lines, sandbox, advance } = await openRest({
      config: { accessLog: 'all', marketPollMs: 60_000 },
    });
    await (await get('pairs')).text();
    const minimum = String(sandbox.chain.tip.height + 1);
    const waiting = get('pairs', { headers: { 'x-pdex-min-height': minimum, 'x-request-id': 'waiting' } });
    await expect
      .poll(async () => sample(await (await fetch(`${origin}/metrics`)).text(), 'pdex_minimum_height_waiting'))
      .toBe(1);
    await advance();
    expect((await waiting).status).toBe(200);
    await (await waiting).text();
    const logged = () => lines.find(({ requestId }) => requestId === 'waiting');
    await expect.poll(logged).toMatchObject({ from: 'cached' });
  });

  test('an internal error is 500 without its message, which the log has with the request id', async () => {
    const { get, lines, app } = await openRest();
    vi.spyOn(app.service.sources.market.tickers, 'isFailing').mockImplementation(() => {
      throw new Error('http://10.0.0.1 broke');
    });
    const response = await get('tickers', { headers: { 'x-request-id': 'r' } });
    expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('10.0.0.1')]);
    expect(lines).toContainEqual(expect.objectContaining({ msg: 'internal error', requestId: 'r' }));
    const access = { msg: 'request', requestId: 'r', status: 500, codes: ['INTERNAL_SERVER_ERROR'] };
    await expect.poll(() => lines).toContainEqual(expect.objectContaining(access));
  });

  test('an error of an upstream has no line in the access log by default, and one of the client has', async () => {
    const { get, lines, sandbox } = await openRest();
    await sandbox.marketData.stop();
    const statuses = [];
    for (const path of ['orderbook?ticker_id=pBTC_PRV', 'orderbook']) {
      const response = await get(path);
      statuses.push([response.status, (await response.json()).code]);
    }
    expect(statuses).toEqual([
      [503, 'UPSTREAM_UNREACHABLE'],
      [400, 'BAD_USER_INPUT'],
    ]);
    const access = () => lines.filter(({ msg }) => msg === 'request').map(({ status }) => status);
    await expect.poll(access).toEqual([400]);
  });
});
