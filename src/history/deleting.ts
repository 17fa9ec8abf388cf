import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ExchangeVersion } from '../domain/pool-pair.ts';
import { CANDLE_INTERVALS, minutesOf, openedAt } from './candle-rows.ts';
import { numberOf, type Row, type Sql, type Value } from './database.ts';
import { HEIGHT_COLUMNS, heightAtOrBelow, readDeletedBefore, readInterval, toRecordedHeight } from './reading.ts';
import { cutInterval } from './reading-candles.ts';
import { HistoryDatabaseError, type RecordedHeight } from './store.ts';
import { intervalsOf, POOL_BASES } from './tables.ts';
import { VERSIONS, versionOfPool } from './versions.ts';
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

  const pools = await sql.all('SELECT pool, id FROM pools ORDER BY pool');
  await sql.runEach(
    'DELETE FROM changes WHERE pool = $1 AND height >= $2',
    pools.map((row) => [numberOf(row, 'pool'), from]),
  );
  await sql.run('DELETE FROM heights WHERE height >= $1', from);
  await sql.run('DELETE FROM ranges WHERE first >= $1', from);
  await sql.run('UPDATE ranges SET last = $2 WHERE last >= $1', from, from - 1);
  for (const version of VERSIONS) {
    const own = pools.filter((row) => versionOfPool(String(row['id'])) === version);
    await deleteOfVersion(sql, version, own, first);
  }
  return deleted.map(({ beaconHeight }) => beaconHeight);
}

/** Deletes what follows from the heights of a version from `first` on, which are deleted. */
async function deleteOfVersion(
  sql: Sql,
  version: ExchangeVersion,
  rows: readonly Row[],
  first: RecordedHeight,
): Promise<void> {
  const pools = rows.map((row) => numberOf(row, 'pool'));
  const last = await heightAtOrBelow(sql, first.beaconHeight - 1, version);
  const noBases = rows.map((row): readonly Value[] => [numberOf(row, 'pool'), String(row['id']), null, null]);
  if (last === undefined) await sql.put(POOL_BASES, noBases);
  for (const interval of CANDLE_INTERVALS) {
    const [minutes, opened] = [minutesOf(interval), openedAt(first.time, interval)];
    const table = intervalsOf(version);
    const series = { version, interval };
    // The interval of the lowest deleted height may have lower ones.
    const isCut = last !== undefined && openedAt(last.time, interval) === opened;
    const cut = isCut ? await readInterval(sql, series, opened) : undefined;
    await sql.run(`DELETE FROM ${table.name} WHERE minutes = $1 AND opened >= $2`, minutes, opened);
    await sql.runEach(
      'DELETE FROM candles WHERE minutes = $1 AND pool = $2 AND opened >= $3',
      pools.map((pool) => [minutes, pool, opened]),
    );
    if (cut === undefined || last === undefined) continue;
    const left = await cutInterval(sql, version, cut, last.beaconHeight);
    await sql.put(table, [[minutes, opened, left.firstHeight, left.lastHeight, left.heights]]);
    await rebuildCandles(sql, series, left, pools);
  }
}
