import { beforeAll, describe, expect, test } from 'vitest';
import { startGateway, startGatewayForTest, type TestGateway } from '../support/gateway.ts';

const WHOLE = `
  tickerId message timestamp observedAt bestBid bestAsk midPrice spread
  bids { price quantity cumulativeQuantity } asks { price quantity cumulativeQuantity }
  quality { wasSorted isCrossed entriesMerged entriesDropped timestampUnit }`;

/** For the tests that change nothing. */
let gateway: TestGateway;
beforeAll(async () => {
  const started = await startGateway();
  gateway = started;
  await gateway.ask('{ pairs { id } tickers { id } }');
  return started.close;
});

describe('an order book', () => {
  test('is sorted and has each price once, whatever the host sent', async () => {
    const { ask, sandbox, clock } = gateway;
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
    const { data } = await gateway.ask(
      '{ orderBook(tickerId: "pBTC_PRV") { spread quality { wasSorted isCrossed entriesMerged entriesDropped } } }',
    );
    expect(data.orderBook).toEqual({
      spread: expect.any(Number),
      quality: { wasSorted: true, isCrossed: false, entriesMerged: 0, entriesDropped: 0 },
    });
    expect(data.orderBook.spread).toBeGreaterThan(0);
  });

  test('has an id of its ticker and depth in every field', async () => {
    const { ask, subscribe } = gateway;
    const { data } = await ask(`{
      orderBook(tickerId: "pBTC_PRV") { id }
      all: orderBook(tickerId: "pBTC_PRV", depth: 0) { id }
      pair(tickerId: "pBTC_PRV") { orderBook(depth: 5) { id } ticker { orderBook { id } } }
      grouped: orderBook(tickerId: "pBTC_PRV", groupBy: "0.50") { id }
      same: ticker(tickerId: "pBTC_PRV") { orderBook(depth: 100, groupBy: 5e-1) { id } }
      long: orderBook(tickerId: "pBTC_PRV", depth: 0, groupBy: 12345678901234567890.123456789) { id }
    }`);
    expect(data).toEqual({
      orderBook: { id: 'OrderBook:100:pBTC_PRV' },
      all: { id: 'OrderBook:0:pBTC_PRV' },
      pair: { orderBook: { id: 'OrderBook:5:pBTC_PRV' }, ticker: { orderBook: { id: 'OrderBook:100:pBTC_PRV' } } },
      grouped: { id: 'OrderBook:100/0.5:pBTC_PRV' },
      same: { orderBook: { id: 'OrderBook:100/0.5:pBTC_PRV' } },
      long: { id: 'OrderBook:0/12345678901234567890.123456789:pBTC_PRV' },
    });
    const books = subscribe('subscription { orderBook(tickerId: "pBTC_PRV", depth: 5) { id } }');
    expect((await books.next()).value?.data).toEqual({ orderBook: { id: 'OrderBook:5:pBTC_PRV' } });
    await books.return(undefined);
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

  test.each(['404', '400', 'empty', 'null'] as const)(
    'of a ticker that does not exist is null while the tickers were not read, whether the host answers %s',
    async (unknownTicker) => {
      const { ask, sandbox } = await startGatewayForTest({
        sandbox: { unknownTicker },
        before: ({ marketData }) => marketData.faults.set({ kind: 'no-data', on: 'tickers' }),
      });
      await ask('{ pairs { id } }');
      const answer = await ask('{ orderBook(tickerId: "NO_PE") { tickerId } }');
      expect(answer).toEqual({ data: { orderBook: null } });
      expect(sandbox.marketData.calls('orderbook')).toBe(1);
    },
  );

  test('of a ticker that does not exist has no subscription, whether the tickers were read or not', async () => {
    for (const { subscribe } of [gateway, await startGatewayForTest()]) {
      const updates = subscribe('subscription { orderBook(tickerId: "NO_PE") { tickerId } }');
      const { value } = await updates.next();
      expect(value?.errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'BAD_USER_INPUT' }]);
      expect(await updates.next()).toMatchObject({ done: true });
    }
  });

  test('of a ticker that exists can be empty on both sides', async () => {
    const { data, errors } = await gateway.ask(
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

const SIDES =
  'bids { exactPrice exactQuantity price quantity cumulativeQuantity cumulativeTotal } asks { exactPrice exactQuantity price quantity cumulativeQuantity cumulativeTotal }';

describe('the exact decimals of an order book', () => {
  test('are the digits that the host sent, and each entry has its worth so far', async () => {
    const { ask, sandbox } = gateway;
    const url = `${sandbox.marketDataUrl}/api/v1/public/market-data/orderbook?ticker_id=pPOWR_PRV`;
    const text = await (await fetch(url)).text();
    const sent = JSON.parse(text, (_key, value, context?: { source?: string }) =>
      typeof value === 'number' ? context?.source : value,
    );
    const { data, errors } = await ask(`{ orderBook(tickerId: "pPOWR_PRV", depth: 0) { ${SIDES} } }`);
    expect(errors).toBeUndefined();

    for (const side of ['bids', 'asks']) {
      let [quantity, total] = [0, 0];
      for (const entry of data.orderBook[side]) {
        const same = sent[side].filter(([price]: string[]) => Number(price) === entry.price);
        expect(same.map(([price]: string[]) => price)).toContain(entry.exactPrice);
        if (same.length === 1) expect(entry.exactQuantity).toBe(same[0][1]);
        quantity += entry.quantity;
        total += entry.price * entry.quantity;
        expect([entry.cumulativeQuantity, entry.cumulativeTotal]).toEqual([quantity, total]);
      }
    }
    expect(data.orderBook.bids.at(-1)).toMatchObject({ exactPrice: '1e-8', exactQuantity: '2' });
    expect(data.orderBook.asks.at(-1)).toMatchObject({ exactQuantity: '4e-9' });
  });
});

describe('an order book that is grouped', () => {
  test('has multiples for prices, all quantities, and the best prices of the complete book, in every field', async () => {
    const { ask, subscribe, sandbox } = await startGatewayForTest();
    const fields = `bestBid bestAsk midPrice spread quality { isCrossed entriesMerged } ${SIDES}`;
    const { data, errors } = await ask(`{
      whole: orderBook(tickerId: "pBTC_PRV", depth: 0) { ${fields} }
      orderBook(tickerId: "pBTC_PRV", depth: 0, groupBy: "250") { ${fields} }
      pair(tickerId: "pBTC_PRV") { orderBook(depth: 0, groupBy: 250) { ${fields} } }
      ticker(tickerId: "pBTC_PRV") { orderBook(depth: 0, groupBy: 25e1) { ${fields} } }
      few: orderBook(tickerId: "pBTC_PRV", depth: 3, groupBy: "250") { ${fields} }
      none: orderBook(tickerId: "pBTC_PRV", depth: 0, groupBy: null) { ${fields} }
    }`);
    expect(errors).toBeUndefined();
    const { whole, orderBook, few } = data;
    expect(data.none).toEqual(whole);
    expect([data.pair.orderBook, data.ticker.orderBook]).toEqual([orderBook, orderBook]);
    const { bids, asks, ...rest } = whole;
    expect(orderBook).toMatchObject(rest);
    expect(orderBook.bids.length).toBeLessThan(bids.length);
    for (const [side, round] of [
      ['bids', Math.floor],
      ['asks', Math.ceil],
    ] as const) {
      const prices = new Set(whole[side].map(({ price }: { price: number }) => round(price / 250) * 250));
      expect(orderBook[side].map(({ price }: { price: number }) => price)).toEqual([...prices]);
      expect(orderBook[side].at(-1).cumulativeQuantity).toBeCloseTo(whole[side].at(-1).cumulativeQuantity, 9);
      expect(few[side]).toEqual(orderBook[side].slice(0, 2));
    }
    expect(sandbox.marketData.calls('orderbook')).toBe(1);

    const ofBook = 'subscription ($by: Decimal) { orderBook(tickerId: "pBTC_PRV", depth: 0, groupBy: $by) { id } }';
    const books = subscribe(ofBook, { by: 250 });
    expect((await books.next()).value?.data).toEqual({ orderBook: { id: 'OrderBook:0/250:pBTC_PRV' } });
  });

  test.each([
    ['0', 'groupBy is 0. It must be above 0.'],
    ['"-0.0"', 'groupBy is 0. It must be above 0.'],
    ['-1.5', 'groupBy is -1.5. It must be above 0.'],
    ['"1e-31"', /^groupBy is 0\.0+1\. The maximum is 30 digits before the decimal point, and as many after it\.$/],
    ['"1e30"', /^groupBy is 10+\. The maximum is 30 digits/],
    ['"1e150"', /^groupBy is 10+\. The maximum is 30 digits/],
    ['"1e-9999999999"', 'Expected a decimal number, such as "0.5".'],
    [`"${'1'.repeat(101)}"`, 'Expected a decimal number, such as "0.5".'],
    ['"a"', 'Expected a decimal number, such as "0.5".'],
    ['true', 'Expected a decimal number, such as "0.5".'],
    ['[1]', 'Expected a decimal number, such as "0.5".'],
  ])('by %s fails, and only that field', async (groupBy, message) => {
    const { data, errors } = await gateway.ask(
      `{ a: orderBook(tickerId: "pBTC_PRV", groupBy: ${groupBy}) { id } b: orderBook(tickerId: "pBTC_PRV", groupBy: "1e-30") { id } }`,
    );
    expect(data).toEqual({ a: null, b: { id: `OrderBook:100/0.${'0'.repeat(29)}1:pBTC_PRV` } });
    expect(errors).toEqual([
      {
        message: expect.stringMatching(message),
        path: ['a'],
        locations: expect.anything(),
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
  });
});

describe('the pairs of an order book', () => {
  test('are all that have its ticker id, in the order of the host', async () => {
    const { data } = await gateway.ask(`{
      orderBook(tickerId: "PRV_pUSDT") { pairs { id tickerId } }
      one: orderBook(tickerId: "pBTC_PRV") { pairs { id } }
      pairs(filter: { tickerIds: ["PRV_pUSDT"] }) { id tickerId }
      pair(tickerId: "pBTC_PRV") { id orderBook { pairs { id } } }
    }`);
    expect(data.orderBook.pairs).toHaveLength(3);
    expect(data.orderBook.pairs).toEqual(data.pairs);
    expect(data.one.pairs).toEqual([{ id: data.pair.id }]);
    expect(data.pair.orderBook.pairs).toEqual([{ id: data.pair.id }]);
  });

  test('are null with an error while pairs cannot be read, and the book is complete', async () => {
    const { ask } = await startGatewayForTest({
      before: ({ marketData }) => void marketData.faults.set({ kind: 'garbage', on: 'pairs' }),
    });
    const { data, errors } = await ask('{ orderBook(tickerId: "pBTC_PRV") { id pairs { id } bestBid } }');
    expect(data.orderBook).toEqual({ id: 'OrderBook:100:pBTC_PRV', pairs: null, bestBid: expect.any(Number) });
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['orderBook', 'pairs'], 'UPSTREAM_BAD_SHAPE'],
    ]);
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
