import { describe, expect, test } from 'vitest';
import { createHistoryStore } from '../../src/history/store-client.ts';
import { openRest } from '../support/rest.ts';

describe('the REST API while the market-data host is down', () => {
  test('serves the last pairs and tickers with their age, and 503 once they are too old', async () => {
    const { get, read, app, sandbox, clock } = await openRest({ config: { marketMaxAgeMs: 60_000 } });
    const [pairsBefore, tickersBefore] = [await read('pairs'), await read('tickers')];
    expect((await get('tickers')).headers.get('age')).toBeNull();
    await sandbox.marketData.stop();
    const { pairs, tickers } = app.service.sources.market;
    await expect.poll(() => [pairs.isFailing(), tickers.isFailing()]).toEqual([true, true]);

    clock.now += 60_000;
    for (const [path, before] of [
      ['pairs', pairsBefore],
      ['tickers', tickersBefore],
    ] as const) {
      const response = await get(path);
      expect([response.status, response.headers.get('age')]).toEqual([200, '60']);
      expect(response.headers.get('cache-control')).toBe('max-age=0');
      expect(await response.json()).toEqual(before);
    }

    clock.now += 1;
    for (const path of ['pairs', 'tickers', 'orderbook?ticker_id=pBTC_PRV']) {
      const response = await get(path, { headers: { 'if-none-match': '*' } });
      expect([response.status, await response.json()]).toEqual([
        503,
        { code: 'UPSTREAM_UNREACHABLE', message: 'The market-data host cannot be reached.' },
      ]);
      expect([response.headers.get('retry-after'), response.headers.get('cache-control')]).toEqual(['1', 'no-store']);
      expect(response.headers.get('age')).toBeNull();
    }

    await sandbox.marketData.start();
    await expect.poll(async () => (await get('tickers')).status).toBe(200);
    expect((await get('tickers')).headers.get('age')).toBeNull();
  });

  test.each([
    ['node', 'marketData'],
    ['marketData', 'node'],
  ] as const)(
    'and the node too, has tickers whose age is that of their oldest part: first the %s',
    async (...hosts) => {
      const { get, app, sandbox, clock, advance } = await openRest();
      const { head, market } = app.service.sources;
      const [first, second] = hosts;
      const isDown = { node: head.isStale, marketData: market.tickers.isFailing };
      await sandbox[first].stop();
      await expect.poll(isDown[first]).toBe(true);
      clock.now += 30_000;
      if (second === 'node') await advance();
      else await expect.poll(() => market.tickers.newest()?.observedAt).toBe(clock.now);
      await sandbox[second].stop();
      await expect.poll(isDown[second]).toBe(true);
      clock.now += 30_000;
      expect((await get('tickers')).headers.get('age')).toBe('60');
    },
  );

  test('has an order book error of its own, and the rest whole', async () => {
    const { get, read, sandbox } = await openRest();
    await read('pairs');
    sandbox.marketData.faults.set({ kind: 'html', status: 403, on: 'orderbook' });
    const response = await get('orderbook?ticker_id=pBTC_PRV');
    expect([response.status, (await response.json()).code]).toEqual([503, 'UPSTREAM_FILTERED']);
    expect((await get('tickers')).status).toBe(200);
  });

  test('sends the Retry-After of the host, but at most five minutes', async () => {
    for (const [sent, expected] of [
      [60, '60'],
      [86_400, '300'],
    ] as const) {
      const { get, read, sandbox } = await openRest();
      await read('pairs');
      sandbox.marketData.faults.set({ kind: 'status', status: 429, retryAfter: sent, on: 'orderbook' });
      const response = await get('orderbook?ticker_id=pBTC_PRV');
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, expected]);
    }
  });

  test('names no address', async () => {
    const { get, sandbox } = await openRest({ before: (sandbox) => sandbox.marketData.stop() });
    const response = await get('pairs');
    const text = JSON.stringify([[...response.headers], await response.text()]);
    expect(response.status).toBe(503);
    expect(text).not.toContain(new URL(sandbox.marketDataUrl).port);
  });
});

