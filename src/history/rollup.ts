import type { BeaconHeight } from '../domain/beacon-height.ts';
import { isNonEmpty } from '../domain/pool-pair.ts';
import {
  addTraded,
  compareRatios,
  NOTHING_TRADED,
  type PoolReserves,
  type RatioRange,
  type Reserves,
  type Traded,
  tradedBetween,
} from '../domain/reserves.ts';

/** What happened to a pool over some consecutive recorded heights. */
export type Rollup = RatioRange &
  Traded & {
    /** The state after the first height, or after the first one at which the pool existed. */
    readonly open: Reserves;
    readonly close: PoolReserves;
    /** Whether a lower height is recorded at which the pool did not exist yet. */
    readonly hasAppeared: boolean;
  };

/** What one height adds: the state of a pool after it, and after the recorded heights next to it. */
export type AddedHeight = {
  readonly height: BeaconHeight;
  /** `undefined` while the pool does not exist. */
  readonly own: PoolReserves | undefined;
  readonly lower: Neighbour | undefined;
  readonly upper: Neighbour | undefined;
};

/** A recorded height next to the added one. */
type Neighbour = {
  readonly height: BeaconHeight;
  readonly state: PoolReserves | undefined;
  /** Whether its block was made in the same interval as that of the added height. */
  readonly isInside: boolean;
};

/** Whether two states of a pool are the same; a pool that does not exist has no state. */
export function areEqual(a: PoolReserves | undefined, b: PoolReserves | undefined): boolean {
  return a?.reserve1 === b?.reserve1 && a?.reserve2 === b?.reserve2;
}

/** The rollup of a single state. */
export function rollupOf(state: Reserves): Rollup {
  return { open: state, high: state, low: state, close: state, ...NOTHING_TRADED, hasAppeared: false };
}

/** Joins the rollups of two ranges of heights. The second range is above the first. */
export function joinRollups(first: Rollup | undefined, second: Rollup): Rollup {
  if (first === undefined) return second;
  return {
    open: first.open,
    high: higherOf(first.high, second.high),
    low: lowerOf(first.low, second.low),
    close: second.close,
    ...addTraded(first, second),
    hasAppeared: first.hasAppeared,
  };
}

/** The rollup with a change from one state to the next: what it traded. */
export function withTrade(rollup: Rollup, from: PoolReserves | undefined, to: PoolReserves | undefined): Rollup {
  return { ...rollup, ...addTraded(rollup, tradedBetween(from, to)) };
}

/**
 * The rollup of the interval of the added height.
 *
 * @param rollup `undefined` if the pool has not changed in the interval
 * @param firstHeight the first height of the interval so far
 */
export function addToOwnInterval(
  rollup: Rollup | undefined,
  { height, own, lower, upper }: AddedHeight,
  firstHeight: BeaconHeight,
): Rollup | undefined {
  const lowerInside = lower?.isInside ? lower.state : undefined;
  const upperInside = upper?.isInside ? upper.state : undefined;
  const unchanged =
    (lowerInside && { ...lowerInside, beaconHeight: firstHeight }) ??
    (upper && upperInside && { ...upperInside, beaconHeight: upper.height });
  const before = rollup ?? (unchanged && rollupOf(unchanged));
  // The pool appears at the upper height.
  if (own === undefined) return upperInside && before ? { ...before, hasAppeared: true } : rollup;

  const state = { ...own, beaconHeight: height };
  const isFirst = lowerInside === undefined;
  const joined: Rollup = {
    ...rollupOf(state),
    ...before,
    ...(isFirst && { open: state, hasAppeared: lower !== undefined && lower.state === undefined }),
    high: higherOf(before?.high ?? state, state),
    low: lowerOf(before?.low ?? state, state),
    close: upper?.isInside && before ? before.close : own,
  };
  const traded = withTrade(joined, lower?.state, own);
  return upper?.isInside ? withSplitTrade(traded, lower?.state, own, upper.state) : traded;
}

/**
 * The rollup of the interval of the upper height, if that is another one.
 *
 * @param rollup `undefined` if the pool has not changed in the interval
 */
export function addBelowInterval(rollup: Rollup | undefined, { own, lower, upper }: AddedHeight): Rollup | undefined {
  if (upper?.state === undefined || (rollup === undefined && areEqual(own, upper.state))) return rollup;
  const before = rollup ?? rollupOf({ ...upper.state, beaconHeight: upper.height });
  return { ...withSplitTrade(before, lower?.state, own, upper.state), hasAppeared: own === undefined };
}

/** The rollup after the change from `from` to `to` became two changes, of which it contains the second. */
function withSplitTrade(
  rollup: Rollup,
  from: PoolReserves | undefined,
  between: PoolReserves | undefined,
  to: PoolReserves | undefined,
): Rollup {
  const added = withTrade(rollup, between, to);
  const { traded1, traded2 } = tradedBetween(from, to);
  return { ...added, traded1: added.traded1 - traded1, traded2: added.traded2 - traded2 };
}

function higherOf(a: Reserves, b: Reserves): Reserves {
  return preferred(a, b, compareRatios(a, b));
}

function lowerOf(a: Reserves, b: Reserves): Reserves {
  return preferred(a, b, compareRatios(b, a));
}

/** The one with a price, then the one that is better by `order`, then the lower height. */
function preferred(a: Reserves, b: Reserves, order: bigint): Reserves {
  const [aHasPrice, bHasPrice] = [isNonEmpty(a), isNonEmpty(b)];
  if (aHasPrice !== bHasPrice) return aHasPrice ? a : b;
  if (aHasPrice && order !== 0n) return order > 0n ? a : b;
  return a.beaconHeight <= b.beaconHeight ? a : b;
}
