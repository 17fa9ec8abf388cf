import {
  addExact,
  compareExact,
  type ExactDecimal,
  formatExactDecimal,
  parseExactDecimal,
  roundToMultiple,
  toExactDecimal,
} from './exact-decimal.ts';
import { type Instant, type TimestampUnit, timestampUnit, toInstant } from './instant.ts';

/** An entry of one side, as the host sends it. */
export type Offer = {
  readonly price: number;
  readonly quantity: number;
  /** The price as an exact decimal; `undefined` if that is the shortest text of {@link price}. */
  readonly priceText?: string | undefined;
  /** The same of the quantity. */
  readonly quantityText?: string | undefined;
};

/** The response of the market-data host for one ticker, not sorted yet. */
export type RawOrderBook = Sides & {
  readonly tickerId: string;
  readonly message: string;
  /** Unix time, in a unit that its magnitude shows: see `toInstant`. */
  readonly timestamp: number;
  /** How many entries of the response could not be read. */
  readonly entriesDropped: number;
};

/** An entry of one side, with the totals of it and of all better entries. */
export type OrderBookEntry = Offer & {
  readonly cumulativeQuantity: number;
  /** In target tokens: the sum of prices times quantities. */
  readonly cumulativeTotal: number;
};

/** The two sides of an order book, best first unless they are as the host sent them. */
export type Sides = { readonly bids: readonly Offer[]; readonly asks: readonly Offer[] };

/** Bids by descending price and asks by ascending price, each price once, with totals. Two prices are equal if their decimals are. */
export type OrderedSides = { readonly bids: readonly OrderBookEntry[]; readonly asks: readonly OrderBookEntry[] };

