import type { BeaconHeight } from '../domain/beacon-height.ts';
import { type CandleInterval, INTERVAL_MS, openTimeOf } from '../domain/candle.ts';
import type { Instant } from '../domain/instant.ts';
import type { ExchangeVersion } from '../domain/pool-pair.ts';
import { sumVolumes } from '../domain/trade.ts';
import { CANDLE_INTERVALS, minutesOf, openedSeconds } from './candle-rows.ts';
import { type Database, numberOf, type Sql } from './database.ts';
import { stateColumn } from './pool-states.ts';
import {
  DELETED_BEFORE,
  HEIGHT_COLUMNS,
  heightAtOrAbove,
  heightAtOrBelow,
  originFact,
  readDeletedBefore,
  readFact,
  toRecordedHeight,
} from './reading.ts';
import { countBlocks, type IntervalRow, readIntervalRows } from './reading-intervals.ts';
import { permanentError, type RecordedHeight } from './store.ts';
import {
  FACTS,
  INTERVAL_TABLES,
  type IntervalTable,
  intervalsOf,
  isPoolOf,
  TRADED_INTERVALS,
  toVersionNumber,
  VERSIONS,
} from './tables.ts';
import { rebuildCandles } from './writing.ts';
import { addToCandles, toVolume } from './writing-trades.ts';

/** Number of heights, of intervals and of pools in one transaction, so that reads wait for a moment only. */
const HEIGHTS_PER_TRANSACTION = 100;
const INTERVALS_PER_TRANSACTION = 1_000;
const POOLS_PER_TRANSACTION = 1_000;

/** The intervals whose candles are deleted at some time. */
const SHORT: readonly CandleInterval[] = ['ONE_MINUTE', 'FIVE_MINUTES', 'FIFTEEN_MINUTES'];

/** How long candles of short intervals are kept, in days. */
const SHORT_DAYS = 90;

/** With the numbers of the pools, deletions find their rows by the keys of the tables. */
const OF_ANY_POOL = 'pool IN (SELECT pool FROM pools)';

/**
 * See `HistoryStore.deleteFrom`.
 *
 * The rows of POOLS stay, because the numbers of pools have no gaps. A pool without a state is like one that is not recorded.
 */
export async function deleteFrom(sql: Sql, block: RecordedHeight): Promise<readonly BeaconHeight[]> {
  const from = block.beaconHeight;
  const query = `SELECT ${HEIGHT_COLUMNS} FROM heights WHERE height >= $1 ORDER BY height`;
  const deleted = (await sql.all(query, from)).map(toRecordedHeight);
  const [first] = deleted;
  if (first?.beaconHeight !== from || first.hash !== block.hash || first.time !== block.time) return [];
  const last = await heightAtOrBelow(sql, from - 1);
  const deletedBefore = await readDeletedBefore(sql);
  if (last === undefined || first.time < deletedBefore)
    throw permanentError(`The heights from ${from} on cannot be deleted: the history has too few heights below them.`);

  await sql.run(`DELETE FROM changes WHERE ${OF_ANY_POOL} AND height >= $1`, from);
  await sql.run('DELETE FROM heights WHERE height >= $1', from);
  await sql.run('DELETE FROM ranges WHERE first >= $1', from);
  await sql.run('UPDATE ranges SET last = $2 WHERE last >= $1', from, from - 1);
  for (const interval of CANDLE_INTERVALS) {
    const [minutes, opened] = [minutesOf(interval), openedSeconds(first.time, interval)];
    await sql.run(`DELETE FROM candles WHERE minutes = $1 AND ${OF_ANY_POOL} AND opened >= $2`, minutes, opened);
    for (const version of VERSIONS) {
      const left = await deleteIntervals(sql, intervalsOf(version), interval, opened, from);
      const pools = left && (await sql.all(`SELECT pool FROM pools WHERE ${isPoolOf(version)}`));
      const numbers = pools?.map((row) => numberOf(row, 'pool')) ?? [];
      if (left !== undefined) await rebuildCandles(sql, { version, interval }, left, numbers);
    }
  }
  // Trades are not compared with the node: without a state at their height, they may be of the branch too.
  await deleteTradesAbove(sql, last.beaconHeight, deletedBefore);
  for (const version of VERSIONS) {
    const isLeft = (await heightAtOrBelow(sql, from, version)) !== undefined;
    if (!isLeft) await sql.run(`UPDATE pools SET base1 = NULL, base2 = NULL WHERE ${isPoolOf(version)}`);
  }
  return deleted.map(({ beaconHeight }) => beaconHeight);
}

