import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { CandleInterval } from '../domain/candle.ts';
import { CANDLE_INTERVALS, fromRollup, minutesOf, openedAt, toInterval } from './candle-rows.ts';
import { numberOf, type ReadSql, type Sql, type Value } from './database.ts';
import { readCut } from './reading-candles.ts';
import { HEIGHT_COLUMNS, heightAtOrBelow, readDeletedBefore, readRollupsOf, toRecordedHeight } from './recording.ts';
import { HistoryDatabaseError, type RecordedHeight } from './store.ts';
import { CANDLES, INTERVALS } from './tables.ts';

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
      {
        isPermanent: true,
      },
    );

  const pools = (await sql.all('SELECT pool FROM pools ORDER BY pool')).map((row) => numberOf(row, 'pool'));
  const cuts: Cut[] = [];
  // Hours that are not cut are read for longer intervals, so nothing is written before all are read.
  for (const interval of CANDLE_INTERVALS) cuts.push(await readCutInterval(sql, interval, { pools, deleted, last }));

  await sql.runEach(
    'DELETE FROM changes WHERE pool = $1 AND height >= $2',
    pools.map((pool) => [pool, from]),
  );
  await sql.run('DELETE FROM heights WHERE height >= $1', from);
  await sql.run('DELETE FROM ranges WHERE first >= $1', from);
  await sql.run('UPDATE ranges SET last = $2 WHERE last >= $1', from, from - 1);
  for (const { minutes, opened, interval, candles } of cuts) {
    await sql.run('DELETE FROM intervals WHERE minutes = $1 AND opened >= $2', minutes, opened);
    await sql.runEach(
      'DELETE FROM candles WHERE minutes = $1 AND pool = $2 AND opened >= $3',
      pools.map((pool) => [minutes, pool, opened]),
    );
    await sql.put(INTERVALS, interval === undefined ? [] : [interval]);
    await sql.put(CANDLES, candles);
  }
  return deleted.map(({ beaconHeight }) => beaconHeight);
}

/** What is left of the interval of the lowest deleted height. All later intervals are deleted. */
type Cut = {
  readonly minutes: number;
  readonly opened: number;
  /** Its row of INTERVALS; `undefined` if all of its heights are deleted. */
  readonly interval: readonly Value[] | undefined;
  /** Its rows of CANDLES. */
  readonly candles: readonly (readonly Value[])[];
};

type Deletion = {
  readonly pools: readonly number[];
  readonly deleted: readonly RecordedHeight[];
  /** The newest height that stays. */
  readonly last: RecordedHeight;
};

async function readCutInterval(
  sql: ReadSql,
  interval: CandleInterval,
  { pools, deleted, last }: Deletion,
): Promise<Cut> {
  const minutes = minutesOf(interval);
  const opens = deleted.map(({ time }) => openedAt(time, interval));
  const [opened = 0] = opens;
  const query = 'SELECT opened, first_height, last_height, heights FROM intervals WHERE minutes = $1 AND opened = $2';
  const [row] = await sql.all(query, minutes, opened);
  if (row === undefined || openedAt(last.time, interval) !== opened)
    return { minutes, opened, interval: undefined, candles: [] };

  const before = toInterval(row);
  const { firstHeight } = before;
  const rollups = await readRollupsOf(sql, minutes, opened, pools, firstHeight);
  const changed = pools.flatMap((pool, index) => (rollups[index] ? [{ pool, before: rollups[index] }] : []));
  const numbers = changed.map(({ pool }) => pool);
  const cut = await readCut(sql, numbers, before, last);
  const candles = changed.flatMap(({ pool, before: { open, hasAppeared } }, index) => {
    const rollup = cut[index];
    // A pool that is left has the same first state as before.
    return rollup ? [fromRollup(minutes, pool, opened, { ...rollup, open, hasAppeared })] : [];
  });
  const heights = before.heights - opens.filter((each) => each === opened).length;
  return { minutes, opened, interval: [minutes, opened, firstHeight, last.beaconHeight, heights], candles };
}
