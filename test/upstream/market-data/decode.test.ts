import { describe, expect, test } from 'vitest';
import { toInstant } from '../../../src/domain/instant.ts';
import { parseJson } from '../../../src/upstream/json.ts';
import { parseOrderBook, readOrderBook, readTicker } from '../../../src/upstream/market-data/decode.ts';
import { ShapeError } from '../../../src/upstream/wire.ts';
import { readFixture } from '../fixture.ts';
import { readPairs, readTickers } from './whole-list.ts';

const PRV = '0000000000000000000000000000000000000000000000000000000000000004';
const DAF = '495f59f74371dd86e75a56ba6f457357557a8954b51f90ad4e123694c962e94a';
const ETH = '3ee31eba6376fc16cadb52c8765f20b6ebff92c0b1c5ab5fc78c8c25703bb19e';
const USDT = '076a4423fa20922526bd50b0d7b0dc1c593ce16e15ba141ede5fb5a28aa3f229';

const dafPrv = {
  tickerId: 'pDAF_PRV',
  baseId: DAF,
  base: 'pDAF',
  targetId: PRV,
  target: 'PRV',
  poolId: `${PRV}-${DAF}-1516fc5dec2655f701a5cbf7163d736334592dec9fd853419d80bc41ea48e2fd`,
};
const row = { ticker_id: 'A_B', base_id: DAF, base: 'A', target_id: PRV, target: 'B', pool_id: 'pool' };
const tickerRow = { ...row, base_currency: 'A', target_currency: 'B' };
const ticker = { tickerId: 'A_B', baseId: DAF, base: 'A', targetId: PRV, target: 'B', poolId: 'pool' };

/** Of a response to a request for the ticker A_B. */
const readBook = (document: unknown) => readOrderBook(document, 'A_B');

describe('what does the host say of its pairs', () => {
  test('the recorded answer, whole', () => {
    const ethUsdt = {
      tickerId: 'pETH_pUSDT',
      baseId: ETH,
      base: 'pETH',
      targetId: USDT,
      target: 'pUSDT',
      poolId: `${USDT}-${ETH}-d3976e67fbefe50eb3f4ec9f2266b734a49f3c97effa825117db84ac08f60b6d`,
    };
    expect(readPairs(parseJson(readFixture('market-data/pairs')))).toEqual({ rows: [dafPrv, ethUsdt], dropped: 0 });
  });

  test('a row that cannot be read is dropped and counted; the others stay', () => {
    const rows = [
      row,
      null,
      'row',
      { ...row, ticker_id: 5 },
      { ...row, base_id: 'A' },
      { ...row, target_id: null },
      { ...row, pool_id: undefined },
      { ...row, base: null },
      { ...row, pool_id: 'another', more: {} },
    ];
    expect(readPairs({ message: 'OK', pairs: rows })).toEqual({
      rows: [ticker, { ...ticker, poolId: 'another' }],
      dropped: 7,
    });
  });

  test('a message that is missing or odd is no reason to lose the list', () => {
    expect(readPairs({ pairs: [] })).toEqual({ rows: [], dropped: 0 });
    expect(readPairs({ pairs: [], message: 5 })).toEqual({ rows: [], dropped: 0 });
  });
});

