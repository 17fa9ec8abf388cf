import { describe, expect, test } from 'vitest';
import { startGatewayForTest } from '../support/gateway.ts';

const WHOLE = `
  tickerId message timestamp observedAt bestBid bestAsk midPrice spread
  bids { price quantity cumulativeQuantity } asks { price quantity cumulativeQuantity }
  quality { wasSorted isCrossed entriesMerged entriesDropped timestampUnit }`;

describe('an order book', () => {
  test('is sorted and has each price once, whatever the host sent', async () => {
    const { ask, sandbox, clock } = await startGatewayForTest();
    const sent = await (
      await fetch(`${sandbox.marketDataUrl}/api/v1/public/market-data/orderbook?ticker_id=pPOWR_PRV`)
    ).json();
    const { data, errors } = await ask(`{ orderBook(tickerId: "pPOWR_PRV", depth: 0) { ${WHOLE} } }`);
    expect(errors).toBeUndefined();

    const bids = sideOf(sent.bids).sort(([a], [b]) => b - a);
    const asks = sideOf(sent.asks).sort(([a], [b]) => a - b);
    const [bestBid, bestAsk] = [bids[0]?.[0] ?? 0, asks[0]?.[0] ?? 0];
    expect(data.orderBook).toEqual({
      tickerId: 'pPOWR_PRV',
      message: 'OK',
      timestamp: new Date(sent.timestamp * 1000).toISOString(),
      observedAt: new Date(clock.now).toISOString(),
      bestBid,
      bestAsk,
      midPrice: (bestBid + bestAsk) / 2,
      spread: bestAsk - bestBid,
      bids: cumulated(bids),
      asks: cumulated(asks),
      quality: {
        wasSorted: false,
        isCrossed: true,
        entriesMerged: sent.bids.length + sent.asks.length - bids.length - asks.length,
        entriesDropped: 0,
        timestampUnit: 'SECONDS',
      },
    });
    expect(data.orderBook.quality.entriesMerged).toBeGreaterThan(0);
    expect(data.orderBook.spread).toBeLessThan(0);
  });

  test('of the first market of the sandbox is sorted and not crossed', async () => {
    const { ask } = await startGatewayForTest();
    const { data } = await ask(
      '{ orderBook(tickerId: "pBTC_PRV") { spread quality { wasSorted isCrossed entriesMerged entriesDropped } } }',
    );
    expect(data.orderBook).toEqual({
      spread: expect.any(Number),
      quality: { wasSorted: true, isCrossed: false, entriesMerged: 0, entriesDropped: 0 },
    });
    expect(data.orderBook.spread).toBeGreaterThan(0);
  });

  test('has an id of its ticker and depth in every field', async () => {
    const { ask, subscribe } = await startGatewayForTest();
    const { data } = await ask(`{
      orderBook(tickerId: "pBTC_PRV") { id }
      all: orderBook(tickerId: "pBTC_PRV", depth: 0) { id }
      pair(tickerId: "pBTC_PRV") { orderBook(depth: 5) { id } ticker { orderBook { id } } }
    }`);
    expect(data).toEqual({
      orderBook: { id: 'OrderBook:100:pBTC_PRV' },
      all: { id: 'OrderBook:0:pBTC_PRV' },
      pair: { orderBook: { id: 'OrderBook:5:pBTC_PRV' }, ticker: { orderBook: { id: 'OrderBook:100:pBTC_PRV' } } },
    });
    const books = subscribe('subscription { orderBook(tickerId: "pBTC_PRV", depth: 5) { id } }');
    expect((await books.next()).value?.data).toEqual({ orderBook: { id: 'OrderBook:5:pBTC_PRV' } });
  });

  test('has the requested depth, counted over both sides', async () => {
    const { ask, sandbox } = await startGatewayForTest();
    const { data } = await ask(`{
      all: orderBook(tickerId: "pBTC_PRV", depth: 0) { bids { price } asks { price } }
      byDefault: orderBook(tickerId: "pBTC_PRV") { bids { price } asks { price } }
      odd: orderBook(tickerId: "pBTC_PRV", depth: 5) { bids { price } asks { price } bestBid quality { entriesMerged } }
      one: orderBook(tickerId: "pBTC_PRV", depth: 1) { bids { price } asks { price } }
      pair(tickerId: "pBTC_PRV") { orderBook(depth: 2) { bids { price } } ticker { orderBook(depth: 4) { asks { price } } } }
    }`);
    const half = data.byDefault;
    expect(data.all.bids.length).toBeGreaterThan(50);
    expect(half).toEqual({ bids: data.all.bids.slice(0, 50), asks: data.all.asks.slice(0, 50) });
    expect([data.odd.bids.length, data.odd.asks.length]).toEqual([3, 3]);
    expect([data.one.bids.length, data.one.asks.length]).toEqual([1, 1]);
    expect(data.odd.bestBid).toBe(data.byDefault.bids[0].price);
    expect(data.pair.orderBook.bids).toHaveLength(1);
    expect(data.pair.ticker.orderBook.asks).toHaveLength(2);
    expect(sandbox.marketData.calls('orderbook')).toBe(1);
  });

  test('with a negative depth fails only that field', async () => {
    const { ask } = await startGatewayForTest();
    const { data, errors } = await ask(
      '{ a: orderBook(tickerId: "pBTC_PRV", depth: -1) { bestBid } b: orderBook(tickerId: "pBTC_PRV") { tickerId } }',
    );
    expect(data).toEqual({ a: null, b: { tickerId: 'pBTC_PRV' } });
    expect(errors?.map(({ path, extensions }) => [path, extensions])).toEqual([[['a'], { code: 'BAD_USER_INPUT' }]]);
  });

  test.each(['404', '400', 'empty', 'null'] as const)(
    'of a ticker that does not exist is null, whether the host answers %s',
    async (unknownTicker) => {
      const { ask, sandbox } = await startGatewayForTest({ sandbox: { unknownTicker } });
      await ask('{ pairs { id } tickers { id } }');
      const answer = await ask('{ orderBook(tickerId: "NO_PE") { tickerId } }');
      expect(answer).toEqual({ data: { orderBook: null } });
      expect(sandbox.marketData.calls('orderbook')).toBe(1);
    },
  );

  test('of a ticker that exists can be empty on both sides', async () => {
    const { ask } = await startGatewayForTest();
    await ask('{ pairs { id } }');
    const { data, errors } = await ask(
      `{ orderBook(tickerId: "pSWAP_pUSDT") { tickerId bids { price } asks { price } bestBid bestAsk midPrice spread quality { isCrossed wasSorted } } }`,
    );
    expect(errors).toBeUndefined();
    expect(data.orderBook).toEqual({
      tickerId: 'pSWAP_pUSDT',
      bids: [],
      asks: [],
      bestBid: null,
      bestAsk: null,
      midPrice: null,
      spread: null,
      quality: { isCrossed: false, wasSorted: true },
    });
  });

  test('drops and counts entries that are not two numbers, and recognises milliseconds', async () => {
    const { ask, sandbox } = await startGatewayForTest({
      sandbox: { malformedBooks: ['pETH_PRV'], timestampUnit: 'milliseconds' },
    });
    const { data, errors } = await ask(
      '{ orderBook(tickerId: "pETH_PRV") { timestamp quality { entriesDropped timestampUnit } } }',
    );
    expect(errors).toBeUndefined();
    expect(data.orderBook.quality).toEqual({ entriesDropped: expect.any(Number), timestampUnit: 'MILLISECONDS' });
    expect(data.orderBook.quality.entriesDropped).toBeGreaterThan(0);
    expect(Date.parse(data.orderBook.timestamp)).toBeGreaterThan((sandbox.chain.tip.time - 3_600) * 1_000);
  });
});

type Entry = [price: number, quantity: number];

function sideOf(entries: Entry[]): Entry[] {
  const quantities = new Map<number, number>();
  for (const [price, quantity] of entries) quantities.set(price, (quantities.get(price) ?? 0) + quantity);
  return [...quantities];
}

function cumulated(entries: Entry[]): object[] {
  let cumulativeQuantity = 0;
  return entries.map(([price, quantity]) => {
    cumulativeQuantity += quantity;
    return { price, quantity, cumulativeQuantity };
  });
}
