import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toDecimal } from '../../src/domain/amount.ts';
import { type ExactDecimal, parseExactDecimal } from '../../src/domain/exact-decimal.ts';
import {
  atDepth,
  exactPrice,
  exactQuantity,
  groupBook,
  midPrice,
  type Offer,
  type OrderBookEntry,
  type RawOrderBook,
  spread,
  toOrderBook,
} from '../../src/domain/order-book.ts';

/** A book of these bids and asks, each a price and a quantity. */
function rawBook(bids: [number, number][], asks: [number, number][], rest: Partial<RawOrderBook> = {}): RawOrderBook {
  const toOffers = (side: [number, number][]): Offer[] => side.map(([price, quantity]) => ({ price, quantity }));
  return {
    tickerId: 'pBTC_PRV',
    message: 'OK',
    timestamp: 1_668_769_564,
    bids: toOffers(bids),
    asks: toOffers(asks),
    entriesDropped: 0,
    ...rest,
  };
}

const asked = (book: RawOrderBook) => {
  const ordered = toOrderBook(book);
  return { bid: ordered.bids[0]?.price, ask: ordered.asks[0]?.price, mid: midPrice(ordered), spread: spread(ordered) };
};

describe('an order book', () => {
  test('that was recorded, crossed, unsorted and with dust, is sorted, has each price once, and reports what it was', () => {
    const raw = rawBook(
      [
        [22100, 0.0019515830000000002],
        [531, 1.8000000000000002e-8],
        [0.0001, 0.00014000000000000001],
        [0.0001, 0.0001],
        [1e-8, 1],
        [1e-8, 1],
        [58951.06, 0.00011200000000000001],
        [58951.06, 0.000077],
        [67090.65999715759, 0.000098508],
      ],
      [
        [999999.75, 4e-9],
        [85000, 0.00015000000000000001],
        [63068.70058091286, 0.000030125],
        [63736.12697081516, 0.00002981],
      ],
    );
    expect(toOrderBook(raw)).toEqual({
      tickerId: 'pBTC_PRV',
      message: 'OK',
      time: Date.UTC(2022, 10, 18, 11, 6, 4),
      bids: [
        { price: 67090.65999715759, quantity: 0.000098508, cumulativeQuantity: 0.000098508 },
        {
          price: 58951.06,
          quantity: 0.000189,
          quantityText: '0.00018900000000000001',
          cumulativeQuantity: 0.000287508,
        },
        { price: 22100, quantity: 0.0019515830000000002, cumulativeQuantity: 0.0022390910000000003 },
        { price: 531, quantity: 1.8000000000000002e-8, cumulativeQuantity: 0.0022391090000000004 },
        {
          price: 0.0001,
          quantity: 0.00024000000000000003,
          quantityText: '0.00024000000000000001',
          cumulativeQuantity: 0.0024791090000000006,
        },
        { price: 1e-8, quantity: 2, cumulativeQuantity: 2.002479109 },
      ].map(totalled()),
      asks: [
        { price: 63068.70058091286, quantity: 0.000030125, cumulativeQuantity: 0.000030125 },
        { price: 63736.12697081516, quantity: 0.00002981, cumulativeQuantity: 0.000059935 },
        { price: 85000, quantity: 0.00015000000000000001, cumulativeQuantity: 0.00020993500000000002 },
        { price: 999999.75, quantity: 4e-9, cumulativeQuantity: 0.00020993900000000002 },
      ].map(totalled()),
      quality: {
        wasSorted: false,
        isCrossed: true,
        entriesMerged: 3,
        entriesDropped: 0,
        timestampUnit: 'SECONDS',
      },
    });
  });

  test('that is sorted reports that nothing was changed, and the unit of its time', () => {
    const raw = rawBook([[9, 1]], [[10, 1]], { timestamp: 1_668_769_564_321 });
    const { time, quality } = toOrderBook(raw);
    expect(time).toBe(1_668_769_564_321);
    expect(quality).toEqual({
      wasSorted: true,
      isCrossed: false,
      entriesMerged: 0,
      entriesDropped: 0,
      timestampUnit: 'MILLISECONDS',
    });
  });

  test.each<[string, [number, number][], [number, number][], boolean]>([
    [
      'bids from high to low and asks from low to high are sorted',
      [
        [2, 1],
        [1, 1],
      ],
      [
        [3, 1],
        [4, 1],
      ],
      true,
    ],
    [
      'equal prices in a row are sorted',
      [
        [2, 1],
        [2, 1],
      ],
      [],
      true,
    ],
    [
      'bids from low to high are not',
      [
        [1, 1],
        [2, 1],
      ],
      [],
      false,
    ],
    [
      'asks from high to low are not',
      [],
      [
        [4, 1],
        [3, 1],
      ],
      false,
    ],
    ['an empty book is', [], [], true],
  ])('%s', (_, bids, asks, wasSorted) => {
    expect(toOrderBook(rawBook(bids, asks)).quality.wasSorted).toBe(wasSorted);
  });

  test('with a bid at the price of an ask is not crossed', () => {
    expect(toOrderBook(rawBook([[10, 1]], [[10, 1]])).quality.isCrossed).toBe(false);
    expect(toOrderBook(rawBook([[10.01, 1]], [[10, 1]])).quality.isCrossed).toBe(true);
  });

  test('includes the count of dropped entries', () => {
    expect(toOrderBook(rawBook([], [], { entriesDropped: 3 })).quality.entriesDropped).toBe(3);
  });

  test('has the best entries first, each price once and all quantities, and leaves the response unchanged', () => {
    const offer = fc.record({ price: fc.integer({ min: 0, max: 20 }), quantity: fc.integer({ min: 0, max: 1_000 }) });
    fc.assert(
      fc.property(fc.array(offer), fc.array(offer), (bids, asks) => {
        const raw = { ...rawBook([], []), bids, asks };
        const before = structuredClone(raw);
        const book = toOrderBook(raw);
        expect(raw).toEqual(before);
        expect(book.bids).toEqual(referenceSide(bids).toReversed().map(cumulate()));
        expect(book.asks).toEqual(referenceSide(asks).map(cumulate()));
        expect(book.quality.entriesMerged).toBe(bids.length + asks.length - book.bids.length - book.asks.length);
        expect(book.quality.isCrossed).toBe(bids.some((bid) => asks.some((ask) => bid.price > ask.price)));
      }),
    );
  });
});

