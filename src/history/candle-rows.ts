import type { BeaconHeight } from '../domain/beacon-height.ts';
import { type CandleInterval, INTERVAL_MS, openTimeOf } from '../domain/candle.ts';
import type { Instant } from '../domain/instant.ts';
import type { ExchangeVersion } from '../domain/pool-pair.ts';
import type { PoolReserves, Reserves } from '../domain/reserves.ts';
import { amountOf, numberOf, type Row, type Value } from './database.ts';
import { areEqual, type Rollup } from './rollup.ts';

/** The intervals of one length with the heights of one version. */
export type Series = { readonly version: ExchangeVersion; readonly interval: CandleInterval };

/** A row of the intervals of a version. */
export type IntervalRow = {
  readonly opened: number;
  readonly firstHeight: BeaconHeight;
  readonly lastHeight: BeaconHeight;
  readonly heights: number;
};

/** All intervals of candles. */
export const CANDLE_INTERVALS = Object.keys(INTERVAL_MS) as readonly CandleInterval[];

/** The length of an interval in minutes. */
export function minutesOf(interval: CandleInterval): number {
  return INTERVAL_MS[interval] / 60_000;
}

/** When the interval began that contains an instant, as a Unix timestamp in seconds. */
export function openedAt(time: Instant, interval: CandleInterval): number {
  return openTimeOf(time, interval) / 1000;
}

/** Reads a row of the intervals of a version. */
export function toInterval(row: Row): IntervalRow {
  return {
    opened: numberOf(row, 'opened'),
    firstHeight: numberOf(row, 'first_height'),
    lastHeight: numberOf(row, 'last_height'),
    heights: numberOf(row, 'heights'),
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
