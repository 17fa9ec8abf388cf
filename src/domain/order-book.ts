import { type Instant, type TimestampUnit, timestampUnit, toInstant } from './instant.ts';

/** One price of one side, as the host sends it. */
export type Offer = { readonly price: number; readonly quantity: number };

/** What the market-data host answered for one ticker, before anything was put in order. */
export type RawOrderBook = {
  readonly tickerId: string;
  readonly message: string;
  /** Unix time in an unstated unit. */
  readonly timestamp: number;
  readonly bids: readonly Offer[];
  readonly asks: readonly Offer[];
  /** How many entries of the answer were not two numbers. */
  readonly entriesDropped: number;
};

/** One price of one side, with the quantity of it and of all better ones. */
export type OrderBookEntry = Offer & { readonly cumulativeQuantity: number };

/** Bids from the highest price down, asks from the lowest up, each price once. */
export type OrderBook = {
  readonly tickerId: string;
  readonly message: string;
  /** Of the host's last update. */
  readonly time: Instant;
  readonly bids: readonly OrderBookEntry[];
  readonly asks: readonly OrderBookEntry[];
  readonly quality: OrderBookQuality;
};

/** What had to be done to the host's answer to make it an {@link OrderBook}. */
export type OrderBookQuality = {
  readonly wasSorted: boolean;
  readonly isCrossed: boolean;
  readonly entriesMerged: number;
  readonly entriesDropped: number;
  readonly timestampUnit: TimestampUnit;
};

/** Sorts both sides, merges equal prices and tells what it did. The specification leaves the order open. */
export function toOrderBook(raw: RawOrderBook): OrderBook {
  const bids = toSide(raw.bids, (a, b) => b - a);
  const asks = toSide(raw.asks, (a, b) => a - b);
  const bid = bids[0]?.price;
  const ask = asks[0]?.price;

  return {
    tickerId: raw.tickerId,
    message: raw.message,
    time: toInstant(raw.timestamp),
    bids,
    asks,
    quality: {
      wasSorted: isSorted(raw.bids, (a, b) => b - a) && isSorted(raw.asks, (a, b) => a - b),
      isCrossed: bid !== undefined && ask !== undefined && bid > ask,
      entriesMerged: raw.bids.length - bids.length + raw.asks.length - asks.length,
      entriesDropped: raw.entriesDropped,
      timestampUnit: timestampUnit(raw.timestamp),
    },
  };
}

/**
 * The best entries of both sides.
 *
 * @param depth how many of both sides together, as the listing sites count: 100 is 50 a side, an odd one is rounded up,
 *   0 is everything.
 */
export function atDepth(book: OrderBook, depth: number): OrderBook {
  if (depth === 0) return book;

  const aSide = Math.ceil(depth / 2);
  return { ...book, bids: book.bids.slice(0, aSide), asks: book.asks.slice(0, aSide) };
}

/** The highest price that is bid; `undefined` where nothing is. */
export function bestBid(book: OrderBook): number | undefined {
  return book.bids[0]?.price;
}

/** The lowest price that is asked; `undefined` where nothing is. */
export function bestAsk(book: OrderBook): number | undefined {
  return book.asks[0]?.price;
}

/** Half way between the best bid and the best ask; `undefined` where either is missing. */
export function midPrice(book: OrderBook): number | undefined {
  const bid = bestBid(book);
  const ask = bestAsk(book);
  return bid === undefined || ask === undefined ? undefined : (bid + ask) / 2;
}

/** The best ask less the best bid: negative for a crossed book; `undefined` where either is missing. */
export function spread(book: OrderBook): number | undefined {
  const bid = bestBid(book);
  const ask = bestAsk(book);
  return bid === undefined || ask === undefined ? undefined : ask - bid;
}

type Comparison = (a: number, b: number) => number;

/** Best first, each price once; quantities of one price are added in the order they came in. */
function toSide(offers: readonly Offer[], compare: Comparison): OrderBookEntry[] {
  const quantities = new Map<number, number>();
  for (const { price, quantity } of offers) quantities.set(price, (quantities.get(price) ?? 0) + quantity);

  let cumulativeQuantity = 0;
  return [...quantities]
    .sort(([a], [b]) => compare(a, b))
    .map(([price, quantity]) => {
      cumulativeQuantity += quantity;
      return { price, quantity, cumulativeQuantity };
    });
}

function isSorted(offers: readonly Offer[], compare: Comparison): boolean {
  return offers.every(({ price }, index) => {
    const previous = offers[index - 1];
    return previous === undefined || compare(previous.price, price) <= 0;
  });
}
