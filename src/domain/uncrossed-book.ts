import { addExact, compareExact, type ExactDecimal, formatExactDecimal, parseExactDecimal } from './exact-decimal.ts';
import { exactPriceOf, exactQuantity, type Offer, type Sides } from './order-book.ts';

/**
 * What is left of a book when the orders that cross are matched with each other: the highest bid with the lowest ask, until the
 * highest bid is below the lowest ask. Quantities are subtracted exactly. An order without a quantity above 0 is matched with
 * nothing, and removed where it crosses.
 */
export function uncross({ bids, asks }: Sides): Sides {
  const bid = createQueue(bids);
  const ask = createQueue(asks);
  while (doCross(bid.price(), ask.price())) {
    const order = compareExact(bid.left(), ask.left());
    const matched = order < 0 ? bid.left() : ask.left();
    bid.take(matched);
    ask.take(matched);
  }
  return { bids: bid.rest(), asks: ask.rest() };
}

function doCross(bid: ExactDecimal | undefined, ask: ExactDecimal | undefined): boolean {
  return bid !== undefined && ask !== undefined && compareExact(bid, ask) >= 0;
}

/** One side from its best order on, of which a part may be matched already. */
function createQueue(offers: readonly Offer[]) {
  let index = 0;
  let left = quantityOf(offers[0]);

  return {
    price: () => {
      const offer = offers[index];
      return offer && exactPriceOf(offer);
    },
    left: () => left,
    take(quantity: ExactDecimal) {
      left = addExact(left, { ...quantity, units: -quantity.units });
      if (left.units > 0n) return;
      index += 1;
      left = quantityOf(offers[index]);
    },
    rest: (): readonly Offer[] => {
      const [first, ...others] = offers.slice(index);
      return first === undefined ? [] : [withQuantity(first, left), ...others];
    },
  };
}

const ZERO: ExactDecimal = { units: 0n, scale: 0 };

/** The quantity of an order; 0 if it is not above 0. */
function quantityOf(offer: Offer | undefined): ExactDecimal {
  const quantity = offer && parseExactDecimal(exactQuantity(offer));
  return quantity !== undefined && quantity.units > 0n ? quantity : ZERO;
}

/** The same offer if it has that quantity. */
function withQuantity(offer: Offer, quantity: ExactDecimal): Offer {
  if (compareExact(quantityOf(offer), quantity) === 0) return offer;
  const quantityText = formatExactDecimal(quantity);
  return { ...offer, quantity: Number(quantityText), quantityText };
}