describe('what does the host say of its tickers', () => {
  test('the recorded answer, whole, with volumes that are not consistent', () => {
    expect(readTickers(parseJson(readFixture('market-data/tickers')))).toEqual({
      rows: [{ ...dafPrv, lastPrice: 0.0018607001900856567, baseVolume: 24_942, targetVolume: 0 }],
      dropped: 0,
    });
  });

  test('figures that are null, missing or no numbers are unknown, and the row stays; those that are no numbers count', () => {
    const figures = [
      { last_price: null, base_volume: null, target_volume: null },
      {},
      { last_price: '', base_volume: [], target_volume: {} },
      { last_price: 1e-8, base_volume: 2n ** 64n, target_volume: Number.POSITIVE_INFINITY },
    ];
    const unknown = { lastPrice: undefined, baseVolume: undefined, targetVolume: undefined };
    expect(readTickers({ tickers: figures.map((some) => ({ ...tickerRow, ...some })) })).toEqual({
      rows: [
        { ...ticker, ...unknown },
        { ...ticker, ...unknown },
        { ...ticker, ...unknown },
        { ...ticker, lastPrice: 1e-8, baseVolume: 2 ** 64, targetVolume: undefined },
      ],
      dropped: 2,
    });
  });

  test('each figure that is no number is reported with its place', () => {
    const problems: string[] = [];
    readTicker({ ...tickerRow, last_price: 'n/a', base_volume: '1.5', target_volume: true }, ({ message }) => {
      problems.push(message);
    });
    expect(problems).toEqual([
      'expected a number at $.tickers[…].last_price',
      'expected a number at $.tickers[…].target_volume',
    ]);
  });

  test('figures in strings are numbers', () => {
    const figures = { last_price: '0.00001860', base_volume: '24942', target_volume: '1E-7' };
    expect(readTickers({ tickers: [{ ...tickerRow, ...figures }] })).toEqual({
      rows: [{ ...ticker, lastPrice: 0.0000186, baseVolume: 24_942, targetVolume: 1e-7 }],
      dropped: 0,
    });
  });

  test('a row without its symbols is dropped and counted', () => {
    expect(readTickers({ tickers: [row, tickerRow] })).toMatchObject({ rows: [ticker], dropped: 1 });
  });
});

