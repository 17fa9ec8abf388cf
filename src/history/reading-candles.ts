import type { PoolCandle } from '../domain/candle.ts';
import type { PoolReserves } from '../domain/reserves.ts';
import { minutesOf, type Rollup, rollupOf, type Series, toReserves, toRollup } from './candle-rows.ts';
import { numberOf, type ReadSql, type Row } from './database.ts';
import { numbersOf } from './pool-states.ts';
import { heightAtOrBelow, originFact, type Read, readDeletedBefore, readFact } from './reading.ts';
import { type ReadInterval, readCandleRows, readIntervals } from './reading-intervals.ts';
import { readIntervalRollups } from './reading-windows.ts';
import { intervalsOf, versionOfPool } from './tables.ts';

/** See `HistoryStore.candles`. */
export const readCandles: Read<'candles'> = async (sql, query) => {
  const version = versionOfPool(query.poolIds[0]);
  const last = await heightAtOrBelow(sql, Number.MAX_SAFE_INTEGER, version);
  const to = await heightAtOrBelow(sql, query.upTo, version);
  const pools = [...(await numbersOf(sql, query.poolIds))];
  // The changes of deleted heights are deleted too: their candles cannot be cut.
  const canCut = to !== undefined && to.time >= (await readDeletedBefore(sql));
  const table = intervalsOf(version);
  const intervals = await readIntervals(sql, table, query, canCut);
  const [first] = intervals;
  if (first === undefined) return { recordedTo: last?.beaconHeight, value: new Map() };

  const numbers = pools.map(([, pool]) => pool);
  const series = { version, interval: query.interval };
  const rows = await readCandleRows(sql, table, query.interval, intervals, numbers);
  const carried = await readCarried(sql, series, first.opened, numbers);
  const newest = intervals.at(-1) ?? first;
  const cut = newest.isCut ? await readIntervalRollups(sql, numbers, series, newest) : [];

  const value = new Map<string, readonly PoolCandle[]>();
  for (const [index, [id]] of pools.entries()) {
    const candles = toCandles(intervals, rows[index] ?? [], cut[index], carried[index]);
    if (candles.length > 0) value.set(id, candles);
  }
  return { recordedTo: last?.beaconHeight, value };
};

/** The state of each pool before an interval; `undefined` if it did not exist, or if nothing is recorded before. */
async function readCarried(
  sql: ReadSql,
  { version, interval }: Series,
  opened: number,
  pools: readonly number[],
): Promise<readonly (PoolReserves | undefined)[]> {
  const before = await sql.each(
    'SELECT close1, close2 FROM candles WHERE minutes = $1 AND pool = $2 AND opened < $3 ORDER BY opened DESC LIMIT 1',
    pools.map((pool) => [minutesOf(interval), pool, opened]),
  );
  const origins = await sql.each(
    'SELECT base1, base2, origin1, origin2 FROM pools WHERE pool = $1',
    pools.map((pool) => [pool]),
  );
  const column = (await readFact(sql, originFact(version))) ? 'origin' : 'base';
  return pools.map((_, index) => toReserves(before[index]?.[0], 'close') ?? toReserves(origins[index]?.[0], column));
}

/** @param cut what happened to the pool in an interval that is cut @param carried the state of the pool before the intervals */
function toCandles(
  intervals: readonly ReadInterval[],
  rows: readonly Row[],
  cut: Rollup | undefined,
  carried: PoolReserves | undefined,
): readonly PoolCandle[] {
  const byOpened = new Map(rows.map((row) => [numberOf(row, 'opened'), row]));
  const candles: PoolCandle[] = [];
  let state = carried;
  for (const { opened, isCut, ...interval } of intervals) {
    const row = byOpened.get(opened);
    const unchanged = state && rollupOf({ ...state, beaconHeight: interval.firstHeight });
    const rollup = (isCut ? cut : row && toRollup(row, interval.firstHeight)) ?? unchanged;
    if (rollup === undefined) continue;
    const { hasAppeared: _, ...summary } = rollup;
    state = rollup.close;
    const close = { ...state, beaconHeight: interval.lastHeight };
    candles.push({ openTime: opened * 1000, ...interval, ...summary, close });
  }
  return candles;
}
