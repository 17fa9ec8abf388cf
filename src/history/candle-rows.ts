import type { BeaconHeight } from '../domain/beacon-height.ts';
import { type CandleInterval, INTERVAL_MS, openTimeOf } from '../domain/candle.ts';
import type { Instant } from '../domain/instant.ts';
import type { ExchangeVersion } from '../domain/pool-pair.ts';
import {
  addTraded,
  NOTHING_TRADED,
  type PoolReserves,
  type RatioRange,
  type Reserves,
  type Traded,
  widenRange,
} from '../domain/reserves.ts';
import { amountOf, numberOf, type Row, type Value } from './database.ts';

/** The intervals of one length with the heights of one version. */
export type Series = { readonly version: ExchangeVersion; readonly interval: CandleInterval };

/** All intervals of candles. */
export const CANDLE_INTERVALS = Object.keys(INTERVAL_MS) as readonly CandleInterval[];

/** The length of an interval in minutes. */
export function minutesOf(interval: CandleInterval): number {
  return INTERVAL_MS[interval] / 60_000;
}

/** When the interval began that contains an instant, as a Unix timestamp in seconds. */
export function openedSeconds(time: Instant, interval: CandleInterval): number {
  return openTimeOf(time, interval) / 1000;
}

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
    ...widenRange(widenRange(first, second.high), second.low),
    close: second.close,
    ...addTraded(first, second),
    hasAppeared: first.hasAppeared,
  };
}

/** Reads the pair of columns with these reserves; `undefined` if they are null. */
export function toReserves(row: Row | undefined, column: string): PoolReserves | undefined {
  const reserve1 = amountOf(row, `${column}1`);
  const reserve2 = amountOf(row, `${column}2`);
  return reserve1 === undefined || reserve2 === undefined ? undefined : { reserve1, reserve2 };
}

/** Reads a row of CANDLES. @param firstHeight the first height of its interval */
export function toRollup(row: Row, firstHeight: BeaconHeight): Rollup {
  const close = toReserves(row, 'close') ?? EMPTY;
  const hasAppeared = row['appeared'] !== null;
  const open = {
    ...(toReserves(row, 'open') ?? EMPTY),
    beaconHeight: hasAppeared ? numberOf(row, 'appeared') : firstHeight,
  };
  const stateOf = (column: string): Reserves =>
    row[column] === null ? open : { ...(toReserves(row, column) ?? close), beaconHeight: numberOf(row, column) };
  return {
    open,
    high: stateOf('high'),
    low: stateOf('low'),
    close,
    traded1: amountOf(row, 'traded1') ?? 0n,
    traded2: amountOf(row, 'traded2') ?? 0n,
    hasAppeared,
  };
}

const EMPTY: PoolReserves = { reserve1: 0n, reserve2: 0n };

/** Writes a row of CANDLES. */
export function fromRollup(minutes: number, pool: number, opened: number, rollup: Rollup): readonly Value[] {
  const { open, high, low, close, traded1, traded2, hasAppeared } = rollup;
  const columnsOf = (state: Reserves): readonly Value[] => {
    if (state.beaconHeight === open.beaconHeight) return [null, null, null];
    if (areEqual(state, close)) return [state.beaconHeight, null, null];
    return [state.beaconHeight, state.reserve1, state.reserve2];
  };
  return [
    ...[minutes, pool, opened, hasAppeared ? open.beaconHeight : null, open.reserve1, open.reserve2],
    ...columnsOf(high),
    ...columnsOf(low),
    ...[close.reserve1, close.reserve2, traded1, traded2],
  ];
}
