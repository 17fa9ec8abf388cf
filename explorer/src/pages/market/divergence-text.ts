import type { MarketDivergenceQuery } from './divergence.generated.ts';

type Divergence = NonNullable<NonNullable<MarketDivergenceQuery['pair']>['divergence']>;

/** A price that is compared with that of the pool, and how far it is from it in percent. */
type ComparedPrice = {
  readonly name: string;
  readonly price: number | null;
  readonly percent: number | null | undefined;
};

/**
 * The prices of a pair, that of the pool first, and the largest distance from it in percent.
 *
 * @param isTraded whether the chain records trades of the pool, as in V3
 */
export function comparedPrices(
  divergence: Divergence,
  isTraded: boolean,
): { readonly rows: readonly ComparedPrice[]; readonly maxPercent: number | null } {
  const { poolPrice, lastPrice, lastPercent, tradedPrice, tradedPercent, bookMidPrice, bookPercent } = divergence;
  const others: ComparedPrice[] = [
    { name: isTraded ? 'Last trade, by the host' : 'Last trade', price: lastPrice, percent: lastPercent },
    ...(isTraded ? [{ name: 'Newest trade on the chain', price: tradedPrice, percent: tradedPercent }] : []),
    { name: 'Middle of the book', price: bookMidPrice, percent: bookPercent },
  ];
  const distances = others.flatMap(({ percent }) => (percent == null ? [] : [Math.abs(percent)]));
  return {
    rows: [{ name: 'Pool', price: poolPrice, percent: undefined }, ...others],
    maxPercent: distances.length === 0 ? null : Math.max(...distances),
  };
}

/** What the largest distance of two prices from that of the pool means for a trader, in percent. */
export function meaningOfDivergence(maxPercent: number | null): string {
  if (maxPercent === null) return 'There is no other price to compare with the price of the pool.';
  if (maxPercent < 0.5) return 'Pool, last trade and order book agree within half a percent.';
  if (maxPercent < 2) return 'The prices differ a little. The last trade is often older than the price of the pool.';
  if (maxPercent < 10) {
    return 'The prices differ clearly. The pool or the order book can be cheaper: compare both before a trade.';
  }
  return 'The prices differ a lot. One of them is probably old, or the market has very few trades or tokens.';
}