/** The order book of a ticker. */
export type OrderBook = OrderedSides & {
  readonly tickerId: string;
  readonly message: string;
  /** When the host last updated it. */
  readonly time: Instant;
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
  const bids = toSide(raw.bids, -1);
  const asks = toSide(raw.asks, 1);

  return {
    tickerId: raw.tickerId,
    message: raw.message,
    time: toInstant(raw.timestamp),
    bids,
    asks,
    quality: {
      wasSorted: isSorted(raw.bids, -1) && isSorted(raw.asks, 1),
      isCrossed: isCrossed({ bids, asks }),
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
export function atDepth<Book extends Sides>(book: Book, depth: number): Book {
  if (depth === 0) return book;

  const entries = Math.ceil(depth / 2);
  return { ...book, bids: book.bids.slice(0, entries), asks: book.asks.slice(0, entries) };
}

/** The mean of the best bid and the best ask; `undefined` if a side is empty. */
export function midPrice({ bids: [bid], asks: [ask] }: Sides): number | undefined {
  return bid && ask && (bid.price + ask.price) / 2;
}

/** The best ask minus the best bid, negative for a crossed book; `undefined` if a side is empty. */
export function spread({ bids: [bid], asks: [ask] }: Sides): number | undefined {
  return bid && ask && ask.price - bid.price;
}

/** Whether the best bid is above the best ask. */
export function isCrossed({ bids: [bid], asks: [ask] }: Sides): boolean {
  return bid !== undefined && ask !== undefined && compareExact(exactPriceOf(bid), exactPriceOf(ask)) > 0;
}

/** The price of an entry as an exact decimal, as the host wrote it unless entries were merged. */
export function exactPrice({ price, priceText }: Offer): string {
  return priceText ?? String(price);
}

/** The quantity of an entry as an exact decimal, as the host wrote it unless entries were merged. */
export function exactQuantity({ quantity, quantityText }: Offer): string {
  return quantityText ?? String(quantity);
}

/**
 * The book with its prices rounded to multiples of a step, bids down and asks up, and merged where they are equal then.
 *
 * @param maxEntries the number of entries that are needed of each side, from the best one
 */
export function groupBook(book: OrderBook, step: ExactDecimal, maxEntries: number): OrderBook {
  return {
    ...book,
    bids: groupSide(book.bids, step, 'DOWN', maxEntries),
    asks: groupSide(book.asks, step, 'UP', maxEntries),
  };
}

/** 1 for ascending prices, as asks have them, and -1 for descending ones. */
type Direction = 1 | -1;

/** Best first, each price once. Quantities of one price are added in the order of the response. */
function toSide(offers: readonly Offer[], direction: Direction): OrderBookEntry[] {
  const levels: Offer[] = [];
  for (const offer of offers.toSorted((a, b) => direction * comparePrices(a, b))) {
    const last = levels.at(-1);
    if (last !== undefined && comparePrices(last, offer) === 0) levels.splice(-1, 1, merge(last, offer));
    else levels.push(offer);
  }
  return accumulate(levels);
}

function merge(offer: Offer, other: Offer): Offer {
  return withQuantity(offer, addExact(quantityOf(offer), quantityOf(other)), offer.quantity + other.quantity);
}

/** The entries with the totals of each and of all before it. */
export function accumulate(offers: readonly Offer[]): OrderBookEntry[] {
  let cumulativeQuantity = 0;
  let cumulativeTotal = 0;
  return offers.map(({ price, quantity, priceText, quantityText }) => {
    cumulativeQuantity += quantity;
    cumulativeTotal += price * quantity;
    return { price, quantity, priceText, quantityText, cumulativeQuantity, cumulativeTotal };
  });
}

function groupSide(
  entries: readonly OrderBookEntry[],
  step: ExactDecimal,
  direction: 'DOWN' | 'UP',
  maxEntries: number,
): OrderBookEntry[] {
  const groups: { readonly price: ExactDecimal; readonly members: [Offer, ...Offer[]] }[] = [];
  for (const entry of entries) {
    const price = roundToMultiple(exactPriceOf(entry), step, direction);
    const last = groups.at(-1);
    if (last !== undefined && compareExact(last.price, price) === 0) last.members.push(entry);
    else if (groups.length === maxEntries) break;
    else groups.push({ price, members: [entry] });
  }
  return accumulate(groups.map(({ price, members }) => mergeGroup(price, members)));
}

function mergeGroup(price: ExactDecimal, [first, ...others]: readonly [Offer, ...Offer[]]): Offer {
  if (others.length === 0 && compareExact(exactPriceOf(first), price) === 0) return first;

  const number = Number(formatExactDecimal(price));
  const rounded = { ...first, price: number, priceText: exactText(number, price) };
  if (others.length === 0) return rounded;
  const sum = others.reduce((total, other) => addExact(total, quantityOf(other)), quantityOf(first));
  return withQuantity(rounded, sum);
}

/** The offer with another quantity. */
export function withQuantity(offer: Offer, exact: ExactDecimal, quantity = Number(formatExactDecimal(exact))): Offer {
  return { ...offer, quantity, quantityText: exactText(quantity, exact) };
}

/** The text of an exact decimal; `undefined` if it is the shortest text of that number. */
function exactText(number: number, exact: ExactDecimal): string | undefined {
  const text = formatExactDecimal(exact);
  return text === String(number) ? undefined : text;
}

/** Different decimals can be the same double. If their doubles differ, the decimals differ in the same direction. */
function comparePrices(a: Offer, b: Offer): number {
  const byNumber = a.price - b.price;
  return byNumber || a.priceText === b.priceText ? byNumber : compareExact(exactPriceOf(a), exactPriceOf(b));
}

/** The price of an entry as an exact number. */
export function exactPriceOf(offer: Offer): ExactDecimal {
  return parseExactDecimal(exactPrice(offer)) ?? toExactDecimal(offer.price);
}

function quantityOf(offer: Offer): ExactDecimal {
  return parseExactDecimal(exactQuantity(offer)) ?? toExactDecimal(offer.quantity);
}

function isSorted(offers: readonly Offer[], direction: Direction): boolean {
  return offers.every((offer, index) => {
    const previous = offers[index - 1];
    return previous === undefined || direction * (previous.price - offer.price) <= 0;
  });
}
