import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { CandleInterval } from '../domain/candle.ts';
import { type ExchangeState, type PoolDirectory, toPoolDirectory } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import type { Reserves } from '../domain/reserves.ts';
import { type IntervalRow, minutesOf, toInterval } from './candle-rows.ts';
import { numberOf, type ReadSql, type Row } from './database.ts';
import { type PoolMemory, statesOfPools } from './pool-states.ts';
import type { BlockAt, BlocksQuery, Coverage, RecordedHeight, ReservesQuery } from './store.ts';

/** The fact before which time no height is recorded: those heights are deleted, and their candles are final. */
export const DELETED_BEFORE = 'deleted-before';

/** The columns of HEIGHTS. */
export const HEIGHT_COLUMNS = 'height, hash, time';

/** Reads a row of HEIGHTS. */
export function toRecordedHeight(row: Row): RecordedHeight {
  return {
    beaconHeight: numberOf(row, 'height'),
    hash: row['hash'] === null ? undefined : String(row['hash']),
    time: numberOf(row, 'time'),
  };
}

/** The newest recorded height at or below a height. */
export async function heightAtOrBelow(sql: ReadSql, height: BeaconHeight): Promise<RecordedHeight | undefined> {
  const query = `SELECT ${HEIGHT_COLUMNS} FROM heights WHERE height <= $1 ORDER BY height DESC LIMIT 1`;
  return (await sql.all(query, height)).map(toRecordedHeight)[0];
}

/** The oldest recorded height at or above a height. */
export async function heightAtOrAbove(sql: ReadSql, height: BeaconHeight): Promise<RecordedHeight | undefined> {
  const query = `SELECT ${HEIGHT_COLUMNS} FROM heights WHERE height >= $1 ORDER BY height LIMIT 1`;
  return (await sql.all(query, height)).map(toRecordedHeight)[0];
}

/** The time before which heights are deleted; 0 while none is. */
export async function readDeletedBefore(sql: ReadSql): Promise<Instant> {
  const [fact] = await sql.all('SELECT value FROM facts WHERE name = $1', DELETED_BEFORE);
  return fact === undefined ? 0 : Number(fact['value']);
}

/** The columns of INTERVALS that say which of its heights are recorded. */
export const INTERVAL_COLUMNS = 'opened, first_height, last_height, heights';

/** The row of INTERVALS of an interval; `undefined` if none of its heights is recorded. */
export async function readInterval(
  sql: ReadSql,
  interval: CandleInterval,
  opened: number,
): Promise<IntervalRow | undefined> {
  const query = `SELECT ${INTERVAL_COLUMNS} FROM intervals WHERE minutes = $1 AND opened = $2`;
  return (await sql.all(query, minutesOf(interval), opened)).map(toInterval)[0];
}

/** See `HistoryStore.coverage`. */
export async function readCoverage(sql: ReadSql, gaps: number): Promise<Coverage | undefined> {
  const first = await heightAtOrAbove(sql, 0);
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

/** See `HistoryStore.blockAt`. */
export async function readBlockAt(sql: ReadSql, time: Instant): Promise<BlockAt | undefined> {
  const query = `SELECT ${HEIGHT_COLUMNS} FROM heights WHERE time <= $1 ORDER BY time DESC, height DESC LIMIT 1`;
  const [block] = (await sql.all(query, Math.floor(time))).map(toRecordedHeight);
  return block && { block, next: await heightAtOrAbove(sql, block.beaconHeight + 1) };
}

/** See `HistoryStore.recentBlocks`. */
export async function readBlocks(sql: ReadSql, { upTo, last }: BlocksQuery): Promise<readonly RecordedHeight[]> {
  const query = `SELECT ${HEIGHT_COLUMNS} FROM heights WHERE height <= $1 ORDER BY height DESC LIMIT $2`;
  return (await sql.all(query, upTo, last)).map(toRecordedHeight).toReversed();
}

/** See `HistoryStore.stateAt`. @param similar a directory whose strings are used again, or which is the same */
export async function readStateAt(
  sql: ReadSql,
  memory: PoolMemory,
  height: BeaconHeight,
  similar: PoolDirectory | undefined,
): Promise<ExchangeState | undefined> {
  const recorded = await heightAtOrBelow(sql, height);
  if (recorded === undefined) return undefined;

  const states = await memory.statesAfter(sql, recorded);
  await memory.refresh(sql);
  const pools = memory.ids.map((id, pool) => ({ id, pool })).filter(({ pool }) => states.exists[pool] === 1);
  pools.sort((a, b) => (a.id < b.id ? -1 : 1));
  const ids = pools.map(({ id }) => id);
  const directory = toPoolDirectory(ids, similar);
  const reserves = new BigUint64Array(ids.length * 2);
  for (const [place, { pool }] of pools.entries()) {
    reserves.set(states.reserves.subarray(pool * 2, pool * 2 + 2), place * 2);
  }
  return { beaconHeight: recorded.beaconHeight, time: recorded.time, directory, reserves };
}

/** See `HistoryStore.reservesAt`. */
export async function readReservesAt(
  sql: ReadSql,
  memory: PoolMemory,
  { poolIds, heights }: ReservesQuery,
): Promise<ReadonlyMap<string, readonly (Reserves | undefined)[]>> {
  const recorded: (BeaconHeight | undefined)[] = [];
  for (const height of heights) recorded.push((await heightAtOrBelow(sql, height))?.beaconHeight);
  const pools = [...(await memory.numbersOf(sql, poolIds))];
  const wanted = pools.flatMap(([, pool]) => recorded.map((height) => [pool, height ?? 0] as const));
  const states = await statesOfPools(sql, wanted);
  const result = new Map<string, (Reserves | undefined)[]>();
  for (const [index, [id]] of pools.entries()) {
    const own = recorded.map((beaconHeight, place) => {
      const state = states[index * recorded.length + place];
      return state === undefined || beaconHeight === undefined ? undefined : { ...state, beaconHeight };
    });
    result.set(id, own);
  }
  return result;
}

/** Whether all heights of a range are recorded. An empty range is. */
export async function isRecorded(sql: ReadSql, from: BeaconHeight, to: BeaconHeight): Promise<boolean> {
  if (from > to) return true;
  const [range] = await sql.all('SELECT last FROM ranges WHERE first <= $1 ORDER BY first DESC LIMIT 1', from);
  return range !== undefined && numberOf(range, 'last') >= to;
}