/** Deletes the trades of all blocks above a height, with their part of the candles. Those of deleted days stay: their candles are final. */
async function deleteTradesAbove(sql: Sql, height: BeaconHeight, deletedBefore: Instant): Promise<void> {
  const query = 'SELECT height, time FROM traded_blocks WHERE height > $1 AND time >= $2 ORDER BY height LIMIT 1';
  const [first] = await sql.all(query, height, deletedBefore);
  if (first === undefined) return;
  const [from, time] = [numberOf(first, 'height'), numberOf(first, 'time')];
  for (const table of ['trades', 'traded_blocks']) await sql.run(`DELETE FROM ${table} WHERE height >= $1`, from);
  for (const interval of CANDLE_INTERVALS) {
    const [minutes, opened] = [minutesOf(interval), openedSeconds(time, interval)];
    const candles = `DELETE FROM traded_candles WHERE minutes = $1 AND ${OF_ANY_POOL} AND opened >= $2`;
    await sql.run(candles, minutes, opened);
    const left = await deleteIntervals(sql, TRADED_INTERVALS, interval, opened, from);
    if (left === undefined) continue;
    const trades = await sql.all('SELECT pool, sells, sold, bought FROM trades WHERE height >= $1', left.firstHeight);
    const volumes = trades.map((row) => [numberOf(row, 'pool'), toVolume(row)] as const);
    await addToCandles(sql, interval, opened, sumVolumes(volumes));
  }
}

/** Deletes intervals from the one of the lowest deleted height on. @returns what is left of this one; `undefined` if nothing is */
async function deleteIntervals(
  sql: Sql,
  table: IntervalTable,
  interval: CandleInterval,
  opened: number,
  from: BeaconHeight,
): Promise<IntervalRow | undefined> {
  const [row] = await readIntervalRows(sql, table, interval, '= $2', opened);
  const left = row && { ...row, ...(await countBlocks(sql, table, { from: row.firstHeight, to: from - 1 })) };
  const minutes = minutesOf(interval);
  await sql.run(`DELETE FROM ${table.name} WHERE minutes = $1 AND opened >= $2`, minutes, opened);
  if (left === undefined || left.heights === 0) return undefined;
  await sql.put(table, [[minutes, opened, left.firstHeight, left.lastHeight, left.heights]]);
  return left;
}

/**
 * Deletes changes, trades and short candles that are older than their retention, in many small transactions.
 *
 * Whole days are deleted, because each interval is inside one day: its candle is final when the day is deleted. The newest of
 * the deleted heights of each version stays, as the state from which the changes of the next one count.
 */
export async function prune(database: Database, rawDays: number, now: Instant): Promise<void> {
  const startOfDay = (daysAgo: number) => openTimeOf(now - daysAgo * INTERVAL_MS.ONE_DAY, 'ONE_DAY');
  const before = startOfDay(rawDays);
  if (await database.write((sql) => startDeletion(sql, before)))
    while (await database.write((sql) => deleteHeights(sql, before)));
  while (await database.write((sql) => deleteTrades(sql, before)));
  const shortBefore = startOfDay(Math.max(SHORT_DAYS, rawDays)) / 1000;
  for (const interval of SHORT)
    for (const table of INTERVAL_TABLES) while (await deleteCandles(database, table, interval, shortBefore));
}

/** Is called before anything is deleted. From then on, nothing is recorded before that time: it would count twice in candles. */
async function refuseBefore(sql: Sql, before: Instant): Promise<void> {
  if ((await readDeletedBefore(sql)) < before) await sql.put(FACTS, [[DELETED_BEFORE, String(before)]]);
}

/** Prepares the deletion of heights. @returns whether there are any to delete */
async function startDeletion(sql: Sql, before: Instant): Promise<boolean> {
  const first = await heightAtOrAbove(sql, 0);
  if (first === undefined || first.time >= before) return false;
  for (const version of VERSIONS) await keepOrigin(sql, version, before);
  await refuseBefore(sql, before);
  return true;
}

/** Keeps the states after the lowest height of a version before that height is deleted. */
async function keepOrigin(sql: Sql, version: ExchangeVersion, before: Instant): Promise<void> {
  const first = await heightAtOrAbove(sql, 0, version);
  if (first === undefined || first.time >= before || (await readFact(sql, originFact(version)))) return;
  await sql.run(`UPDATE pools SET origin1 = base1, origin2 = base2 WHERE ${isPoolOf(version)}`);
  await sql.put(FACTS, [[originFact(version), 'true']]);
}

