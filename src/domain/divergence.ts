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

/** How far a price is from the pool's, in percent of the latter: positive if it is higher. `undefined` if one is missing, or 0. */
export function percentAbove(price: number | undefined, poolPrice: number | undefined): number | undefined {
  return percentChange(poolPrice, price);
}

/** The larger distance of the two prices from the pool's, in percent; `undefined` without both. */
export function maxPercent({ poolPrice, lastPrice, bookMidPrice }: Divergence): number | undefined {
  const percents = [percentAbove(lastPrice, poolPrice), percentAbove(bookMidPrice, poolPrice)];
  const known = percents.filter((percent) => percent !== undefined);
  return known.length === 0 ? undefined : Math.max(...known.map(Math.abs));
}
