import { toShortestDecimal, toSignificantDecimal } from './amount.ts';
import { addExact, compareExact, type ExactDecimal, parseExactDecimal, ZERO } from './exact-decimal.ts';
import {
  accumulate,
  exactPriceOf,
  exactQuantity,
  type Offer,
  type OrderBookEntry,
  type OrderedSides,
  type Sides,
  withQuantity,
} from './order-book.ts';
import { isMatchable, type PoolOrder, type SellingOrders, termsOf } from './pool-order.ts';

/** The open orders of a pool as an order book: bids by descending price and asks by ascending price, each price once. */
export type PoolBook = OrderedSides;

/** Which token of a pool has the prices and quantities of a book, and the decimals of the two. */
export type BookUnits = { readonly base: 1 | 2; readonly decimals1: number; readonly decimals2: number };

/** The significant digits of a price: as many as 64 bits always have, less one. */
const PRICE_DIGITS = 18;

/**
 * The order book of a pool. Orders that sell the base token are asks, those that sell the other one are bids. Prices are decimals
 * with up to 18 significant digits, and orders with the same price are merged. Orders that no trade can meet are left out.
 *
 * @param maxEntries the number of entries that are needed of each side, from the best one
 */
export function toPoolBook(
  { selling1, selling2 }: SellingOrders,
  units: BookUnits,
  maxEntries: number = Number.POSITIVE_INFINITY,
): PoolBook {
  const [asks, bids] = units.base === 1 ? [selling1, selling2] : [selling2, selling1];
  return { bids: toEntries(bids, units, maxEntries), asks: toEntries(asks, units, maxEntries) };
}

/** Token 1 per token 2 at which an order was placed, in whole tokens, as a decimal with up to 18 significant digits. */
export function orderPrice(order: PoolOrder, decimals1: number, decimals2: number): string {
  return priceOf(order, { base: 2, decimals1, decimals2 });
}

/** The entries of one side of a book. @param orders best first, so that those with the same price are next to each other */
function toEntries(orders: readonly PoolOrder[], units: BookUnits, maxEntries: number): OrderBookEntry[] {
  const levels: { readonly price: string; readonly of: PoolOrder; quantity: bigint }[] = [];
  for (const order of orders) {
    if (!isMatchable(order)) continue;
    const last = levels.at(-1);
    const price = last !== undefined && haveSameRate(last.of, order) ? last.price : priceOf(order, units);
    if (last?.price === price) last.quantity += quantityOf(order, units.base);
    else if (levels.length === maxEntries) break;
    else levels.push({ price, of: order, quantity: quantityOf(order, units.base) });
  }
  const decimals = units.base === 1 ? units.decimals1 : units.decimals2;
  return accumulate(levels.map(({ price, quantity }) => toOffer(price, toShortestDecimal(quantity, decimals))));
}

function haveSameRate(a: PoolOrder, b: PoolOrder): boolean {
  return a.rate1 * b.rate2 === b.rate1 * a.rate2;
}

function priceOf({ rate1, rate2 }: PoolOrder, { base, decimals1, decimals2 }: BookUnits): string {
  const whole1 = rate1 * 10n ** BigInt(decimals2);
  const whole2 = rate2 * 10n ** BigInt(decimals1);
  return base === 2
    ? toSignificantDecimal(whole1, whole2, PRICE_DIGITS)
    : toSignificantDecimal(whole2, whole1, PRICE_DIGITS);
}

/** What an order sells or buys of the base token, in its smallest unit: what it buys is rounded down. */
function quantityOf(order: PoolOrder, base: 1 | 2): bigint {
  const { sellRate, buyRate, left } = termsOf(order);
  return order.sells === base ? left : (left * buyRate) / sellRate;
}

function toOffer(priceText: string, quantityText: string): Offer {
  return { price: Number(priceText), quantity: Number(quantityText), priceText, quantityText };
}

/**
 * What is left of a book when the orders that cross are matched with each other: the highest bid with the lowest ask, until the
 * highest bid is below the lowest ask. Quantities are subtracted exactly. An order without a quantity above 0 is matched with
 * nothing, and removed where it crosses.
 */
export function uncross({ bids, asks }: Sides): Sides {
  const bid = createQueue(bids);
  const ask = createQueue(asks);
  while (doCross(bid.first(), ask.first())) {
    const order = compareExact(bid.left(), ask.left());
    const matched = order < 0 ? bid.left() : ask.left();
    bid.take(matched);
    ask.take(matched);
  }
  return { bids: bid.rest(), asks: ask.rest() };
}

function doCross(bid: Offer | undefined, ask: Offer | undefined): boolean {
  return bid !== undefined && ask !== undefined && compareExact(exactPriceOf(bid), exactPriceOf(ask)) >= 0;
}

/** One side from its best order on, of which a part may be matched already. */
function createQueue(offers: readonly Offer[]) {
  let index = 0;
  let left = amountOf(offers[0]);

  return {
    first: () => offers[index],
    left: () => left,
    take(quantity: ExactDecimal) {
      left = addExact(left, { ...quantity, units: -quantity.units });
      if (left.units > 0n) return;
      index += 1;
      left = amountOf(offers[index]);
    },
    rest: (): readonly Offer[] => {
      const [first, ...others] = offers.slice(index);
      if (first === undefined) return [];
      return [compareExact(amountOf(first), left) === 0 ? first : withQuantity(first, left), ...others];
    },
  };
}

/** The quantity of an order; 0 if it is not above 0. */
function amountOf(offer: Offer | undefined): ExactDecimal {
  const quantity = offer && parseExactDecimal(exactQuantity(offer));
  return quantity !== undefined && quantity.units > 0n ? quantity : ZERO;
}
