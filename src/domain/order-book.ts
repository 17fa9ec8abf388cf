import { type Instant, type TimestampUnit, timestampUnit, toInstant } from './instant.ts';

/** An entry of one side, as the host sends it. */
export type Offer = { readonly price: number; readonly quantity: number };

/** The response of the market-data host for one ticker, not sorted yet. */
export type RawOrderBook = {
  readonly tickerId: string;
  readonly message: string;
  /** Unix time, in seconds or milliseconds. */
  readonly timestamp: number;
  readonly bids: readonly Offer[];
  readonly asks: readonly Offer[];
  /** How many entries of the response were not two numbers. */
  readonly entriesDropped: number;
};

/** An entry of one side, with the total quantity of it and of all better entries. */
export type OrderBookEntry = Offer & { readonly cumulativeQuantity: number };

/** Bids by descending price and asks by ascending price, each price once. */
export type OrderBook = {
  readonly tickerId: string;
  readonly message: string;
  /** When the host last updated it. */
  readonly time: Instant;
  readonly bids: readonly OrderBookEntry[];
  readonly asks: readonly OrderBookEntry[];
  readonly quality: OrderBookQuality;
};

/** How the host's response differs from the {@link OrderBook}. */
export type OrderBookQuality = {
  readonly wasSorted: boolean;
  readonly isCrossed: boolean;
  readonly entriesMerged: number;
  readonly entriesDropped: number;
  readonly timestampUnit: TimestampUnit;
};

/** Sorts both sides, merges equal prices, and notes what it changed. The specification does not define the order. */
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
 * @param depth the number of entries of both sides together, as listing sites count: 100 is 50 a side, an odd number is
 *   rounded up, 0 is all
 */
export function atDepth(book: OrderBook, depth: number): OrderBook {
  if (depth === 0) return book;

  const entries = Math.ceil(depth / 2);
  return { ...book, bids: book.bids.slice(0, entries), asks: book.asks.slice(0, entries) };
}

/** The highest bid; `undefined` without bids. */
export function bestBid(book: OrderBook): number | undefined {
  return book.bids[0]?.price;
}

/** The lowest ask; `undefined` without asks. */
export function bestAsk(book: OrderBook): number | undefined {
  return book.asks[0]?.price;
}

/** The mean of the best bid and the best ask; `undefined` if a side is empty. */
export function midPrice(book: OrderBook): number | undefined {
  const bid = bestBid(book);
  const ask = bestAsk(book);
  return bid === undefined || ask === undefined ? undefined : (bid + ask) / 2;
}

/** The best ask minus the best bid, negative for a crossed book; `undefined` if a side is empty. */
export function spread(book: OrderBook): number | undefined {
  const bid = bestBid(book);
  const ask = bestAsk(book);
  return bid === undefined || ask === undefined ? undefined : ask - bid;
}

type Comparison = (a: number, b: number) => number;

/** Best first, each price once. Quantities of one price are added in the order of the response. */
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