/** Prices from 0 to 20 upwards, those that anyone offers, with all that is offered at each. */
function referenceSide(offers: readonly Offer[]): Offer[] {
  return Array.from({ length: 21 }, (_, price) => offers.filter((offer) => offer.price === price))
    .filter((same) => same.length > 0)
    .map((same) => ({ price: same[0]?.price ?? 0, quantity: same.reduce((sum, { quantity }) => sum + quantity, 0) }));
}

function cumulate(): (offer: Offer) => OrderBookEntry {
  let cumulativeQuantity = 0;
  const total = totalled();
  return (offer) => {
    cumulativeQuantity += offer.quantity;
    return total({ ...offer, cumulativeQuantity });
  };
}

/** Adds the worth of the entries so far, in target tokens. */
function totalled(): <O extends Offer>(offer: O) => O & { cumulativeTotal: number } {
  let cumulativeTotal = 0;
  return (offer) => {
    cumulativeTotal += offer.price * offer.quantity;
    return { ...offer, cumulativeTotal };
  };
}

/** An offer as a host writes it. */
function written(price: string, quantity: string): Offer {
  const [ofPrice, ofQuantity] = [Number(price), Number(quantity)];
  return {
    price: ofPrice,
    quantity: ofQuantity,
    ...(String(ofPrice) !== price && { priceText: price }),
    ...(String(ofQuantity) !== quantity && { quantityText: quantity }),
  };
}

const exactly = (offer: Offer) => [exactPrice(offer), exactQuantity(offer)];

describe('the exact decimals of an order book', () => {
  test('are those that the host wrote where nothing was merged', () => {
    const asks = [written('1.50', '4e-9'), written('2E0', '0.10'), written('1e+2', '0.0019515830000000002')];
    expect(toOrderBook(rawBook([], [], { asks })).asks.map(exactly)).toEqual([
      ['1.50', '4e-9'],
      ['2E0', '0.10'],
      ['1e+2', '0.0019515830000000002'],
    ]);
  });

  test('are the exact sum where entries were merged, and prices are merged where they are equal as decimals', () => {
    const bids = [
      written('100', '0.1'),
      written('1e2', '0.2'),
      written('100.00', '1e-20'),
      written('0.1', '1'),
      written('0.10000000000000000001', '2'),
      written('0.10', '1'),
    ];
    const book = toOrderBook(rawBook([], [], { bids }));
    expect(book.bids.map(exactly)).toEqual([
      ['100', '0.30000000000000000001'],
      ['0.10000000000000000001', '2'],
      ['0.1', '2'],
    ]);
    expect(book.bids.map(({ price, quantity }) => [price, quantity])).toEqual([
      [100, 0.1 + 0.2 + 1e-20],
      [0.1, 2],
      [0.1, 2],
    ]);
    expect(book.quality.entriesMerged).toBe(3);
  });
});

