import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ordersOf } from '../../src/sandbox/chain/order-book.ts';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { ask, askJson, fixedSandbox, noon } from './support.ts';

const id = expect.stringMatching(/^[0-9a-f]{64}$/);
const poolId = expect.stringMatching(/^[0-9a-f]{64}-[0-9a-f]{64}-[0-9a-f]{64}$/);
let sandbox: SandboxHosts;
beforeAll(async () => {
  sandbox = await fixedSandbox();
});
afterAll(() => sandbox.close());

const read = (call: string, url = sandbox.marketDataUrl) => askJson(url, call);

describe('pairs', () => {
  test('list every market, then the message', async () => {
    const answer = await read('pairs');
    expect(Object.keys(answer)).toEqual(['pairs', 'message']);
    expect(answer.message).toBe('OK');
    expect(answer.pairs).toHaveLength(sandbox.chain.markets.length);
    for (const pair of answer.pairs) {
      expect(Object.keys(pair)).toEqual(['ticker_id', 'base_id', 'base', 'target_id', 'target', 'pool_id']);
      const { base, target } = pair;
      expect(pair).toMatchObject({
        ticker_id: `${base}_${target}`,
        base_id: id,
        target_id: id,
        pool_id: poolId,
      });
    }
  });

  test('have bridged symbols with a p and the native coin without', async () => {
    const { pairs } = await read('pairs');
    expect(pairs[0]).toMatchObject({
      ticker_id: 'pBTC_PRV',
      base_id: 'b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696',
      target_id: '0000000000000000000000000000000000000000000000000000000000000004',
    });
  });
});

describe('tickers', () => {
  test('have every field, except one without figures and one with nulls', async () => {
    const answer = await read('tickers');
    expect(Object.keys(answer)).toEqual(['tickers', 'message']);
    const identity = ['ticker_id', 'base_id', 'base_currency', 'target_id', 'target_currency', 'pool_id'];
    const figures = ['last_price', 'base_volume', 'target_volume'];
    const tally = { numbers: 0, nulls: 0, absent: 0 };

    for (const ticker of answer.tickers) {
      expect(Object.keys(ticker).slice(0, 6)).toEqual(identity);
      if (Object.keys(ticker).length === 6) tally.absent += 1;
      else if (figures.every((name) => ticker[name] === null)) tally.nulls += 1;
      else if (figures.every((name) => typeof ticker[name] === 'number')) tally.numbers += 1;
    }
    expect(tally).toEqual({ numbers: answer.tickers.length - 2, nulls: 1, absent: 1 });
  });

  test('include one with a base volume and no target volume', async () => {
    const { tickers } = await read('tickers');
    const odd = tickers.find((ticker) => ticker['ticker_id'] === 'pDAF_PRV');
    expect(odd?.['base_volume']).toBeGreaterThan(0);
    expect(odd?.['target_volume']).toBe(0);
  });

  test('change with new blocks', async () => {
    await using other = await fixedSandbox({ history: 50 });
    const before = await read('tickers', other.marketDataUrl);
    expect(await read('tickers', other.marketDataUrl)).toEqual(before);
    other.advance(10);
    expect(await read('tickers', other.marketDataUrl)).not.toEqual(before);
  });
});

