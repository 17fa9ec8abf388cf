/** The bounds of a price; at least one is set. */
type PriceBounds = { readonly above?: number | undefined; readonly below?: number | undefined };

/** A price that crossed a bound. */
export type CrossedBound = {
  readonly bound: number;
  /** Whether the price rose above it; otherwise it fell below it. */
  readonly isAbove: boolean;
  readonly price: number;
  readonly previousPrice: number;
};

/** Which bound a price crossed: it was at the bound or on the other side before. `undefined` if it crossed none. */
export function crossedBound(
  previousPrice: number | undefined,
  price: number | undefined,
  { above, below }: PriceBounds,
): CrossedBound | undefined {
  if (previousPrice === undefined || price === undefined) return undefined;
  if (above !== undefined && previousPrice <= above && price > above)
    return { bound: above, isAbove: true, price, previousPrice };
  if (below !== undefined && previousPrice >= below && price < below)
    return { bound: below, isAbove: false, price, previousPrice };
  return undefined;
}
