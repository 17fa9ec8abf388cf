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