/** Deletes some of the lowest heights. @returns whether there are more */
async function deleteHeights(sql: Sql, before: Instant): Promise<boolean> {
  const query = 'SELECT height FROM heights WHERE time < $1 ORDER BY height LIMIT $2';
  const lowest = await sql.all(query, before, HEIGHTS_PER_TRANSACTION + 1);
  const first = numberOf(lowest.at(-1), 'height');
  const staying = new Map<ExchangeVersion, BeaconHeight>();
  for (const version of VERSIONS) {
    const stays = await heightAtOrBelow(sql, first, version);
    if (stays !== undefined) staying.set(version, stays.beaconHeight);
  }
  await sql.run('DELETE FROM ranges WHERE last < $1', first);
  await sql.run('UPDATE ranges SET first = $1 WHERE first < $1', first);
  if (lowest.length === staying.size) return false;

  for (const [version, height] of staying) await deleteBelow(sql, version, height);
  return lowest.length > HEIGHTS_PER_TRANSACTION;
}

/** Deletes the heights of a version below one of them, whose states become the bases. */
async function deleteBelow(sql: Sql, version: ExchangeVersion, height: BeaconHeight): Promise<void> {
  const states = `base1 = ${stateColumn(1)}, base2 = ${stateColumn(2)}`;
  const isChanged = 'EXISTS (SELECT height FROM changes WHERE pool = pools.pool AND height <= $1)';
  await sql.run(`UPDATE pools SET ${states} WHERE ${isPoolOf(version)} AND ${isChanged}`, height);
  const pools = `SELECT pool FROM pools WHERE ${isPoolOf(version)}`;
  // Without the lowest height, PostgreSQL would read all changes.
  const { beaconHeight: from } = (await heightAtOrAbove(sql, 0, version)) ?? { beaconHeight: height };
  await sql.run(`DELETE FROM changes WHERE pool IN (${pools}) AND height >= $1 AND height <= $2`, from, height);
  await sql.run('DELETE FROM heights WHERE version = $1 AND height < $2', toVersionNumber(version), height);
}

/**
 * Deletes candles of some of the oldest intervals that opened before a time. The newest one of each pool stays, because later ones may
 * follow from it. @returns whether there are more
 */
async function deleteCandles(
  database: Database,
  { name, candles, version }: IntervalTable,
  interval: CandleInterval,
  before: number,
): Promise<boolean> {
  const minutes = minutesOf(interval);
  const query = `SELECT opened FROM ${name} WHERE minutes = $1 AND opened < $2 AND heights > 0 ORDER BY opened LIMIT $3`;
  const oldest = await database.read((sql) => sql.all(query, minutes, before, INTERVALS_PER_TRANSACTION));
  if (oldest.length === 0) return false;
  const first = numberOf(oldest.at(-1), 'opened');
  const pools = `SELECT pool FROM pools WHERE pool >= $3 AND pool < $4 AND ${isPoolOf(version)}`;
  const newest = `SELECT MAX(opened) FROM ${candles.name} newer WHERE newer.minutes = $1 AND newer.pool = ${candles.name}.pool AND newer.opened <= $2`;
  const deletion = `DELETE FROM ${candles.name} WHERE minutes = $1 AND opened < $2 AND pool IN (${pools}) AND opened < (${newest})`;
  const [count] = await database.read((sql) => sql.all('SELECT COUNT(*) AS pools FROM pools'));
  for (let from = 0; from < numberOf(count, 'pools'); from += POOLS_PER_TRANSACTION)
    await database.write((sql) => sql.run(deletion, minutes, first, from, from + POOLS_PER_TRANSACTION));
  await database.write(async (sql) => {
    await sql.run(`DELETE FROM ${name} WHERE minutes = $1 AND opened < $2`, minutes, first);
    // It only shows that the interval after it has no gap before it.
    await sql.run(`UPDATE ${name} SET heights = 0 WHERE minutes = $1 AND opened = $2`, minutes, first);
  });
  return oldest.length === INTERVALS_PER_TRANSACTION;
}

/** Deletes the trades of some of the lowest blocks. @returns whether there are more */
async function deleteTrades(sql: Sql, before: Instant): Promise<boolean> {
  const query = 'SELECT height FROM traded_blocks WHERE time < $1 ORDER BY time, height LIMIT $2';
  const lowest = await sql.all(query, before, HEIGHTS_PER_TRANSACTION);
  if (lowest.length === 0) return false;
  await refuseBefore(sql, before);
  const last = numberOf(lowest.at(-1), 'height');
  await sql.run('DELETE FROM trades WHERE height <= $1', last);
  await sql.run('DELETE FROM traded_blocks WHERE height <= $1', last);
  return lowest.length === HEIGHTS_PER_TRANSACTION;
}
