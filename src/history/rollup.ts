import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { RecordedReserves } from './store.ts';

/** The reserves of a pool, in smallest units. */
export type Reserves = Pick<RecordedReserves, 'reserve1' | 'reserve2'>;

/** What happened to a pool over some consecutive recorded heights. */
export type Rollup = {
  /** The state after the first height, or after the first one at which the pool existed. */
  readonly open: RecordedReserves;
  readonly high: RecordedReserves;
  readonly low: RecordedReserves;
  readonly close: Reserves;
  readonly traded1: bigint;
  readonly traded2: bigint;
  /** Whether a lower height is recorded at which the pool did not exist yet. */
  readonly hasAppeared: boolean;
};

/** What one height adds: the state of a pool after it, and after the recorded heights next to it. */
export type AddedHeight = {
  readonly height: BeaconHeight;
  /** `undefined` while the pool does not exist. */
  readonly own: Reserves | undefined;
  readonly lower: Neighbour | undefined;
  readonly upper: Neighbour | undefined;
};

/** A recorded height next to the added one. */
type Neighbour = {
  readonly height: BeaconHeight;
  readonly state: Reserves | undefined;
  /** Whether its block was made in the same interval as that of the added height. */
  readonly isInside: boolean;
};

/** Whether two states of a pool are the same; a pool that does not exist has no state. */
export function areEqual(a: Reserves | undefined, b: Reserves | undefined): boolean {
  return a?.reserve1 === b?.reserve1 && a?.reserve2 === b?.reserve2;
}

/** The rollup of a single state. */
export function rollupOf(state: RecordedReserves): Rollup {
  return { open: state, high: state, low: state, close: state, traded1: 0n, traded2: 0n, hasAppeared: false };
}

/** Joins the rollups of two ranges of heights. The second range is above the first. */
export function joinRollups(first: Rollup | undefined, second: Rollup): Rollup {
  if (first === undefined) return second;
  return {
    open: first.open,
    high: higherOf(first.high, second.high),
    low: lowerOf(first.low, second.low),
    close: second.close,
    traded1: first.traded1 + second.traded1,
    traded2: first.traded2 + second.traded2,
    hasAppeared: first.hasAppeared,
  };
}

/** The rollup with a change from one state to the next: what it traded. */
export function withTrade(rollup: Rollup, from: Reserves | undefined, to: Reserves | undefined): Rollup {
  const traded = tradedBetween(from, to);
  return { ...rollup, traded1: rollup.traded1 + traded.reserve1, traded2: rollup.traded2 + traded.reserve2 };
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
  from: Reserves | undefined,
  between: Reserves | undefined,
  to: Reserves | undefined,
): Rollup {
  const added = withTrade(rollup, between, to);
  const { reserve1, reserve2 } = tradedBetween(from, to);
  return { ...added, traded1: added.traded1 - reserve1, traded2: added.traded2 - reserve2 };
}

/** What a change traded, at least: its net, if one reserve rose and the other one fell. */
function tradedBetween(from: Reserves | undefined, to: Reserves | undefined): Reserves {
  if (from === undefined || to === undefined) return NOTHING;
  const change1 = to.reserve1 - from.reserve1;
  const change2 = to.reserve2 - from.reserve2;
  if (change1 > 0n && change2 < 0n) return { reserve1: change1, reserve2: -change2 };
  if (change1 < 0n && change2 > 0n) return { reserve1: -change1, reserve2: change2 };
  return NOTHING;
}

const NOTHING: Reserves = { reserve1: 0n, reserve2: 0n };

function higherOf(a: RecordedReserves, b: RecordedReserves): RecordedReserves {
  return preferred(a, b, compareRatios(a, b));
}

function lowerOf(a: RecordedReserves, b: RecordedReserves): RecordedReserves {
  return preferred(a, b, compareRatios(b, a));
}

/** The one with a price, then the one that is better by `order`, then the lower height. */
function preferred(a: RecordedReserves, b: RecordedReserves, order: bigint): RecordedReserves {
  const [aHasPrice, bHasPrice] = [hasPrice(a), hasPrice(b)];
  if (aHasPrice !== bHasPrice) return aHasPrice ? a : b;
  if (aHasPrice && order !== 0n) return order > 0n ? a : b;
  return a.beaconHeight <= b.beaconHeight ? a : b;
}

function hasPrice({ reserve1, reserve2 }: Reserves): boolean {
  return reserve1 > 0n && reserve2 > 0n;
}

/** Positive if the ratio of reserve 1 to reserve 2 of the first is higher. Products of 128 bits are exact. */
function compareRatios(a: Reserves, b: Reserves): bigint {
  return a.reserve1 * b.reserve2 - b.reserve1 * a.reserve2;
}