describe('orderbook', () => {
  test('has two sides of pairs of numbers and the time in seconds', async () => {
    const book = await read('orderbook?ticker_id=pBTC_PRV');
    expect(Object.keys(book)).toEqual(['bids', 'asks', 'message', 'ticker_id', 'timestamp']);
    expect(book).toMatchObject({ message: 'OK', ticker_id: 'pBTC_PRV', timestamp: noon });
    for (const side of [book.bids, book.asks]) {
      expect(side.length).toBeGreaterThan(50);
      for (const entry of side) expect(entry).toEqual([expect.any(Number), expect.any(Number)]);
    }
  });

  test('is the same for all pools of a ticker', async () => {
    const { seed, markets, tip } = sandbox.chain;
    const [first, second] = markets.filter(({ tickerId }) => tickerId === 'PRV_pUSDT');
    if (!first || !second) throw new Error('several pools share this ticker');
    const { bids, asks } = await read('orderbook?ticker_id=PRV_pUSDT');
    expect({ bids, asks }).toEqual(ordersOf(seed, first, tip));
    expect({ bids, asks }).not.toEqual(ordersOf(seed, second, tip));
  });

  test('is empty on both sides for a ticker that exists', async () => {
    const book = await read('orderbook?ticker_id=pSWAP_pUSDT');
    expect(book).toEqual({ bids: [], asks: [], message: 'OK', ticker_id: 'pSWAP_pUSDT', timestamp: noon });
  });

  test('has the time in milliseconds with that option', async () => {
    await using other = await fixedSandbox({ history: 5, timestampUnit: 'milliseconds' });
    expect((await read('orderbook?ticker_id=pBTC_PRV', other.marketDataUrl)).timestamp).toBe(noon * 1_000);
  });

  test('is the same in the form of another host', async () => {
    await using other = await fixedSandbox({ history: 5 });
    const { faults, url } = other.marketData;
    const plain = await read('orderbook?ticker_id=pBTC_PRV', url);
    const [price, quantity] = plain.bids[0] ?? [];
    faults.set({
      kind: 'form',
      decimals: 'strings',
      entries: 'objects',
      timestamp: { unit: 'nanoseconds', asText: true },
      without: ['message'],
    });
    const { bids, asks, ...others } = await read('orderbook?ticker_id=pBTC_PRV', url);
    expect(others).toEqual({ ticker_id: 'pBTC_PRV', timestamp: `${noon}000000000` });
    expect([bids.length, asks.length]).toEqual([plain.bids.length, plain.asks.length]);
    expect(bids[0]).toEqual({ price: String(price), quantity: String(quantity) });

    faults.clear();
    faults.set({ kind: 'form', entries: 'longer', timestamp: { unit: 'date-time' } });
    const longer = await read('orderbook?ticker_id=pBTC_PRV', url);
    expect(longer).toMatchObject({ message: 'OK', timestamp: new Date(noon * 1_000).toISOString() });
    expect(longer.bids[0]).toEqual([price, quantity, 1, 'open']);
  });

  test('has an entry that is not two numbers with that option', async () => {
    await using other = await fixedSandbox({ history: 5, malformedBooks: ['pETH_PRV'] });
    expect((await read('orderbook?ticker_id=pETH_PRV', other.marketDataUrl)).bids[0]).toEqual(['n/a', null]);
    expect((await read('orderbook?ticker_id=pBTC_PRV', other.marketDataUrl)).bids[0]).not.toContain('n/a');
  });

  test.each([
    ['404' as const, 404, { message: 'ticker_id not found' }],
    ['400' as const, 400, { message: 'ticker_id not found' }],
    ['empty' as const, 200, { bids: [], asks: [], message: 'OK', ticker_id: 'pNO_PRV', timestamp: noon }],
    ['null' as const, 200, { bids: null, asks: null, message: 'OK', ticker_id: 'pNO_PRV', timestamp: noon }],
  ])('responds to an unknown ticker with %s', async (unknownTicker, status, body) => {
    await using other = await fixedSandbox({ history: 5, unknownTicker });
    const response = await ask(other.marketDataUrl, 'orderbook?ticker_id=pNO_PRV');
    expect([response.status, await response.json()]).toEqual([status, body]);
  });

  test('needs a ticker', async () => {
    const response = await ask(sandbox.marketDataUrl, 'orderbook');
    expect([response.status, await response.json()]).toEqual([400, { message: 'ticker_id is required' }]);
  });
});

describe('the host', () => {
  test('sends JSON with its length and keeps the connection', async () => {
    const response = await ask(sandbox.marketDataUrl, 'pairs');
    const body = await response.arrayBuffer();
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('content-length')).toBe(String(body.byteLength));
    expect(response.headers.get('connection')).toBe('keep-alive');
  });

  test('accepts any partner, and no other path or method', async () => {
    const statusOf = async (path: string, method = 'GET') =>
      (await fetch(`${sandbox.marketDataUrl}${path}`, { method })).status;
    expect(await statusOf('/api/v1/public/someone-else/pairs')).toBe(200);
    expect(await statusOf('/api/v1/public/pairs')).toBe(404);
    expect(await statusOf('/api/v2/public/market-data/pairs')).toBe(404);
    expect(await statusOf('/api/v1/public/market-data/pairs/')).toBe(404);
    expect(await statusOf('/')).toBe(404);
    expect(await statusOf('/api/v1/public/market-data/pairs', 'POST')).toBe(404);
  });
});
