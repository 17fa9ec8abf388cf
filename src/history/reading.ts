import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { CandleInterval } from '../domain/candle.ts';
import { type ExchangeState, toPoolDirectory } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import type { ExchangeVersion } from '../domain/pool-pair.ts';
import type { Reserves } from '../domain/reserves.ts';
import { type IntervalRow, minutesOf, toInterval } from './candle-rows.ts';
import { numberOf, type ReadSql, type Row, type Table } from './database.ts';
import { numbersOf, readPools, statesOfPools } from './pool-states.ts';
import type { BlockAt, BlocksQuery, Coverage, RecordedHeight, ReservesQuery } from './store.ts';
import { toVersionNumber, VERSIONS, versionOfPool } from './tables.ts';

/** The fact before which time no height is recorded: those heights are deleted, and their candles are final. */
export const DELETED_BEFORE = 'deleted-before';

/** The fact that POOLS has the origins of the pools of a version. */
export function originFact(version: ExchangeVersion): string {
  return `has-origin-${version}`;
}

/** The columns of HEIGHTS that show a block. */
export const HEIGHT_COLUMNS = 'height, hash, time';

/** Reads a row of HEIGHTS. */
export function toRecordedHeight(row: Row): RecordedHeight {
  return {
    beaconHeight: numberOf(row, 'height'),
    hash: row['hash'] === null ? undefined : String(row['hash']),
    time: numberOf(row, 'time'),
  };
}

/** The newest recorded height at or below a height, of both versions or of one. */
export async function heightAtOrBelow(
  sql: ReadSql,
  height: BeaconHeight,
  version?: ExchangeVersion,
): Promise<RecordedHeight | undefined> {
  const condition = `height <= $1${andOf(version)} ORDER BY height DESC`;
  const query = `SELECT ${HEIGHT_COLUMNS} FROM heights WHERE ${condition} LIMIT 1`;
  return (await sql.all(query, height)).map(toRecordedHeight)[0];
}

/** The oldest recorded height at or above a height, of both versions or of one. */
export async function heightAtOrAbove(
  sql: ReadSql,
  height: BeaconHeight,
  version?: ExchangeVersion,
): Promise<RecordedHeight | undefined> {
  const query = `SELECT ${HEIGHT_COLUMNS} FROM heights WHERE height >= $1${andOf(version)} ORDER BY height LIMIT 1`;
  return (await sql.all(query, height)).map(toRecordedHeight)[0];
}

/** The condition that a height is of a version. */
function andOf(version: ExchangeVersion | undefined): string {
  return version === undefined ? '' : ` AND version = ${toVersionNumber(version)}`;
}

/** The time before which heights are deleted; 0 while none is. */
export async function readDeletedBefore(sql: ReadSql): Promise<Instant> {
  const [fact] = await sql.all('SELECT value FROM facts WHERE name = $1', DELETED_BEFORE);
  return fact === undefined ? 0 : Number(fact['value']);
}

/** Whether POOLS has the states of the pools of a version after the lowest height that was ever recorded. */
export async function hasOrigin(sql: ReadSql, version: ExchangeVersion): Promise<boolean> {
  return (await sql.all('SELECT value FROM facts WHERE name = $1', originFact(version))).length > 0;
}

/** The columns of an interval that say which of its heights are recorded. */
export const INTERVAL_COLUMNS = 'opened, first_height, last_height, heights';

/** The row of an interval in a table of intervals; `undefined` if none of its heights is recorded. */
export async function readInterval(
  sql: ReadSql,
  table: Table,
  interval: CandleInterval,
  opened: number,
): Promise<IntervalRow | undefined> {
  const query = `SELECT ${INTERVAL_COLUMNS} FROM ${table.name} WHERE minutes = $1 AND opened = $2`;
  return (await sql.all(query, minutesOf(interval), opened)).map(toInterval)[0];
}

/** See `HistoryStore.coverage`. */
export async function readCoverage(sql: ReadSql, gaps: number): Promise<Coverage | undefined> {
  const [lowest] = await sql.all('SELECT first FROM ranges ORDER BY first LIMIT 1');
  const first = lowest && (await heightAtOrAbove(sql, numberOf(lowest, 'first')));
  const last = await heightAtOrBelow(sql, Number.MAX_SAFE_INTEGER);
  if (first === undefined || last === undefined) return undefined;

  const [sum] = await sql.all('SELECT CAST(SUM(last - first + 1) AS BIGINT) AS heights FROM ranges');
  const ranges = await sql.all('SELECT first, last FROM ranges ORDER BY first DESC LIMIT $1', gaps + 1);
  const between = ranges.slice(1).map((range, index) => ({
    from: numberOf(range, 'last') + 1,
    to: numberOf(ranges[index], 'first') - 1,
  }));
  return { first, last, heights: numberOf(sum, 'heights'), gaps: between };
}

