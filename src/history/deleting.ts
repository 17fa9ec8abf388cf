import type { BeaconHeight } from '../domain/beacon-height.ts';
import { CANDLE_INTERVALS, minutesOf, openedAt, type Series } from './candle-rows.ts';
import { numberOf, type Sql } from './database.ts';
import { HEIGHT_COLUMNS, heightAtOrBelow, readDeletedBefore, readInterval, toRecordedHeight } from './reading.ts';
import { cutInterval } from './reading-candles.ts';
import { deleteTradesFrom } from './recording-trades.ts';
import { HistoryDatabaseError, type RecordedHeight } from './store.ts';
import { intervalsOf, isPoolOf, VERSIONS } from './tables.ts';
import { rebuildCandles } from './writing.ts';

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
  if (last === undefined || first.time < (await readDeletedBefore(sql)))
    throw new HistoryDatabaseError(
      `The heights from ${from} on cannot be deleted: the history has too few heights below them.`,
      { isPermanent: true },
    );

  // With the numbers of the pools, the deletions find their rows by the keys of the tables.
  const ofAnyPool = 'pool IN (SELECT pool FROM pools)';
  await sql.run(`DELETE FROM changes WHERE ${ofAnyPool} AND height >= $1`, from);
  await sql.run('DELETE FROM heights WHERE height >= $1', from);
  await sql.run('DELETE FROM ranges WHERE first >= $1', from);
  await sql.run('UPDATE ranges SET last = $2 WHERE last >= $1', from, from - 1);
  for (const interval of CANDLE_INTERVALS) {
    const [minutes, opened] = [minutesOf(interval), openedAt(first.time, interval)];
    await sql.run(`DELETE FROM candles WHERE minutes = $1 AND ${ofAnyPool} AND opened >= $2`, minutes, opened);
    for (const version of VERSIONS) await deleteIntervals(sql, { version, interval }, opened, from);
  }
  await deleteTradesFrom(sql, first);
  for (const version of VERSIONS) {
    const isLeft = (await heightAtOrBelow(sql, from, version)) !== undefined;
    if (!isLeft) await sql.run(`UPDATE pools SET base1 = NULL, base2 = NULL WHERE ${isPoolOf(version)}`);
  }
  return deleted.map(({ beaconHeight }) => beaconHeight);
}

/** Deletes intervals from the one of the lowest deleted height on. This one may have lower heights, which stay with their candles. */
async function deleteIntervals(sql: Sql, series: Series, opened: number, from: BeaconHeight): Promise<void> {
  const table = intervalsOf(series.version);
  const minutes = minutesOf(series.interval);
  const last = await heightAtOrBelow(sql, from, series.version);
  const isCut = last !== undefined && openedAt(last.time, series.interval) === opened;
  const cut = isCut ? await readInterval(sql, table, series.interval, opened) : undefined;
  await sql.run(`DELETE FROM ${table.name} WHERE minutes = $1 AND opened >= $2`, minutes, opened);
  if (cut === undefined || last === undefined) return;
  const left = await cutInterval(sql, series.version, cut, last.beaconHeight);
  await sql.put(table, [[minutes, opened, left.firstHeight, left.lastHeight, left.heights]]);
  const pools = await sql.all(`SELECT pool FROM pools WHERE ${isPoolOf(series.version)}`);
  await rebuildCandles(
    sql,
    series,
    left,
    pools.map((row) => numberOf(row, 'pool')),
  );
}
