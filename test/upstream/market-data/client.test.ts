import { describe, expect, onTestFinished, test } from 'vitest';
import type { MarketDataFault } from '../../../src/sandbox/faults.ts';
import { createSandboxHosts, type SandboxHosts, type SandboxHostsOptions } from '../../../src/sandbox/sandbox.ts';
import { marketDataAt } from '../connect.ts';
import { failureOf } from '../failure.ts';

async function hostForTest(options: SandboxHostsOptions = {}, path = '', partner = 'market-data') {
  const sandbox: SandboxHosts = await createSandboxHosts({ seed: 7, startTime: 1_795_176_000, history: 5, ...options });
  onTestFinished(sandbox.close);
  return { ...marketDataAt(sandbox.marketDataUrl + path, { partner }), host: sandbox.marketData, chain: sandbox.chain };
}

describe('what is the host asked', () => {
  test('its three documented addresses, without a body', async () => {
    const { client, host, chain } = await hostForTest();
    expect((await client.pairs()).rows.length).toBe(chain.markets.length);
    expect((await client.tickers()).rows.length).toBe(chain.markets.length);
    expect(await client.orderBook('pBTC_PRV')).toMatchObject({ tickerId: 'pBTC_PRV', message: 'OK' });
    const headers = {
      host: new URL(host.url).host,
      connection: 'keep-alive',
      accept: 'application/json',
      'accept-encoding': 'gzip',
      'user-agent': 'pdex-gateway',
    };
    const path = '/api/v1/public/market-data';
    expect(host.requests.map(({ method, path, headers, body }) => ({ method, path, headers, body }))).toEqual([
      { method: 'GET', path: `${path}/pairs`, headers, body: '' },
      { method: 'GET', path: `${path}/tickers`, headers, body: '' },
      { method: 'GET', path: `${path}/orderbook?ticker_id=pBTC_PRV`, headers, body: '' },
    ]);
  });

  test.each([
    ['/', '/api/v1/public/market-data/pairs'],
    ['/exchange', '/exchange/api/v1/public/market-data/pairs'],
    ['/exchange//', '/exchange/api/v1/public/market-data/pairs'],
    ['/?key=value', '/api/v1/public/market-data/pairs?key=value'],
    ['/api/v1/public/market-data', '/api/v1/public/market-data/pairs'],
    ['/api/v1/public/another/', '/api/v1/public/another/pairs'],
    ['/api/v1/public/a%20partner', '/api/v1/public/a%20partner/pairs'],
    ['/api/v1/public', '/api/v1/public/market-data/pairs'],
    ['/api/v1/public/market-data/pairs', '/api/v1/public/market-data/pairs'],
    ['/exchange/api/v1/public/another/tickers/?key=value', '/exchange/api/v1/public/another/pairs?key=value'],
    ['/api/v1/public/another/orderbook?key=value&ticker_id=a&depth=5', '/api/v1/public/another/pairs?key=value'],
    ['/api/v1/publication', '/api/v1/publication/api/v1/public/market-data/pairs'],
  ])('under the path that its address has: %s', async (path, asked) => {
    const { client, host } = await hostForTest({}, path);
    await client.pairs().catch(() => {});
    expect(host.requests.map((request) => request.path)).toEqual([asked]);
  });

  test('with the other parameters of its address as they are written', async () => {
    const { client, host } = await hostForTest({}, '/?key=a%20b~c%2B&flag');
    await client.pairs();
    await client.orderBook('pBTC_PRV');
    expect(host.requests.map(({ path }) => path.split('?')[1])).toEqual([
      'key=a%20b~c%2B&flag',
      'key=a%20b~c%2B&flag&ticker_id=pBTC_PRV',
    ]);
  });

  test('with one ticker id, if its address has another', async () => {
    const { client, host } = await hostForTest({}, '/?ticker_id=a&key=value');
    await client.orderBook('pBTC_PRV');
    expect(host.requests[0]?.path.split('?')[1]).toBe('key=value&ticker_id=pBTC_PRV');
  });

  test('with the partner’s segment and the ticker escaped', async () => {
    const { client, host } = await hostForTest({}, '', 'a partner');
    expect(await client.orderBook('a&b=c#/é _')).toBeUndefined();
    expect(host.requests.map((request) => request.path)).toEqual([
      '/api/v1/public/a%20partner/orderbook?ticker_id=a%26b%3Dc%23%2F%C3%A9+_',
    ]);
    expect(host.requests[0]?.params).toEqual({ ticker_id: 'a&b=c#/é _' });
  });
});

