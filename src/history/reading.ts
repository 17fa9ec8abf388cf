import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { Instant } from '../domain/instant.ts';
import type { ExchangeVersion } from '../domain/pool-pair.ts';
import { numberOf, type ReadSql, type Row } from './database.ts';
import { numbersOf, readPools, statesOfPools } from './pool-states.ts';
import type { HistoryStore, RecordedHeight } from './store.ts';
import { intervalsOf, toVersionNumber, versionOfPool } from './tables.ts';

/** A method of the store that reads inside a transaction. */
export type Read<M extends keyof HistoryStore> = (
  sql: ReadSql,
  ...values: Parameters<HistoryStore[M]>
) => ReturnType<HistoryStore[M]>;

/** The fact with the time before which states and trades are deleted. Nothing is recorded before it: the candles are final. */
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

/** For each value the first row of HEIGHTS under a condition on it, of both versions or of one. */
async function firstHeights(
  sql: ReadSql,
  condition: string,
  values: readonly number[],
  version?: ExchangeVersion,
): Promise<readonly (RecordedHeight | undefined)[]> {
  const counted = version === undefined ? 'heights' : `(SELECT * FROM ${intervalsOf(version).blocksWhere}) counted`;
  const rows = await sql.each(
    `SELECT ${HEIGHT_COLUMNS} FROM ${counted} WHERE ${condition} LIMIT 1`,
    values.map((value) => [value]),
  );
  return rows.map(([row]) => row && toRecordedHeight(row));
}

const AT_OR_BELOW = 'height <= $1 ORDER BY height DESC';
const AT_OR_ABOVE = 'height >= $1 ORDER BY height';

/** Finds a recorded height, of both versions or of one. */
type FindHeight = (
  sql: ReadSql,
  height: BeaconHeight,
  version?: ExchangeVersion,
) => Promise<RecordedHeight | undefined>;

/** The newest recorded height at or below a height. */
export const heightAtOrBelow: FindHeight = async (sql, height, version) =>
  (await firstHeights(sql, AT_OR_BELOW, [height], version))[0];

/** The oldest recorded height at or above a height. */
export const heightAtOrAbove: FindHeight = async (sql, height, version) =>
  (await firstHeights(sql, AT_OR_ABOVE, [height], version))[0];

/** The value of a fact; `undefined` if it is not noted. */
export async function readFact(sql: ReadSql, name: string): Promise<string | undefined> {
  const [fact] = await sql.all('SELECT value FROM facts WHERE name = $1', name);
  return fact && String(fact['value']);
}

/** The time before which states and trades are deleted; 0 while none are. */
export async function readDeletedBefore(sql: ReadSql): Promise<Instant> {
  return Number((await readFact(sql, DELETED_BEFORE)) ?? 0);
}

/** See `HistoryStore.coverage`. */
export const readCoverage: Read<'coverage'> = async (sql, gaps, step = 1) => {
  const [lowest] = await sql.all('SELECT first FROM ranges ORDER BY first LIMIT 1');
  const first = lowest && (await heightAtOrAbove(sql, numberOf(lowest, 'first')));
  const last = await heightAtOrBelow(sql, Number.MAX_SAFE_INTEGER);
  if (first === undefined || last === undefined) return undefined;

  const [sum] = await sql.all('SELECT CAST(SUM(last - first + 1) AS BIGINT) AS heights FROM ranges');
  const rows = await sql.all(
    `SELECT low, high FROM (SELECT last + 1 AS low, LEAD(first) OVER (ORDER BY first) - 1 AS high FROM ranges) gaps
    WHERE high - high % $2 >= low OR high - low + 2 < $2 ORDER BY low DESC LIMIT $1`,
    gaps,
    step,
  );
  const between = rows.map((gap) => ({ from: numberOf(gap, 'low'), to: numberOf(gap, 'high') }));
  return { first, last, heights: numberOf(sum, 'heights'), gaps: between };
};

/** See `HistoryStore.blocksAt`. */
export const readBlocksAt: Read<'blocksAt'> = async (sql, times, version) => {
  const heightOf = (block: RecordedHeight | undefined) => block?.beaconHeight ?? NO_HEIGHT;
  const newest = await firstHeights(sql, 'time <= $1 ORDER BY time DESC, height DESC', times.map(Math.floor));
  const ofVersion = () => firstHeights(sql, AT_OR_BELOW, newest.map(heightOf), version);
  const blocks = version === undefined ? newest : await ofVersion();
  const above = blocks.map((block) => heightOf(block) + 1);
  const next = await firstHeights(sql, AT_OR_ABOVE, above, version);
  return blocks.map((block, index) => block && { block, next: next[index] });
};

/** Below all heights. */
const NO_HEIGHT = -1;

/** See `HistoryStore.recentBlocks`. */
export const readBlocks: Read<'recentBlocks'> = async (sql, { upTo, last }) => {
  const query = `SELECT ${HEIGHT_COLUMNS} FROM heights WHERE height <= $1 ORDER BY height DESC LIMIT $2`;
  return (await sql.all(query, upTo, last)).map(toRecordedHeight).toReversed();
};

/** See `HistoryStore.stateAt`. */
export const readStateAt: Read<'stateAt'> = async (sql, height) => {
  const query = `SELECT height, time, version FROM heights WHERE ${AT_OR_BELOW} LIMIT 1`;
  const [recorded] = await sql.all(query, height);
  if (recorded === undefined) return undefined;

  const beaconHeight = numberOf(recorded, 'height');
  const version = numberOf(recorded, 'version') === toVersionNumber('V1') ? 'V1' : 'V3';
  const pools = [...(await readPools(sql, version, beaconHeight))].sort((a, b) => (a.id < b.id ? -1 : 1));
  const reserves = pools.flatMap(({ state }) => [state.reserve1, state.reserve2]);
  return {
    beaconHeight,
    time: numberOf(recorded, 'time'),
    directory: { ids: pools.map(({ id }) => id) },
    reserves: version === 'V1' ? BigUint64Array.from(reserves) : reserves,
  };
};

/** See `HistoryStore.reservesAt`. */
export const readReservesAt: Read<'reservesAt'> = async (sql, { poolIds, heights }) => {
  const pools = [...(await numbersOf(sql, poolIds))];
  const recorded = new Map<ExchangeVersion, readonly (RecordedHeight | undefined)[]>();
  for (const version of new Set(poolIds.map(versionOfPool)))
    recorded.set(version, await firstHeights(sql, AT_OR_BELOW, heights, version));
  const blocksOf = (id: string) => recorded.get(versionOfPool(id)) ?? [];
  const wanted = pools.flatMap(([id, pool]) => blocksOf(id).map((block) => [pool, block?.beaconHeight ?? 0] as const));
  const states = (await statesOfPools(sql, wanted)).values();
  const reservesOf = (id: string) =>
    blocksOf(id).map((block) => {
      const state = states.next().value;
      return block && state && { ...state, beaconHeight: block.beaconHeight };
    });
  return new Map(pools.map(([id]) => [id, reservesOf(id)]));
};
