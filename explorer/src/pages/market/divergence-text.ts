/** What the largest distance of two prices from that of the pool means for a trader, in percent. */
export function meaningOfDivergence(maxPercent: number | null): string {
  if (maxPercent === null) return 'There is nothing to compare the price of the pool with.';
  if (maxPercent < 0.5) return 'Pool, last trade and order book agree within half a percent.';
  if (maxPercent < 2)
    return 'The prices differ a little. Where prices move, the last trade is often older than the pool.';
  if (maxPercent < 10) {
    return 'The prices differ clearly: it can be cheaper to trade with one than with the other. Compare both before a trade.';
  }
  return 'The prices differ a lot. One of them is probably old, or belongs to a market with hardly any trades or tokens.';
}