describe('what does the host say of an order book', () => {
  test('the recorded answer as it is: unsorted, crossed, with equal prices and dust', () => {
    expect(readBook(parseJson(readFixture('market-data/orderbook')))).toEqual({
      tickerId: 'pBTC_PRV',
      message: 'OK',
      timestamp: 1_668_769_564,
      bids: [
        { price: 22100, quantity: 0.0019515830000000002 },
        { price: 531, quantity: 1.8000000000000002e-8 },
        { price: 1e-8, quantity: 1 },
        { price: 1e-8, quantity: 1 },
        { price: 55558.6867, quantity: 0.0005 },
        { price: 55558.6867, quantity: 0.0005 },
        { price: 67090.65999715759, quantity: 0.000098508 },
      ],
      asks: [
        { price: 999999.75, quantity: 4e-9 },
        { price: 85000, quantity: 0.00015000000000000001 },
        { price: 63068.70058091286, quantity: 0.000030125 },
        { price: 63736.12697081516, quantity: 0.00002981 },
      ],
      entriesDropped: 0,
    });
  });

  const book = { ticker_id: 'A_B', message: 'OK', timestamp: 5 };

  test('entries that cannot be read are dropped and counted, on both sides', () => {
    const bids = [[1, 2], ['1,5', 2], [1], [1, '', 3], null, 'x', {}, [null, 2], [2n ** 64n, 1], { price: 1 }];
    const asks = [
      [1, Number.POSITIVE_INFINITY],
      [3, 4],
    ];
    expect(readBook({ ...book, bids, asks })).toEqual({
      tickerId: 'A_B',
      message: 'OK',
      timestamp: 5,
      bids: [
        { price: 1, quantity: 2 },
        { price: 2 ** 64, priceText: '18446744073709551616', quantity: 1 },
      ],
      asks: [{ price: 3, quantity: 4 }],
      entriesDropped: 9,
    });
  });

  test('numbers are as the host wrote them, where that is not the shortest text of a double', () => {
    const text = `{"ticker_id":"A_B","message":"OK","timestamp":5.0,
      "bids":[[1.50,4e-9],[1e-8,0.10],[18446744073709551616,1],[5,0.00015000000000000001]],
      "asks":[[1E2,-0],[1e400,1],[1,1e-999999999],[${'1'.repeat(101)},1]]}`;
    expect(readBook(parseOrderBook(text))).toEqual({
      tickerId: 'A_B',
      message: 'OK',
      timestamp: 5,
      bids: [
        { price: 1.5, priceText: '1.50', quantity: 4e-9 },
        { price: 1e-8, quantity: 0.1, quantityText: '0.10' },
        { price: 2 ** 64, priceText: '18446744073709551616', quantity: 1 },
        { price: 5, quantity: 0.00015000000000000001 },
      ],
      asks: [{ price: 100, priceText: '1E2', quantity: -0, quantityText: '-0' }],
      entriesDropped: 3,
    });
  });

  test('prices and quantities can be strings, as the host wrote them', () => {
    const bids = [
      ['1.50', '4e-9'],
      ['2', 0.5],
      ['007.50', '-00'],
    ];
    const none = ['', ' 1', '1.', '.5', '1,5', '0x10', 'NaN', 'Infinity', '1e400', '1e-999', '1'.repeat(101), true];
    expect(readBook({ ...book, bids, asks: none.map((price) => [price, 1]) })).toEqual({
      tickerId: 'A_B',
      message: 'OK',
      timestamp: 5,
      bids: [
        { price: 1.5, priceText: '1.50', quantity: 4e-9 },
        { price: 2, quantity: 0.5 },
        { price: 7.5, priceText: '7.50', quantity: -0, quantityText: '-0' },
      ],
      asks: [],
      entriesDropped: none.length,
    });
  });

  test('a price or quantity too large to compute sums with costs its entry', () => {
    const large = [1e100, -1e100, '1e100', 1e200];
    const bids = [
      ...large.flatMap((number) => [
        [number, 1],
        [1, number],
      ]),
      [9.9e99, 9.9e99],
    ];
    expect(readBook({ ...book, bids, asks: [] })).toMatchObject({
      bids: [{ price: 9.9e99, quantity: 9.9e99 }],
      entriesDropped: 2 * large.length,
    });
  });

  test('entries can have more elements, or be objects', () => {
    const text = `{"ticker_id":"A_B","message":"OK","timestamp":5,
      "bids":[[1.50,2,7,"open"],["3",4,null]],
      "asks":[{"price":5.50,"quantity":"6.0","count":1},{"quantity":8,"price":7}]}`;
    expect(readBook(parseOrderBook(text))).toEqual({
      tickerId: 'A_B',
      message: 'OK',
      timestamp: 5,
      bids: [
        { price: 1.5, priceText: '1.50', quantity: 2 },
        { price: 3, quantity: 4 },
      ],
      asks: [
        { price: 5.5, priceText: '5.50', quantity: 6, quantityText: '6.0' },
        { price: 7, quantity: 8 },
      ],
      entriesDropped: 0,
    });
  });

  test('the first entry that cannot be read is reported with its side', () => {
    const reported: unknown[] = [];
    const report = (...problem: unknown[]) => reported.push(problem);
    const asks = [[1, 2], null, ['x', 1]];
    readOrderBook({ ...book, bids: [[1, 2]], asks }, 'A_B', report);
    readOrderBook({ ...book, bids: [{ price: 1 }], asks }, 'A_B', report);
    readOrderBook({ ...book, bids: [[1, 2]], asks: null }, 'A_B', report);
    expect(reported).toEqual([
      ['expected a price and a quantity at $.asks[…]', null],
      ['expected a price and a quantity at $.bids[…]', { price: 1 }],
    ]);
  });

  test('without a ticker id it is that of the request, and without a message the message is empty', () => {
    const bids = [[1, 2]];
    const whole = { tickerId: 'A_B', message: '', timestamp: 5, bids: [{ price: 1, quantity: 2 }], asks: [] };
    expect(readBook({ timestamp: 5, bids, asks: [] })).toEqual({ ...whole, entriesDropped: 0 });
    expect(readBook({ timestamp: 5, bids, asks: [], ticker_id: null, message: null })).toMatchObject(whole);
  });

  test.each([
    ['seconds', '1668769564', Date.UTC(2022, 10, 18, 11, 6, 4)],
    ['seconds with a fraction', '1668769564.5', Date.UTC(2022, 10, 18, 11, 6, 4, 500)],
    ['milliseconds', '1668769564123', Date.UTC(2022, 10, 18, 11, 6, 4, 123)],
    ['microseconds', '1668769564123456', Date.UTC(2022, 10, 18, 11, 6, 4, 123)],
    ['nanoseconds', '1668769564123000000', Date.UTC(2022, 10, 18, 11, 6, 4, 123)],
    ['nanoseconds below a millisecond', '1668769564123999000', Date.UTC(2022, 10, 18, 11, 6, 4, 123)],
    ['the last nanosecond', '99999999999999990000', Date.UTC(5138, 10, 16, 9, 46, 39, 999)],
  ])('its time can be in %s, as a number and as a string', (_, digits, instant) => {
    for (const written of [digits, `"${digits}"`]) {
      const read = readBook(parseOrderBook(`{"bids":[[1,2]],"timestamp":${written}}`));
      expect(toInstant(read?.timestamp ?? Number.NaN)).toBe(instant);
    }
  });

  test('its time can be a date and time with an offset, as in RFC 3339', () => {
    const read = (timestamp: string) => readBook({ ...book, bids: [[1, 2]], timestamp })?.timestamp;
    expect(read('2022-11-18T11:06:04Z')).toBe(Date.UTC(2022, 10, 18, 11, 6, 4));
    expect(read('2022-11-18T12:06:04.123+01:00')).toBe(Date.UTC(2022, 10, 18, 11, 6, 4, 123));
  });

  test('one side that is null or missing is empty', () => {
    const side = { tickerId: 'A_B', message: 'OK', timestamp: 5, bids: [], asks: [{ price: 3, quantity: 4 }] };
    expect(readBook({ ...book, bids: null, asks: [[3, 4]] })).toEqual({ ...side, entriesDropped: 0 });
    expect(readBook({ ...book, asks: [[3, 4]] })).toEqual({ ...side, entriesDropped: 0 });
  });

  test('with null for both sides it is empty; without sides, or without a time, it is no book', () => {
    expect(readBook({ ...book, bids: undefined, asks: undefined })).toBeUndefined();
    const empty = { tickerId: 'A_B', message: 'OK', timestamp: 5, bids: [], asks: [], entriesDropped: 0 };
    expect(readBook({ ...book, bids: null, asks: null })).toEqual(empty);
    expect(readBook({ message: 'no such ticker' })).toBeUndefined();
    expect(readBook({ message: 'no such ticker', bids: [], asks: [] })).toBeUndefined();
    expect(readBook({ bids: [], asks: [] })).toBeUndefined();
    expect(readBook({ ...book, timestamp: null, bids: [], asks: null })).toBeUndefined();
  });
});

