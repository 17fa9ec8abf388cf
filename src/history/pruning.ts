import { type CandleInterval, INTERVAL_MS, openTimeOf } from '../domain/candle.ts';
import type { Instant } from '../domain/instant.ts';
import { minutesOf } from './candle-rows.ts';
import { type Database, numberOf, type Sql } from './database.ts';
import { STATE_OF_POOL } from './pool-states.ts';
import { DELETED_BEFORE, heightAtOrAbove, readDeletedBefore, toRecordedHeight } from './reading.ts';
import { FACTS, POOL_BASES } from './tables.ts';

/** Number of heights and of pools in one transaction, so that reads wait for a moment only. */
const HEIGHTS_AT_ONCE = 100;
const POOLS_AT_ONCE = 1_000;

/** The intervals whose candles are deleted at some time. */
const SHORT: readonly CandleInterval[] = ['ONE_MINUTE', 'FIVE_MINUTES', 'FIFTEEN_MINUTES'];

/** How long candles of short intervals are kept, in days. */
const SHORT_DAYS = 90;

/**
 * Deletes changes and short candles that are older than their retention, in many small transactions.
 *
 * Whole days are deleted, because each interval is inside one day: its candle is final when the day is deleted. The newest of
 * the deleted heights stays, as the state from which the changes of the next one count.
 */
export async function prune(database: Database, rawDays: number, now: Instant): Promise<void> {
  const before = startOfDay(now, rawDays);
  if (await database.write((sql) => startDeletion(sql, before)))
    while (await database.write((sql) => deleteHeights(sql, before)));
  const shortBefore = startOfDay(now, Math.max(SHORT_DAYS, rawDays)) / 1000;
  for (const interval of SHORT) await deleteCandles(database, minutesOf(interval), shortBefore);
}

function startOfDay(now: Instant, daysAgo: number): Instant {
  return openTimeOf(now - daysAgo * INTERVAL_MS.ONE_DAY, 'ONE_DAY');
}

/** From here on, nothing is recorded before that time. @returns whether there is something to delete */
async function startDeletion(sql: Sql, before: Instant): Promise<boolean> {
  const first = await heightAtOrAbove(sql, 0);
  if (first === undefined || first.time >= before) return false;
  const deletedBefore = await readDeletedBefore(sql);
  if (deletedBefore === 0) await sql.run('UPDATE pools SET origin1 = base1, origin2 = base2');
  if (deletedBefore < before) await sql.put(FACTS, [[DELETED_BEFORE, String(before)]]);
  return true;
}

/** Deletes some of the lowest heights. @returns whether there are more */
async function deleteHeights(sql: Sql, before: Instant): Promise<boolean> {
  const query = 'SELECT height, hash, time FROM heights WHERE time < $1 ORDER BY height LIMIT $2';
  const lowest = (await sql.all(query, before, HEIGHTS_AT_ONCE + 1)).map(toRecordedHeight);
  const first = lowest.at(-1)?.beaconHeight;
  if (first === undefined || lowest.length === 1) return false;

  const pools = await sql.all('SELECT pool, id FROM pools ORDER BY pool');
  const changes = await sql.each(
    STATE_OF_POOL,
    pools.map((_, pool) => [pool, first]),
  );
  const changed = pools.flatMap((row, index) => {
    const [change] = changes[index] ?? [];
    return change ? [{ pool: numberOf(row, 'pool'), id: String(row['id']), change }] : [];
  });
  await sql.put(
    POOL_BASES,
    changed.map(({ pool, id, change }) => [pool, id, change['reserve1'] ?? null, change['reserve2'] ?? null]),
  );
  await sql.runEach(
    'DELETE FROM changes WHERE pool = $1 AND height <= $2',
    changed.map(({ pool }) => [pool, first]),
  );
  await sql.run('DELETE FROM heights WHERE height < $1', first);
  await sql.run('DELETE FROM ranges WHERE last < $1', first);
  await sql.run('UPDATE ranges SET first = $1 WHERE first < $1', first);
  return lowest.length > HEIGHTS_AT_ONCE;
}

/** Deletes candles that opened before a time. The newest one of each pool stays, because later ones may follow from it. */
async function deleteCandles(database: Database, minutes: number, before: number): Promise<void> {
  const query = 'SELECT opened FROM intervals WHERE minutes = $1 AND opened < $2 ORDER BY opened DESC LIMIT 2';
  const older = await database.read((sql) => sql.all(query, minutes, before));
  if (older.length < 2) return;
  const first = numberOf(older[0], 'opened');
  const [{ pools = 0n } = {}] = await database.read((sql) => sql.all('SELECT COUNT(*) AS pools FROM pools'));
  for (let from = 0; from < Number(pools); from += POOLS_AT_ONCE)
    await database.write(async (sql) => {
      const numbers = Array.from({ length: Math.min(POOLS_AT_ONCE, Number(pools) - from) }, (_, index) => from + index);
      const newest = await sql.each(
        'SELECT opened FROM candles WHERE minutes = $1 AND pool = $2 AND opened <= $3 ORDER BY opened DESC LIMIT 1',
        numbers.map((pool) => [minutes, pool, first]),
      );
      const lists = numbers.flatMap((pool, index) => {
        const [row] = newest[index] ?? [];
        return row ? [[minutes, pool, numberOf(row, 'opened')]] : [];
      });
      await sql.runEach('DELETE FROM candles WHERE minutes = $1 AND pool = $2 AND opened < $3', lists);
    });
  await database.write(async (sql) => {
    await sql.run('DELETE FROM intervals WHERE minutes = $1 AND opened < $2', minutes, first);
    // It only shows that the interval after it has no gap before it.
    await sql.run('UPDATE intervals SET heights = 0 WHERE minutes = $1 AND opened = $2', minutes, first);
  });
}
