import { describe, expect, test } from 'vitest';
import type { FaultTarget, MarketDataCall, MarketDataFault, MarketDataForm } from '../../src/sandbox/faults.ts';
import type { TestGateway, TestGatewayOptions } from '../support/gateway.ts';
import { WARN } from '../support/log.ts';
import { sample } from '../support/metrics.ts';
import { openRest } from '../support/rest.ts';

const BOOK = `orderBook(tickerId: "pPOWR_PRV", depth: 0) {
  tickerId message timestamp bestBid bestAsk midPrice spread
  bids { price quantity cumulativeQuantity cumulativeTotal }
  asks { price quantity cumulativeQuantity cumulativeTotal }
  quality { wasSorted isCrossed entriesMerged entriesDropped timestampUnit }
}`;
const QUERY = `{ pairs { tickerId } tickers { tickerId lastPrice baseVolume targetVolume } ${BOOK} }`;

/** A gateway whose market-data host has these faults from the beginning, and what operators see of it. */
async function open(
  faults: readonly (MarketDataFault & FaultTarget<MarketDataCall>)[] = [],
  options: TestGatewayOptions = {},
) {
  const gateway = await openRest({
    sandbox: { history: 60 },
    before({ marketData }) {
      for (const fault of faults) marketData.faults.set(fault);
    },
    ...options,
  });
  const { get } = gateway;
  return {
    ...gateway,
    dropped: async () => {
      const text = await (await get('/metrics')).text();
      return ['pairs', 'tickers', 'orderbook'].map((list) =>
        sample(text, `pdex_market_data_dropped_rows{list="${list}"}`),
      );
    },
    notes: async () => (await (await get('/ready')).json()).notes,
  };
}

const note = (pairs: number, tickers: number, entries: number) => ({
  code: 'MARKET_DATA_UNREADABLE',
  message: `parts of market data cannot be read and are left out: ${pairs} of the pairs, ${tickers} of the tickers, ${entries} entries of order books; the log has examples`,
});

/** The lines of the log about what could not be read. */
const unreadable = ({ lines }: Pick<TestGateway, 'lines'>) => lines.filter(({ list }) => list !== undefined);

describe('market data in another form is the same data', () => {
  const answersOf = async ({ untilReady, ask, read }: Awaited<ReturnType<typeof open>>) => {
    await untilReady();
    return [await ask(QUERY), await read('orderbook?ticker_id=pPOWR_PRV'), await read('tickers')] as const;
  };
  /** In the usual form. */
  let expected: ReturnType<typeof answersOf> | undefined;

  // `upstream/market-data/decode` has all units and forms of numbers.
  test.each<[string, MarketDataForm, differing: object]>([
    ['longer entries', { entries: 'longer' }, {}],
    ['objects of strings', { entries: 'objects', decimals: 'strings' }, {}],
    ['without a message and a ticker id', { without: ['message', 'ticker_id'] }, { message: '' }],
    ['seconds in a string', { timestamp: { unit: 'seconds', asText: true } }, {}],
    ['nanoseconds in a number', { timestamp: { unit: 'nanoseconds' } }, { unit: 'MILLISECONDS' }],
    ['a date and time', { timestamp: { unit: 'date-time' } }, { unit: 'MILLISECONDS' }],
  ])('%s', async (_, form, { message = 'OK', unit = 'SECONDS' }: { message?: string; unit?: string }) => {
    expected ??= answersOf(await open());
    const [{ data }, book, tickers] = await expected;
    const quality = { ...data.orderBook.quality, timestampUnit: unit };

    const other = await open([{ kind: 'form', ...form }]);
    expect(await answersOf(other)).toEqual([
      { data: { ...data, orderBook: { ...data.orderBook, message, quality } } },
      { ...book, message },
      tickers,
    ]);
    expect([await other.dropped(), await other.notes(), other.lines]).toEqual([[0, 0, 0], undefined, []]);
  });
});

test('exact decimals have the digits of the strings of the host, in GraphQL and in REST', async () => {
  const bids = [
    ['1.50', '4E-9'],
    ['007.10', '2'],
  ];
  const { ask, get } = await open([{ kind: 'shape', on: 'orderbook', path: ['bids'], value: bids }]);
  const { data } = await ask(
    '{ orderBook(tickerId: "pBTC_PRV", depth: 0) { bids { price exactPrice exactQuantity } } }',
  );
  expect(data.orderBook.bids).toEqual([
    { price: 7.1, exactPrice: '7.10', exactQuantity: '2' },
    { price: 1.5, exactPrice: '1.50', exactQuantity: '4E-9' },
  ]);
  const text = await (await get('orderbook?ticker_id=pBTC_PRV')).text();
  expect(text).toContain('"bids":[[7.10,2],[1.50,4E-9]]');
});

