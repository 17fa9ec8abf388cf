import type { Book } from './order-book.ts';

/** The reserves of a pool, in whole tokens. */
type Reserves = { readonly base: number; readonly target: number };

/** A level of a side: what can be traded up to its price, of pool and book together. */
export type ExpectedLevel = {
  readonly price: number;
  readonly cumulativeQuantity: number;
  readonly cumulativeTotal: number;
};

/** How many levels a side has, and their distance in percent. */
type Steps = { readonly levels: number; readonly stepPercent: number };

/**
 * One side of a depth ladder, each level on its own: on the curve of the pool the product of the reserves is constant, so its
 * reserve of base tokens at a price is the root of the product divided by the price.
 */
export function expectedLevels(
  { base, target }: Reserves,
  book: Book,
  { levels, stepPercent }: Steps,
  side: 'bids' | 'asks',
): readonly ExpectedLevel[] {
  const middle = target / base;
  const sign = side === 'asks' ? 1 : -1;
  return Array.from({ length: levels }, (_, index) => {
    const price = middle * (1 + (sign * (index + 1) * stepPercent) / 100);
    const entries = book[side].filter((entry) => sign * (entry.price - price) <= 0);
    const sum = (amount: (entry: Book['bids'][number]) => number) =>
      entries.reduce((total, entry) => total + amount(entry), 0);
    return {
      price,
      cumulativeQuantity: sign * (base - Math.sqrt((base * target) / price)) + sum(({ quantity }) => quantity),
      cumulativeTotal:
        sign * (Math.sqrt(base * target * price) - target) + sum((entry) => entry.price * entry.quantity),
    };
  });
}
