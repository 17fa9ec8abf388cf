import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ExchangeState } from '../domain/exchange.ts';
import type { PoolReserves } from '../domain/reserves.ts';
import { toReserves } from './candle-rows.ts';
import { numberOf, type ReadSql, type Sql } from './database.ts';
import type { RecordedHeight } from './store.ts';
import { POOL_BASES } from './tables.ts';

/** The states of all pools after a height, by the numbers of the pools. */
export type PoolStates = {
  /** Two for each pool. */
  readonly reserves: BigUint64Array;
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

/** Creates states in which none of `count` pools exists. */
export function noPoolStates(count: number): PoolStates {
  return { reserves: new BigUint64Array(count * 2), exists: new Uint8Array(count) };
}

/** The pools of a database, and the states that were needed last. It belongs to one connection. */
export type PoolMemory = {
  /** Their ids, by number. */
  readonly ids: readonly string[];
  /** Reads the pools that another process has added. */
  refresh(sql: ReadSql): Promise<void>;
  /** The number of each pool that is recorded, of those with these ids. */
  numbersOf(sql: ReadSql, ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The states after a recorded height. */
  statesAfter(sql: ReadSql, block: RecordedHeight): Promise<PoolStates>;
  /** The states in an exchange. Pools that are not recorded yet are added to the database. */
  statesOf(sql: Sql, exchange: ExchangeState): Promise<PoolStates>;
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
    kept.delete(keyOf(block));
    kept.set(keyOf(block), states);
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
    async statesAfter(sql, block) {
      const known = kept.get(keyOf(block));
      if (known !== undefined) {
        keep(block, known);
        return withRoom(known, ids.length);
      }
      const states = await readStates(sql, block.beaconHeight);
      keep(block, states);
      return states;
    },
    async statesOf(sql, { directory, reserves }) {
      await refresh(sql);
      const added = directory.ids.filter((id) => !numbers.has(id));
      const rows = added.map((id, index) => [ids.length + index, id, null, null] as const);
      await sql.put(POOL_BASES, rows);
      if (added.length > 0) await refresh(sql);
      const states = noPoolStates(ids.length);
      for (const [place, id] of directory.ids.entries()) {
        const pool = numbers.get(id) ?? 0;
        states.exists[pool] = 1;
        states.reserves.set([reserves[place * 2] ?? 0n, reserves[place * 2 + 1] ?? 0n], pool * 2);
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

function keyOf({ beaconHeight, hash, time }: RecordedHeight): string {
  return `${beaconHeight} ${time} ${hash}`;
}

/** The states with room for pools that were added since. */
function withRoom(states: PoolStates, count: number): PoolStates {
  if (states.exists.length >= count) return states;
  const { reserves, exists } = noPoolStates(count);
  reserves.set(states.reserves);
  exists.set(states.exists);
  return { reserves, exists };
}

async function readStates(sql: ReadSql, height: BeaconHeight): Promise<PoolStates> {
  const [row] = await sql.all('SELECT COUNT(*) AS pools FROM pools');
  const states = noPoolStates(numberOf(row, 'pools'));
  const wanted = Array.from(states.exists, (_, pool) => [pool, height] as const);
  for (const [pool, state] of (await statesOfPools(sql, wanted)).entries()) {
    if (state === undefined) continue;
    states.exists[pool] = 1;
    states.reserves.set([state.reserve1, state.reserve2], pool * 2);
  }
  return states;
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
