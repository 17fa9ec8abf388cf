import type { BeaconHeight } from './beacon-height.ts';
import { hasPrice } from './pool-pair.ts';

/** The reserves of one pool after a height, in smallest units. */
export type Reserves = { readonly beaconHeight: BeaconHeight; readonly reserve1: bigint; readonly reserve2: bigint };

/** The same without the height. */
export type PoolReserves = Omit<Reserves, 'beaconHeight'>;

/** The reserves with the highest and the lowest ratio of reserve 1 to reserve 2, of several heights. */
export type RatioRange = { readonly high: Reserves; readonly low: Reserves };

/** What was traded of both tokens of a pool, in smallest units. */
export type Traded = { readonly traded1: bigint; readonly traded2: bigint };

/** No trade. */
export const NOTHING_TRADED: Traded = { traded1: 0n, traded2: 0n };

/**
 * Includes the reserves of one more height. Ratios are compared exactly, and of equal ones the first stays. A pool with an
 * empty side has no ratio: its reserves stay only until there are others.
 */
export function widenRange({ high, low }: RatioRange, reserves: Reserves): RatioRange {
  if (!hasPrice(reserves)) return { high, low };
  return {
    high: !hasPrice(high) || compareRatios(reserves, high) > 0n ? reserves : high,
    low: !hasPrice(low) || compareRatios(reserves, low) < 0n ? reserves : low,
  };
}

/**
 * What was traded between two heights of a pool: nothing if both reserves rose or fell, as when liquidity is added, or if the
 * pool did not exist at one of them.
 */
export function tradedBetween(before: PoolReserves | undefined, after: PoolReserves | undefined): Traded {
  if (before === undefined || after === undefined) return NOTHING_TRADED;
  const change1 = after.reserve1 - before.reserve1;
  const change2 = after.reserve2 - before.reserve2;
  const isTrade = (change1 > 0n && change2 < 0n) || (change1 < 0n && change2 > 0n);
  return isTrade ? { traded1: absolute(change1), traded2: absolute(change2) } : NOTHING_TRADED;
}

/** The sum of two traded amounts. */
export function addTraded(a: Traded, b: Traded): Traded {
  return { traded1: a.traded1 + b.traded1, traded2: a.traded2 + b.traded2 };
}

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

/** Positive if the ratio of reserve 1 to reserve 2 of `a` is higher than that of `b`, 0n if they are equal. */
function compareRatios(a: PoolReserves, b: PoolReserves): bigint {
  return a.reserve1 * b.reserve2 - b.reserve1 * a.reserve2;
}

function absolute(change: bigint): bigint {
  return change < 0n ? -change : change;
}
