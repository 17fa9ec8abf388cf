import { percentChange } from './price-change.ts';

/** The price of a pair from its three sources, in target tokens per base token; `undefined` where a source has none. */
export type Divergence = {
  /** From the node's pool, by the documented formula. */
  readonly poolPrice: number | undefined;
  /** Of the last trade. */
  readonly lastPrice: number | undefined;
  /** The mean of the best bid and the best ask. */
  readonly bookMidPrice: number | undefined;
};

/** The larger distance of the two prices from the pool's, in percent; `undefined` without both. */
export function maxPercent({ poolPrice, lastPrice, bookMidPrice }: Divergence): number | undefined {
  const percents = [lastPrice, bookMidPrice].map((price) => percentChange(poolPrice, price));
  const known = percents.filter((percent) => percent !== undefined);
  return known.length === 0 ? undefined : Math.max(...known.map(Math.abs));
}