describe('what does a host do for a ticker that it does not know', () => {
  test.each(['404', '400'] as const)('%s: there is no such book, and the host is healthy', async (unknownTicker) => {
    const { client, health, host } = await hostForTest({ unknownTicker });
    expect(await client.orderBook('pNOPE_PRV')).toBeUndefined();
    expect(health.read()).toMatchObject({ healthy: true, lastErrorCode: undefined });
    expect(host.calls('orderbook')).toBe(1);
  });

  test.each(['empty', 'null'] as const)(
    '%s: a book without offers, from which alone nobody can tell',
    async (unknownTicker) => {
      const { client } = await hostForTest({ unknownTicker });
      expect(await client.orderBook('pNOPE_PRV')).toEqual({
        tickerId: 'pNOPE_PRV',
        message: 'OK',
        timestamp: 1_795_176_000,
        bids: [],
        asks: [],
        entriesDropped: 0,
      });
    },
  );

  test.each([
    [404, 'page not found', 'UPSTREAM_BAD_STATUS'],
    [400, '', 'UPSTREAM_BAD_STATUS'],
    [404, '<html>', 'UPSTREAM_BAD_STATUS'],
    [401, '{"message":"no"}', 'UPSTREAM_BAD_STATUS'],
    [500, '{"message":"no"}', 'UPSTREAM_BAD_STATUS'],
  ])('status %i with the text %j is a failure', async (status, body, code) => {
    const { client, host } = await hostForTest();
    host.faults.set({ kind: 'status', status, body });
    expect(await failureOf(client.orderBook('pBTC_PRV'))).toMatchObject({ code });
  });

  test('a status that says so for a book says no such thing for a list', async () => {
    const { client, host } = await hostForTest();
    host.faults.set({ kind: 'status', status: 404, body: '{"message":"no"}' });
    expect(await failureOf(client.pairs())).toMatchObject({ code: 'UPSTREAM_BAD_STATUS' });
    expect(await failureOf(client.tickers())).toMatchObject({ code: 'UPSTREAM_BAD_STATUS' });
  });
});

describe('what can go wrong with a read', () => {
  const shape = (misfit: string) => ({
    code: 'UPSTREAM_BAD_SHAPE',
    retryable: true,
    message: `The market-data host sent an invalid response: ${misfit}.`,
    extensions: { upstream: 'MARKET_DATA' },
  });

  test.each<[MarketDataFault, object]>([
    [{ kind: 'no-data' }, shape('expected an array at $.tickers')],
    [{ kind: 'garbage' }, shape('it is not JSON')],
    [{ kind: 'empty' }, shape('it is not JSON')],
    [{ kind: 'shape', path: ['tickers'], value: {} }, shape('expected an array at $.tickers')],
    [
      { kind: 'truncated' },
      { ...shape(''), code: 'UPSTREAM_UNREACHABLE', message: 'The market-data host cannot be reached.' },
    ],
    [
      { kind: 'html', status: 403 },
      {
        ...shape(''),
        code: 'UPSTREAM_FILTERED',
        message: 'The market-data host is blocked by a traffic filter, which responded with HTTP status 403.',
      },
    ],
  ])('$kind', async (fault, failure) => {
    const { client, host, health } = await hostForTest();
    host.faults.set(fault);
    expect(await failureOf(client.tickers())).toEqual(failure);
    expect(host.calls('tickers')).toBe(1);
    expect(health.read()).toMatchObject({ healthy: false, lastErrorAt: 100 });
  });

  test('an entry that is not two numbers costs that entry', async () => {
    const { client } = await hostForTest({ malformedBooks: ['pBTC_PRV'] });
    expect(await client.orderBook('pBTC_PRV')).toMatchObject({ entriesDropped: 1 });
  });

  test('a row that cannot be read costs that row', async () => {
    const { client, host, chain } = await hostForTest();
    host.faults.set({ kind: 'shape', path: ['pairs', 0, 'base_id'], value: 'pDAF' });
    const { rows, dropped } = await client.pairs();
    expect([rows.length, dropped]).toEqual([chain.markets.length - 1, 1]);
  });
});
