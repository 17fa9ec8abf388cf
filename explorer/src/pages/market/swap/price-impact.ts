/** How much a trade moves the price against the trader. */
type ImpactLevel = 'low' | 'noticeable' | 'high' | 'very high';

/** The level of a price impact in percent. */
export function impactLevel(percent: number): ImpactLevel {
  if (percent < 1) return 'low';
  if (percent < 5) return 'noticeable';
  return percent < 15 ? 'high' : 'very high';
}

/** What a reader should know about a price impact. Nothing about a low one. */
export const IMPACT_WARNINGS: Readonly<Record<ImpactLevel, string | undefined>> = {
  low: undefined,
  noticeable: 'This trade is large for the pools on its route: its price is noticeably worse than the spot price.',
  high: 'This trade is very large for the pools on its route. Smaller trades get a much better price.',
  'very high': 'This trade loses a large part of its value, because it takes a large part of a pool on its route.',
};
