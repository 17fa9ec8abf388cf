import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ExchangeVersion } from '../domain/pool-pair.ts';
import type { PoolReserves } from '../domain/reserves.ts';
import { toReserves } from './candle-rows.ts';
import { numberOf, type ReadSql, type Sql } from './database.ts';
import type { FinalBlock, RecordedHeight } from './store.ts';
import { POOL_BASES } from './tables.ts';
import { versionOfPool } from './versions.ts';

/** The states of all pools after a height, by the numbers of the pools. Those of the other version do not exist. */
export type PoolStates = {
  readonly version: ExchangeVersion;
  /** Two for each pool. Those of V3 can exceed 64 bits. */
  readonly reserves: BigUint64Array | bigint[];
  /** 1 for each pool that exists. */
  readonly exists: Uint8Array;
};

/** The state of a pool; `undefined` if it does not exist. */
export function stateIn(states: PoolStates | undefined, pool: number): PoolReserves | undefined {
  if (states?.exists[pool] !== 1) return undefined;
  return { reserve1: states.reserves[pool * 2] ?? 0n, reserve2: states.reserves[pool * 2 + 1] ?? 0n };
}

/** Whether a pool differs between two states, or exists in one only. */
export function differs(a: PoolStates, b: PoolStates, pool: number): boolean {
  const exists = a.exists[pool] === 1;
  if (exists !== (b.exists[pool] === 1)) return true;
  if (!exists) return false;
  return a.reserves[pool * 2] !== b.reserves[pool * 2] || a.reserves[pool * 2 + 1] !== b.reserves[pool * 2 + 1];
}

/** Sets the state of a pool. */
export function setState(states: PoolStates, pool: number, { reserve1, reserve2 }: PoolReserves): void {
  states.exists[pool] = 1;
  states.reserves[pool * 2] = reserve1;
  states.reserves[pool * 2 + 1] = reserve2;
}

/** Creates states in which none of `count` pools exists. */
export function noPoolStates(version: ExchangeVersion, count: number): PoolStates {
  const reserves = version === 'V1' ? new BigUint64Array(count * 2) : new Array<bigint>(count * 2).fill(0n);
  return { version, reserves, exists: new Uint8Array(count) };
}