test('without a market-data host, everything is 503 with a code of its own', async () => {
  const { get } = await openRest({ without: 'MARKET_DATA' });
  for (const path of ['pairs', 'tickers', 'orderbook?ticker_id=pBTC_PRV']) {
    const response = await get(path);
    expect([response.status, await response.json()]).toEqual([
      503,
      { code: 'UPSTREAM_NOT_CONFIGURED', message: 'The market-data host is not configured.' },
    ]);
    expect(response.headers.get('retry-after')).toBeNull();
  }
  expect((await get('/openapi.json')).status).toBe(200);
});

test('while the node is down, candles and trades have the age of the newest block, however old it is', async () => {
  const { get, app, sandbox, clock } = await openRest({
    store: createHistoryStore({ database: { kind: 'memory' }, rawDays: 7 }),
    config: { historyBackfillHours: 0, tradesBackfillHours: 0, marketMaxAgeMs: 60_000 },
    sandbox: { exchange: 'v3', history: 30 },
  });
  const paths = ['candles?ticker_id=pBNB_PRV&interval=1m&limit=1', 'historical_trades?ticker_id=pBNB_PRV'];
  const answers = () =>
    Promise.all(paths.map(async (path) => [(await get(path)).status, (await get(path)).headers.get('age')]));
  await expect.poll(answers).toEqual(paths.map(() => [200, null]));
  await sandbox.node.stop();
  await expect.poll(app.service.sources.head.isStale).toBe(true);
  clock.now += 60_000;
  expect(await answers()).toEqual(paths.map(() => [200, '60']));
  await expect.poll(() => app.service.sources.market.pairs.newest()?.observedAt).toBe(clock.now);
  clock.now += 1_000;
  expect(await answers()).toEqual(paths.map(() => [200, '61']));
});

describe('the REST API without a node', () => {
  const figures = ['pool_price', 'liquidity', 'liquidity_in_usd'];
  const known = ({ tickers }: { readonly tickers: readonly object[] }) =>
    figures.filter((name) => tickers.some((ticker) => name in ticker));

  test('leaves out what comes from the node, if none is configured', async () => {
    const { get, app } = await openRest({ without: 'NODE' });
    const response = await get('tickers');
    expect([response.status, response.headers.get('x-pdex-height')]).toEqual([200, null]);
    const document = await response.json();
    expect(document.tickers.length).toBe(app.service.sources.market.tickers.newest()?.market.rows.length);
    expect(known(document)).toEqual([]);
  });

  test('adds it when the first head is there', async () => {
    const { read, sandbox, untilReady } = await openRest({ before: (sandbox) => sandbox.node.stop() });
    expect(known(await read('tickers'))).toEqual([]);
    await sandbox.node.start();
    await untilReady();
    expect(known(await read('tickers'))).toEqual(figures);
  });

  test('says how old it is while the node is down, and leaves it out once it is too old', async () => {
    const { get, read, app, sandbox, clock } = await openRest({
      config: { marketMaxAgeMs: 60_000, maxBlockAgeMs: 600_000 },
    });
    expect(known(await read('tickers'))).toEqual(figures);
    const { head } = app.service.sources;
    const time = head.current()?.time ?? 0;
    // The next block may take longer.
    clock.now = time + 60_001;
    expect(known(await read('tickers'))).toEqual(figures);
    await sandbox.node.stop();
    await expect.poll(head.isFailing).toBe(true);

    clock.now = time + 60_000;
    const stale = await get('tickers');
    expect(stale.headers.get('age')).toBe('60');
    expect(known(await stale.json())).toEqual(figures);

    clock.now += 1;
    const without = await get('tickers');
    expect([without.headers.get('age'), without.headers.get('x-pdex-height')]).toEqual([null, null]);
    expect(known(await without.json())).toEqual([]);
  });
});