/** See `HistoryStore.blocksAt`. */
export async function readBlocksAt(
  sql: ReadSql,
  times: readonly Instant[],
  version?: ExchangeVersion,
): Promise<readonly (BlockAt | undefined)[]> {
  const readEach = async (condition: string, values: readonly number[]) => {
    const query = `SELECT ${HEIGHT_COLUMNS} FROM heights WHERE ${condition} LIMIT 1`;
    const rows = await sql.each(
      query,
      values.map((value) => [value]),
    );
    return rows.map(([row]) => row && toRecordedHeight(row));
  };
  const heightOf = (block: RecordedHeight | undefined) => block?.beaconHeight ?? NO_HEIGHT;
  const newest = await readEach('time <= $1 ORDER BY time DESC, height DESC', times.map(Math.floor));
  const blocks =
    version === undefined
      ? newest
      : await readEach(`height <= $1${andOf(version)} ORDER BY height DESC`, newest.map(heightOf));
  const next = await readEach(`height > $1${andOf(version)} ORDER BY height`, blocks.map(heightOf));
  return blocks.map((block, index) => block && { block, next: next[index] });
}

/** Below all heights. */
const NO_HEIGHT = -1;

/** See `HistoryStore.recentBlocks`. */
export async function readBlocks(sql: ReadSql, { upTo, last }: BlocksQuery): Promise<readonly RecordedHeight[]> {
  const query = `SELECT ${HEIGHT_COLUMNS} FROM heights WHERE height <= $1 ORDER BY height DESC LIMIT $2`;
  return (await sql.all(query, upTo, last)).map(toRecordedHeight).toReversed();
}

/** See `HistoryStore.stateAt`. */
export async function readStateAt(sql: ReadSql, height: BeaconHeight): Promise<ExchangeState | undefined> {
  const recorded = await heightAtOrBelow(sql, height);
  if (recorded === undefined) return undefined;

  const version = await versionAt(sql, recorded.beaconHeight);
  const pools = [...(await readPools(sql, version, recorded.beaconHeight))].sort((a, b) => (a.id < b.id ? -1 : 1));
  const reserves = pools.flatMap(({ state }) => [state.reserve1, state.reserve2]);
  return {
    beaconHeight: recorded.beaconHeight,
    time: recorded.time,
    directory: toPoolDirectory(pools.map(({ id }) => id)),
    reserves: version === 'V1' ? BigUint64Array.from(reserves) : reserves,
  };
}

async function versionAt(sql: ReadSql, height: BeaconHeight): Promise<ExchangeVersion> {
  const [row] = await sql.all('SELECT version FROM heights WHERE height = $1', height);
  return VERSIONS.find((version) => toVersionNumber(version) === numberOf(row, 'version')) ?? 'V1';
}

/** See `HistoryStore.reservesAt`. */
export async function readReservesAt(
  sql: ReadSql,
  { poolIds, heights }: ReservesQuery,
): Promise<ReadonlyMap<string, readonly (Reserves | undefined)[]>> {
  const result = new Map<string, (Reserves | undefined)[]>();
  const all = [...(await numbersOf(sql, poolIds))];
  for (const [version, pools] of Map.groupBy(all, ([id]) => versionOfPool(id))) {
    const recorded: (BeaconHeight | undefined)[] = [];
    for (const height of heights) recorded.push((await heightAtOrBelow(sql, height, version))?.beaconHeight);
    const wanted = pools.flatMap(([, pool]) => recorded.map((height) => [pool, height ?? 0] as const));
    const states = await statesOfPools(sql, wanted);
    for (const [index, [id]] of pools.entries()) {
      const own = recorded.map((beaconHeight, place) => {
        const state = states[index * recorded.length + place];
        return state === undefined || beaconHeight === undefined ? undefined : { ...state, beaconHeight };
      });
      result.set(id, own);
    }
  }
  return result;
}

/** Whether all heights of a range are recorded, with the states of one version. An empty range is. */
export async function isRecorded(
  sql: ReadSql,
  version: ExchangeVersion,
  from: BeaconHeight,
  to: BeaconHeight,
): Promise<boolean> {
  if (from > to) return true;
  const [range] = await sql.all('SELECT last FROM ranges WHERE first <= $1 ORDER BY first DESC LIMIT 1', from);
  if (range === undefined || numberOf(range, 'last') < to) return false;
  for (const other of VERSIONS) {
    const found = other === version ? undefined : await heightAtOrAbove(sql, from, other);
    if (found !== undefined && found.beaconHeight <= to) return false;
  }
  return true;
}
