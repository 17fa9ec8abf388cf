import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ExchangeVersion } from '../domain/pool-pair.ts';
import type { PoolReserves } from '../domain/reserves.ts';
import { toReserves } from './candle-rows.ts';
import { numberOf, type ReadSql, type Sql } from './database.ts';
import { isPoolOf, POOL_BASES } from './tables.ts';

/** The states of the pools of a version that exist after a height, by the numbers of the pools. */
export type PoolStates = ReadonlyMap<number, PoolReserves>;

type RecordedPool = { readonly pool: number; readonly id: string; readonly state: PoolReserves };

/** One of the reserves in the state of a row of POOLS after the height `$1`. In a join, PostgreSQL would read all changes. */
export function stateColumn(token: 1 | 2): string {
  return `COALESCE((SELECT reserve${token} FROM changes WHERE pool = pools.pool AND height <= $1 ORDER BY height DESC LIMIT 1), base${token})`;
}

/** All pools of a version that exist after a recorded height of it. */
export async function readPools(
  sql: ReadSql,
  version: ExchangeVersion,
  height: BeaconHeight,
): Promise<readonly RecordedPool[]> {
  const columns = `pool, id, ${stateColumn(1)} AS state1, ${stateColumn(2)} AS state2`;
  const rows = await sql.all(`SELECT ${columns} FROM pools WHERE ${isPoolOf(version)}`, height);
  return rows.flatMap((row) => {
    const state = toReserves(row, 'state');
    return state === undefined ? [] : [{ pool: numberOf(row, 'pool'), id: String(row['id']), state }];
  });
}

/** The number of each pool that is recorded, of those with these ids. */
export async function numbersOf(sql: ReadSql, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.each(
    'SELECT pool FROM pools WHERE id = $1',
    ids.map((id) => [id]),
  );
  return new Map(ids.flatMap((id, index) => (rows[index] ?? []).map((row) => [id, numberOf(row, 'pool')] as const)));
}

/** The numbers of all pools by their ids, in the order of the numbers. Pools that are not recorded yet are added. */
export async function numberPools(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.all('SELECT pool, id FROM pools ORDER BY pool');
  const numbers = new Map(rows.map((row) => [String(row['id']), numberOf(row, 'pool')]));
  const added = ids.filter((id) => !numbers.has(id));
  await sql.put(
    POOL_BASES,
    added.map((id, index) => [rows.length + index, id, null, null]),
  );
  for (const id of added) numbers.set(id, numbers.size);
  return numbers;
}

/** The state of each pool after a recorded height; `undefined` if it did not exist. */
export async function statesOfPools(
  sql: ReadSql,
  wanted: readonly (readonly [pool: number, height: BeaconHeight])[],
): Promise<readonly (PoolReserves | undefined)[]> {
  const rows = await sql.each(
    `SELECT ${stateColumn(1)} AS state1, ${stateColumn(2)} AS state2 FROM pools WHERE pool = $2`,
    wanted.map(([pool, height]) => [height, pool]),
  );
  return rows.map(([row]) => toReserves(row, 'state'));
}
