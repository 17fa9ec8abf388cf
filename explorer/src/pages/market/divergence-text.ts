import type { MarketDivergenceQuery } from './divergence.generated.ts';

type Divergence = NonNullable<NonNullable<MarketDivergenceQuery['pair']>['divergence']>;

/** A price that is compared with that of the pool, and how far it is from it in percent. */
type ComparedPrice = {
  readonly name: string;
  readonly price: number | null;
  readonly percent: number | null | undefined;
};

/** The prices of a pair, that of the pool first, and the largest distance from it in percent. */
type ComparedPrices = { readonly rows: readonly ComparedPrice[]; readonly maxPercent: number | null };

const BOOK = 'Middle of the book';

/**
 * The prices of a pair, and how far they are from that of the pool.
 *
 * @param isTraded whether the chain records trades of the pool, as in V3
 */
export function comparedPrices(divergence: Divergence, isTraded: boolean): ComparedPrices {
  const { poolPrice, lastPrice, lastPercent, tradedPrice, tradedPercent, bookMidPrice, bookPercent } = divergence;
  const others: ComparedPrice[] = [
    { name: isTraded ? 'Last trade, by the host' : 'Last trade', price: lastPrice, percent: lastPercent },
    ...(isTraded ? [{ name: 'Newest trade on the chain', price: tradedPrice, percent: tradedPercent }] : []),
    { name: BOOK, price: bookMidPrice, percent: bookPercent },
  ];
  const distances = others.flatMap(({ percent }) => (percent == null ? [] : [Math.abs(percent)]));
  return {
    rows: [{ name: 'Pool', price: poolPrice, percent: undefined }, ...others],
    maxPercent: distances.length === 0 ? null : Math.max(...distances),
  };
}

/** What the distances of the known prices from that of the pool mean for a trader. */
export function meaningOfDivergence({ rows, maxPercent }: ComparedPrices): string {
  if (maxPercent === null) return 'There is no other price to compare with the price of the pool.';
  const fartherThan = (percent: number) =>
    rows.filter((row) => row.percent != null && Math.abs(row.percent) >= percent);
  if (maxPercent < 0.5) {
    const names = fartherThan(0).map(({ name }) => name.replace(/,.*/, ''));
    const others = LIST.format(names.map((name, place) => (place === 0 ? name : name.toLowerCase())));
    return `${others} ${names.length === 1 ? 'is' : 'are'} within half a percent of the pool.`;
  }
  const oldTrade = 'The last trade is often older than the price of the pool.';
  if (maxPercent < 2) {
    const isOfBook = fartherThan(0.5).every(({ name }) => name === BOOK);
    return `The prices differ a little.${isOfBook ? '' : ` ${oldTrade}`}`;
  }
  if (maxPercent < 10) {
    const isOfBook = fartherThan(2).some(({ name }) => name === BOOK);
    return `The prices differ clearly. ${isOfBook ? 'The pool or the order book can be cheaper: compare both before a trade.' : oldTrade}`;
  }
  return 'The prices differ a lot. One of them is probably old, or the market has very few trades or tokens.';
}

/** Joins names: a, b and c. */
const LIST = new Intl.ListFormat('en-GB');