/** The pools of a database, and the states that were needed last. It belongs to one connection. */
export type PoolMemory = {
  /** Their ids, by number. */
  readonly ids: readonly string[];
  /** Reads the pools that another process has added. */
  refresh(sql: ReadSql): Promise<void>;
  /** The number of each pool that is recorded, of those with these ids. */
  numbersOf(sql: ReadSql, ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The states after a recorded height of that version. */
  statesAfter(sql: ReadSql, block: RecordedHeight, version: ExchangeVersion): Promise<PoolStates>;
  /** The states in an exchange. Pools that are not recorded yet are added to the database. */
  statesOf(sql: Sql, block: FinalBlock): Promise<PoolStates>;
  /** Keeps the states after a recorded height in memory. */
  keep(block: RecordedHeight, states: PoolStates): void;
  /** Forgets everything, because a transaction was rolled back, or has deleted heights. */
  clear(): void;
};

/** Number of heights whose states are in memory: consecutive heights, and both ends of a gap. */
const KEPT = 4;

/** The newest state of a pool at or below a height. */
export const STATE_OF_POOL =
  'SELECT height, reserve1, reserve2 FROM changes WHERE pool = $1 AND height <= $2 ORDER BY height DESC LIMIT 1';

/** Creates the memory of one connection. */
export function createPoolMemory(): PoolMemory {
  let ids: string[] = [];
  let numbers = new Map<string, number>();
  /** By block: another process can replace the block of a height. */
  const kept = new Map<string, PoolStates>();

  async function refresh(sql: ReadSql): Promise<void> {
    const from = ids.length;
    const rows = await sql.all('SELECT pool, id FROM pools WHERE pool >= $1 ORDER BY pool', from);
    // Another transaction may have read some of them meanwhile, or may have been rolled back.
    if (ids.length < from) return refresh(sql);
    for (const row of rows) {
      if (numberOf(row, 'pool') !== ids.length) continue;
      numbers.set(String(row['id']), ids.length);
      ids.push(String(row['id']));
    }
  }

  function keep(block: RecordedHeight, states: PoolStates): void {
    const key = keyOf(block, states.version);
    kept.delete(key);
    kept.set(key, states);
    for (const oldest of kept.keys()) if (kept.size > KEPT) kept.delete(oldest);
  }

  return {
    get ids() {
      return ids;
    },
    refresh,
    async numbersOf(sql, poolIds) {
      if (poolIds.some((id) => !numbers.has(id))) await refresh(sql);
      return new Map(poolIds.flatMap((id) => (numbers.has(id) ? [[id, numbers.get(id) ?? 0] as const] : [])));
    },
    async statesAfter(sql, block, version) {
      const known = kept.get(keyOf(block, version));
      if (known !== undefined) {
        keep(block, known);
        return withRoom(known, ids.length);
      }
      await refresh(sql);
      const states = noPoolStates(version, ids.length);
      await readStates(sql, states, ids, block.beaconHeight);
      keep(block, states);
      return states;
    },
    async statesOf(sql, { version, exchange: { directory, reserves } }) {
      await refresh(sql);
      const added = directory.ids.filter((id) => !numbers.has(id));
      const rows = added.map((id, index) => [ids.length + index, id, null, null] as const);
      await sql.put(POOL_BASES, rows);
      if (added.length > 0) await refresh(sql);
      const states = noPoolStates(version, ids.length);
      for (const [place, id] of directory.ids.entries()) {
        const [reserve1 = 0n, reserve2 = 0n] = [reserves[place * 2], reserves[place * 2 + 1]];
        setState(states, numbers.get(id) ?? 0, { reserve1, reserve2 });
      }
      return states;
    },
    keep,
    clear() {
      ids = [];
      numbers = new Map();
      kept.clear();
    },
  };
}

function keyOf({ beaconHeight, hash, time }: RecordedHeight, version: ExchangeVersion): string {
  return `${version} ${beaconHeight} ${time} ${hash}`;
}

/** The states with room for pools that were added since. */
function withRoom(states: PoolStates, count: number): PoolStates {
  if (states.exists.length >= count) return states;
  const roomy = noPoolStates(states.version, count);
  roomy.exists.set(states.exists);
  for (const [place, reserve] of states.reserves.entries()) roomy.reserves[place] = reserve;
  return roomy;
}

/** Reads the states after a height of their version. */
async function readStates(
  sql: ReadSql,
  states: PoolStates,
  ids: readonly string[],
  height: BeaconHeight,
): Promise<void> {
  const pools = [...states.exists.keys()].filter((pool) => versionOfPool(ids[pool]) === states.version);
  const found = await statesOfPools(
    sql,
    pools.map((pool) => [pool, height] as const),
  );
  for (const [index, pool] of pools.entries()) {
    const state = found[index];
    if (state !== undefined) setState(states, pool, state);
  }
}

/** The state of each pool after a recorded height; `undefined` if it did not exist. */
export async function statesOfPools(
  sql: ReadSql,
  wanted: readonly (readonly [pool: number, height: BeaconHeight])[],
): Promise<readonly (PoolReserves | undefined)[]> {
  const changes = await sql.each(STATE_OF_POOL, wanted);
  const unchanged = [...new Set(wanted.filter((_, index) => changes[index]?.length === 0).map(([pool]) => pool))];
  const rows = await sql.each(
    'SELECT base1, base2 FROM pools WHERE pool = $1',
    unchanged.map((pool) => [pool]),
  );
  const bases = new Map(unchanged.map((pool, index) => [pool, toReserves(rows[index]?.[0], 'base')]));
  return wanted.map(([pool], index) => {
    const [change] = changes[index] ?? [];
    return change === undefined ? bases.get(pool) : toReserves(change, 'reserve');
  });
}
