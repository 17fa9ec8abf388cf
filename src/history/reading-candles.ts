import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ExchangeVersion } from '../domain/pool-pair.ts';
import type { PoolReserves } from '../domain/reserves.ts';
import {
  type IntervalRow,
  minutesOf,
  type Rollup,
  rollupOf,
  type Series,
  toInterval,
  toReserves,
  toRollup,
} from './candle-rows.ts';
import { numberOf, type ReadSql, type Row } from './database.ts';
import { numbersOf } from './pool-states.ts';
import { hasOrigin, heightAtOrBelow, INTERVAL_COLUMNS, readDeletedBefore } from './reading.ts';
import { readCandleRows, readIntervalRollups } from './reading-windows.ts';
import type { CandleQuery, Recorded, RecordedHeight, StoredCandle } from './store.ts';
import { intervalsOf, toVersionNumber, versionOfPool } from './tables.ts';

/** An interval of a result; `isCut` if it has heights that do not count. */
type ReadInterval = IntervalRow & { readonly isCut: boolean; readonly isComplete: boolean };

/** See `HistoryStore.candles`. */
export async function readCandles(
  sql: ReadSql,
  query: CandleQuery,
): Promise<Recorded<ReadonlyMap<string, readonly StoredCandle[]>>> {
  const version = versionOfPool(query.poolIds[0]);
  const last = await heightAtOrBelow(sql, Number.MAX_SAFE_INTEGER, version);
  const to = await heightAtOrBelow(sql, query.upTo, version);
  const pools = [...(await numbersOf(sql, query.poolIds))];
  const intervals = last === undefined ? [] : await readIntervals(sql, { ...query, version }, to, last);
  const [first] = intervals;
  if (first === undefined) return { recordedTo: last?.beaconHeight, value: new Map() };

  const numbers = pools.map(([, pool]) => pool);
  const series = { version, interval: query.interval };
  const rows = await readCandleRows(sql, query.interval, intervals, numbers);
  const carried = await readCarried(sql, series, first.opened, numbers);
  const newest = intervals.at(-1) ?? first;
  const cut = newest.isCut ? await readIntervalRollups(sql, numbers, series, newest) : [];

  const value = new Map<string, readonly StoredCandle[]>();
  for (const [index, [id]] of pools.entries()) {
    const own = { rows: rows[index] ?? [], carried: carried[index], cut: cut[index] };
    const candles = toCandles(intervals, own);
    if (candles.length > 0) value.set(id, candles);
  }
  return { recordedTo: last?.beaconHeight, value };
}

/** The intervals of a query, oldest first. */
async function readIntervals(
  sql: ReadSql,
  { version, interval, from, to, upTo, last }: CandleQuery & { readonly version: ExchangeVersion },
  newest: RecordedHeight | undefined,
  recordedTo: RecordedHeight,
): Promise<readonly ReadInterval[]> {
  const minutes = minutesOf(interval);
  const table = intervalsOf(version).name;
  // The changes of earlier heights are deleted: their candles cannot be cut.
  const canCut = newest !== undefined && newest.time >= (await readDeletedBefore(sql));
  const rows = await sql.all(
    `SELECT ${INTERVAL_COLUMNS} FROM ${table} WHERE minutes = $1 AND opened >= $2 AND opened < $3 AND heights > 0 AND ${canCut ? 'first_height' : 'last_height'} <= $4 ORDER BY opened DESC LIMIT $5`,
    ...[minutes, from === undefined ? 0 : Math.ceil(from / 1000), to === undefined ? MAX_OPENED : Math.ceil(to / 1000)],
    ...[upTo, last],
  );
  const found = rows.map(toInterval).reverse();
  const [oldest] = found;
  if (oldest === undefined) return [];

  const neighbour = (condition: string) =>
    `SELECT ${INTERVAL_COLUMNS} FROM ${table} WHERE minutes = $1 AND opened ${condition} LIMIT 1`;
  const before = await sql.all(neighbour('< $2 ORDER BY opened DESC'), minutes, oldest.opened);
  const after = await sql.all(neighbour('> $2 ORDER BY opened'), minutes, found.at(-1)?.opened ?? 0);
  const all = [...before.map(toInterval), ...found, ...after.map(toInterval)];
  const offset = before.length;
  const intervals: ReadInterval[] = [];
  for (const [index, row] of found.entries()) {
    const isCut = row.lastHeight > upTo;
    const own = isCut ? await cutInterval(sql, version, row, newest?.beaconHeight ?? row.firstHeight) : row;
    const isFollowed =
      own.lastHeight === upTo ||
      own.lastHeight === recordedTo.beaconHeight ||
      (!isCut && all[index + offset + 1]?.firstHeight === own.lastHeight + 1);
    const isPreceded = own.firstHeight === 1 || all[index + offset - 1]?.lastHeight === own.firstHeight - 1;
    const isWhole = own.heights === own.lastHeight - own.firstHeight + 1;
    intervals.push({ ...own, isCut, isComplete: isWhole && isPreceded && isFollowed });
  }
  return intervals;
}

const MAX_OPENED = 2 ** 40;

/** An interval up to one of its recorded heights. */
export async function cutInterval(
  sql: ReadSql,
  version: ExchangeVersion,
  row: IntervalRow,
  lastHeight: BeaconHeight,
): Promise<IntervalRow> {
  const [count] = await sql.all(
    'SELECT COUNT(*) AS heights FROM heights WHERE version = $1 AND height >= $2 AND height <= $3',
    toVersionNumber(version),
    row.firstHeight,
    lastHeight,
  );
  return { ...row, lastHeight, heights: numberOf(count, 'heights') };
}

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
  const missing = pools.filter((_, index) => before[index]?.length === 0);
  const origins = await sql.each(
    'SELECT base1, base2, origin1, origin2 FROM pools WHERE pool = $1',
    missing.map((pool) => [pool]),
  );
  const column = (await hasOrigin(sql, version)) ? 'origin' : 'base';
  const originOf = new Map(missing.map((pool, index) => [pool, toReserves(origins[index]?.[0], column)]));
  return pools.map((pool, index) => toReserves(before[index]?.[0], 'close') ?? originOf.get(pool));
}

type PoolRows = {
  readonly rows: readonly Row[];
  readonly carried: PoolReserves | undefined;
  readonly cut: Rollup | undefined;
};

function toCandles(intervals: readonly ReadInterval[], { rows, carried, cut }: PoolRows): readonly StoredCandle[] {
  const byOpened = new Map(rows.map((row) => [numberOf(row, 'opened'), row]));
  const candles: StoredCandle[] = [];
  let state = carried;
  for (const interval of intervals) {
    const row = byOpened.get(interval.opened);
    const unchanged = state && rollupOf({ ...state, beaconHeight: interval.firstHeight });
    const rollup = (interval.isCut ? cut : row && toRollup(row, interval.firstHeight)) ?? unchanged;
    if (rollup === undefined) continue;
    state = rollup.close;
    candles.push(toStoredCandle(interval, rollup));
  }
  return candles;
}

function toStoredCandle(
  { opened, firstHeight, lastHeight, heights, isComplete }: ReadInterval,
  { open, high, low, close, traded1, traded2 }: Rollup,
): StoredCandle {
  return {
    openTime: opened * 1000,
    ...{ open, high, low, close: { ...close, beaconHeight: lastHeight } },
    ...{ traded1, traded2, firstHeight, lastHeight, heights, isComplete },
  };
}
