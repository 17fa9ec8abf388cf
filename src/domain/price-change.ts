import type { BeaconHeight } from './beacon-height.ts';
import {
  addTraded,
  NOTHING_TRADED,
  type RatioRange,
  type Reserves,
  type Traded,
  tradedBetween,
  widenRange,
} from './reserves.ts';

/** What happened to one pool in a window of heights. */
export type PoolWindow = RatioRange & Traded & { readonly close: Reserves; readonly isComplete: boolean };

/** A window with the reserves of one more height. @param window `undefined` if the pool did not exist before */
export function extendWindow(window: PoolWindow | undefined, reserves: Reserves): PoolWindow {
  const before = window ?? { high: reserves, low: reserves, close: reserves, ...NOTHING_TRADED, isComplete: true };
  const traded = addTraded(before, tradedBetween(before.close, reserves));
  return { ...before, ...widenRange(before, reserves), close: reserves, ...traded };
}

/** Whether every height above `from` up to `to` is one of these ascending ones. */
export function areConsecutive(heights: readonly BeaconHeight[], from: BeaconHeight, to: BeaconHeight): boolean {
  return heights.length === to - from && heights.every((height, index) => height === from + 1 + index);
}

/** The difference of two prices. */
export function absoluteChange(from: number | undefined, to: number | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : to - from;
}

/** `100 * (to / from - 1)`; `undefined` if a price is missing or the first one is 0. */
export function percentChange(from: number | undefined, to: number | undefined): number | undefined {
  if (from === undefined || to === undefined || from === 0) return undefined;
  const percent = 100 * (to / from - 1);
  return Number.isFinite(percent) ? percent : undefined;
}

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