describe('an order book that is grouped', () => {
  const step = (text: string): ExactDecimal => parseExactDecimal(text) ?? { units: 0n, scale: 0 };

  test('rounds bids down and asks up, and merges what is equal then', () => {
    const book = toOrderBook(
      rawBook([], [], {
        bids: [written('1.0', '0.1'), written('0.99', '0.2'), written('0.951', '0.3'), written('0.25', '7')],
        asks: [written('1.0', '1'), written('1.001', '2'), written('1.0500', '3'), written('1.0501', '1e-1')],
      }),
    );
    const grouped = groupBook(book, step('0.05'), Number.POSITIVE_INFINITY);
    expect(grouped.bids.map(exactly)).toEqual([
      ['1.0', '0.1'],
      ['0.95', '0.5'],
      ['0.25', '7'],
    ]);
    expect(grouped.asks.map(exactly)).toEqual([
      ['1.0', '1'],
      ['1.05', '5'],
      ['1.1', '1e-1'],
    ]);
    expect(
      grouped.bids.map(({ price, quantity, cumulativeQuantity }) => [price, quantity, cumulativeQuantity]),
    ).toEqual([
      [1, 0.1, 0.1],
      [0.95, 0.5, 0.6],
      [0.25, 7, 7.6],
    ]);
    expect(grouped.asks.at(-1)?.cumulativeTotal).toBeCloseTo(1 + 1.05 * 5 + 1.1 * 0.1, 12);
    expect(grouped.quality).toEqual(book.quality);
  });

  test('with a step above all prices has one price a side: 0 for bids', () => {
    const book = toOrderBook(rawBook([[9, 1], [8, 2]], [[10, 1], [11, 2]])); // biome-ignore format: pairs
    const { bids, asks } = groupBook(book, step('1e3'), Number.POSITIVE_INFINITY);
    expect(bids.map(exactly)).toEqual([['0', '3']]);
    expect(asks.map(exactly)).toEqual([['1000', '3']]);
  });

  test('is what a naive model in whole numbers gives, at every number of entries', () => {
    const units = fc.bigInt(1n, 400n);
    const side = fc.array(fc.record({ price: units, quantity: fc.bigInt(1n, 10_000n) }), { maxLength: 40 });
    // Prices are thousandths, quantities millionths, and the step a number of thousandths.
    fc.assert(
      fc.property(side, side, fc.bigInt(1n, 50n), fc.integer({ min: 1, max: 50 }), (bids, asks, size, max) => {
        const toOffers = (offers: typeof bids) =>
          offers.map(({ price, quantity }) => written(toDecimal(price, 3), toDecimal(quantity, 6)));
        const book = toOrderBook(rawBook([], [], { bids: toOffers(bids), asks: toOffers(asks) }));
        const grouped = groupBook(book, step(toDecimal(size, 3)), max);
        const model = (offers: typeof bids, round: (price: bigint) => bigint, sign: bigint) => {
          const sums = new Map<bigint, bigint>();
          for (const { price, quantity } of offers) sums.set(round(price), (sums.get(round(price)) ?? 0n) + quantity);
          return [...sums].sort(([a], [b]) => Number(sign * (a - b))).slice(0, max);
        };
        const inUnits = (entries: readonly OrderBookEntry[]) =>
          entries.map((entry) => exactly(entry).map((text, index) => Number(text) * (index === 0 ? 1e3 : 1e6)));
        const expected = (levels: [bigint, bigint][]) =>
          levels.map((level) => level.map((number) => expect.closeTo(Number(number), 6)));
        const { bids: shownBids, asks: shownAsks } = grouped;
        expect(inUnits(shownBids)).toEqual(expected(model(bids, (price) => price - (price % size), -1n)));
        expect(inUnits(shownAsks)).toEqual(expected(model(asks, (price) => ((price + size - 1n) / size) * size, 1n)));
        for (const entries of [shownBids, shownAsks]) {
          let [quantity, total] = [0, 0];
          for (const entry of entries) {
            quantity += entry.quantity;
            total += entry.price * entry.quantity;
            expect([entry.cumulativeQuantity, entry.cumulativeTotal]).toEqual([quantity, total]);
          }
        }
      }),
    );
  });
});

describe('the depth of an order book', () => {
  const prices = Array.from({ length: 60 }, (_, index): [number, number] => [index + 1, 1]);
  const book = toOrderBook(rawBook(prices, prices));

  test.each([
    [100, 50],
    [1, 1],
    [2, 1],
    [3, 2],
    [99, 50],
    [101, 51],
    [0, 60],
    [1_000, 60],
  ])('a depth of %i is %i entries a side, the best ones', (depth, aSide) => {
    const cut = atDepth(book, depth);
    expect(cut).toEqual({ ...book, bids: book.bids.slice(0, aSide), asks: book.asks.slice(0, aSide) });
    expect([cut.bids.length, cut.asks.length]).toEqual([aSide, aSide]);
    expect([cut.bids[0]?.price, cut.asks[0]?.price]).toEqual([60, 1]);
  });
});

describe('the best prices of an order book', () => {
  test('are those of its first entries, with the mean and the difference', () => {
    expect(
      asked(
        rawBook(
          [
            [8, 1],
            [9, 1],
          ],
          [
            [12, 1],
            [10, 1],
          ],
        ),
      ),
    ).toEqual({ bid: 9, ask: 10, mid: 9.5, spread: 1 });
  });

  test('have a negative spread if it is crossed', () => {
    expect(asked(rawBook([[12, 1]], [[10, 1]]))).toEqual({ bid: 12, ask: 10, mid: 11, spread: -2 });
  });

  test('are undefined for an empty side', () => {
    const nothing = { mid: undefined, spread: undefined };
    expect(asked(rawBook([], [[10, 1]]))).toEqual({ bid: undefined, ask: 10, ...nothing });
    expect(asked(rawBook([[9, 1]], []))).toEqual({ bid: 9, ask: undefined, ...nothing });
    expect(asked(rawBook([], []))).toEqual({ bid: undefined, ask: undefined, ...nothing });
  });
});