describe('what cannot be read', () => {
  test('of pairs and tickers counts, is a note in /ready, and is logged with an example once a minute', async () => {
    const gateway = await open(
      [
        { kind: 'shape', on: 'pairs', path: ['pairs', 0, 'pool_id'], value: null },
        { kind: 'shape', on: 'tickers', path: ['tickers', 1, 'base_volume'], value: 'n/a' },
      ],
      { config: { marketPollMs: 20 } },
    );
    const { ask, sandbox, clock } = gateway;
    const { data, errors } = await ask('{ pairs { id } tickers { baseVolume } }');
    const { length } = sandbox.chain.markets;
    expect([errors, data.pairs.length, data.tickers.length, data.tickers[1]]).toEqual([
      undefined,
      length - 1,
      length,
      { baseVolume: null },
    ]);
    expect((await ask('{ service { marketData { stale } } }')).data.service.marketData).toEqual({ stale: false });
    expect(await gateway.dropped()).toEqual([1, 1, 0]);
    expect(await gateway.notes()).toEqual([note(1, 1, 0)]);

    const line = (list: string, problem: string, example: string) => ({
      level: WARN,
      msg: 'parts of a response cannot be read and are left out',
      upstream: 'MARKET_DATA',
      list,
      problem,
      example: expect.stringContaining(example),
    });
    const lines = [
      line('pairs', 'expected a string at $.pairs[…].pool_id', '"pool_id":null'),
      line('tickers', 'expected a number at $.tickers[…].base_volume', '"base_volume":"n/a"'),
    ];
    const polls = sandbox.marketData.calls();
    await expect.poll(() => sandbox.marketData.calls()).toBeGreaterThan(polls + 6);
    const sorted = () => unreadable(gateway).toSorted((a, b) => String(a['list']).localeCompare(String(b['list'])));
    expect(sorted()).toEqual(lines);
    clock.now += 60_000;
    await expect.poll(() => unreadable(gateway).length).toBe(4);
    expect(sorted()).toEqual(lines.flatMap((each) => [each, each]));

    sandbox.marketData.faults.clear();
    await expect.poll(gateway.dropped).toEqual([0, 0, 0]);
    expect(await gateway.notes()).toBeUndefined();
  });

  test('of an order book counts for a minute, and in its quality', async () => {
    const gateway = await open([], { sandbox: { history: 60, malformedBooks: ['pBTC_PRV'] } });
    const { ask, clock } = gateway;
    const { data } = await ask(
      '{ orderBook(tickerId: "pBTC_PRV") { quality { entriesDropped } } other: orderBook(tickerId: "pETH_PRV") { quality { entriesDropped } } }',
    );
    expect(data).toEqual({
      orderBook: { quality: { entriesDropped: 1 } },
      other: { quality: { entriesDropped: 0 } },
    });
    expect([await gateway.dropped(), await gateway.notes()]).toEqual([[0, 0, 1], [note(0, 0, 1)]]);
    expect(unreadable(gateway)).toEqual([
      expect.objectContaining({
        level: WARN,
        list: 'orderbook',
        problem: 'expected a price and a quantity at $.bids[…]',
        example: '["n/a",null]',
      }),
    ]);
    clock.now += 60_000;
    expect([await gateway.dropped(), await gateway.notes()]).toEqual([[0, 0, 0], undefined]);
  });

  test('of an order book without any other entry is an error, and not an empty book', async () => {
    const value = { bids: [['n/a', 1]], asks: [[1]], timestamp: 5 };
    const sandbox = { history: 60, unknownTicker: 'empty' } as const;
    const gateway = await open([{ kind: 'shape', on: 'orderbook', path: [], value }], { sandbox });
    const { ask, get } = gateway;
    await ask('{ pairs { id } }');
    const { data, errors } = await ask(
      '{ orderBook(tickerId: "pBTC_PRV") { tickerId } other: orderBook(tickerId: "pETH_PRV") { tickerId } }',
    );
    const message = 'The market-data host sent an invalid response: no entry of the order book can be read.';
    const error = (path: string) => ({
      message,
      path: [path],
      locations: expect.anything(),
      extensions: { code: 'UPSTREAM_BAD_SHAPE', upstream: 'MARKET_DATA' },
    });
    expect(data).toEqual({ orderBook: null, other: null });
    expect(errors).toEqual([error('orderBook'), error('other')]);
    expect(await (await get('orderbook?ticker_id=pBTC_PRV')).json()).toEqual({ code: 'UPSTREAM_BAD_SHAPE', message });
    expect([await gateway.dropped(), await gateway.notes()]).toEqual([[0, 0, 4], [note(0, 0, 4)]]);
  });

  test.each(['pairs', 'tickers'] as const)(
    'of %s, if it is all rows, is an error, and later the last good list stays',
    async (on) => {
      const fault = { kind: 'shape', on, path: [on, '*', 'pool_id'], value: 7 } as const;
      const gateway = await open([fault], { config: { marketPollMs: 20 } });
      const { ask, sandbox } = gateway;
      const { length } = sandbox.chain.markets;
      const dropped = [on === 'pairs' ? length : 0, on === 'tickers' ? length : 0, 0] as const;
      const query = `{ ${on} { id } service { marketData { stale } } }`;
      const { data, errors } = await ask(query);
      expect(data).toEqual({ [on]: null, service: { marketData: null } });
      expect(errors).toEqual([
        {
          message: `The market-data host sent an invalid response: no row of ${on} can be read.`,
          path: [on],
          locations: expect.anything(),
          extensions: { code: 'UPSTREAM_BAD_SHAPE', upstream: 'MARKET_DATA' },
        },
      ]);
      await expect.poll(gateway.dropped).toEqual(dropped);
      expect(await gateway.notes()).toEqual([note(...dropped)]);

      sandbox.marketData.faults.clear();
      await expect.poll(async () => (await ask(query)).data[on]?.length).toBe(length);
      sandbox.marketData.faults.set(fault);
      await expect.poll(async () => (await ask(query)).data.service.marketData).toEqual({ stale: true });
      expect((await ask(query)).data[on].length).toBe(length);
      expect(await gateway.dropped()).toEqual(dropped);
    },
  );
});
