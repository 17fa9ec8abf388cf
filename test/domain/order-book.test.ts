import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  atDepth,
  bestAsk,
  bestBid,
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
  return { bid: bestBid(ordered), ask: bestAsk(ordered), mid: midPrice(ordered), spread: spread(ordered) };
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
        { price: 58951.06, quantity: 0.000189, cumulativeQuantity: 0.000287508 },
        { price: 22100, quantity: 0.0019515830000000002, cumulativeQuantity: 0.0022390910000000003 },
        { price: 531, quantity: 1.8000000000000002e-8, cumulativeQuantity: 0.0022391090000000004 },
        { price: 0.0001, quantity: 0.00024000000000000003, cumulativeQuantity: 0.0024791090000000006 },
        { price: 1e-8, quantity: 2, cumulativeQuantity: 2.002479109 },
      ],
      asks: [
        { price: 63068.70058091286, quantity: 0.000030125, cumulativeQuantity: 0.000030125 },
        { price: 63736.12697081516, quantity: 0.00002981, cumulativeQuantity: 0.000059935 },
        { price: 85000, quantity: 0.00015000000000000001, cumulativeQuantity: 0.00020993500000000002 },
        { price: 999999.75, quantity: 4e-9, cumulativeQuantity: 0.00020993900000000002 },
      ],
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
  let sum = 0;
  return (offer) => {
    sum += offer.quantity;
    return { ...offer, cumulativeQuantity: sum };
  };
}

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