describe('what does not fit', () => {
  const NO_TIMES = [
    1e20,
    '1e20',
    '',
    'today',
    '2022-11-18',
    '2022-11-18T11:06:04',
    '2022-13-18T11:06:04Z',
    '1972-01-01T00:00:00Z',
    '9999-01-01T00:00:00Z',
    [5],
  ];
  const book = { ticker_id: 'A_B', message: 'OK', timestamp: 5, bids: [[1, 2]], asks: [] };

  test.each<readonly [string, (document: unknown) => unknown, unknown, string]>([
    ['pairs without a list', readPairs, { message: 'no data', pairs: null }, 'expected an array at $.pairs'],
    ['tickers without a list', readTickers, { message: 'no data', tickers: null }, 'expected an array at $.tickers'],
    ['tickers where pairs were asked for', readPairs, { tickers: [] }, 'expected an array at $.pairs'],
    ['a list without anything around it', readPairs, [row], 'expected an object at $'],
    ['a text', readTickers, 'OK', 'expected an object at $'],
    ['a book that is a list', readBook, [], 'expected an object at $'],
    ['a side that is an object', readBook, { ...book, bids: {} }, 'expected an array at $.bids'],
    ['the other side', readBook, { ...book, asks: 5 }, 'expected an array at $.asks'],
    ['a book whose ticker is no text', readBook, { ...book, ticker_id: 5 }, 'expected a string at $.ticker_id'],
    ['a book whose message is no text', readBook, { ...book, message: {} }, 'expected a string at $.message'],
    ['a book without a time', readBook, { ...book, timestamp: null }, 'expected a Unix timestamp at $.timestamp'],
    ['a time below 0', readBook, { ...book, timestamp: -1 }, 'expected a Unix timestamp at $.timestamp'],
    ...NO_TIMES.map(
      (timestamp) =>
        [
          `the time ${JSON.stringify(timestamp)}`,
          readBook,
          { ...book, timestamp },
          'expected a Unix timestamp at $.timestamp',
        ] as const,
    ),
  ])('%s', (_, read, document, message) => {
    expect(() => read(document)).toThrow(ShapeError);
    expect(() => read(document)).toThrow(message);
  });
});
