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
