import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { CandleInterval } from '../domain/candle.ts';
import type { Instant } from '../domain/instant.ts';
import { CANDLE_INTERVALS, fromRollup, type IntervalRow, minutesOf, openedAt } from './candle-rows.ts';
import { numberOf, type Sql, type Value } from './database.ts';
import { differs, noPoolStates, type PoolMemory, type PoolStates, stateIn } from './pool-states.ts';
import { heightAtOrAbove, heightAtOrBelow, readDeletedBefore, readInterval } from './reading.ts';
import { readIntervalRollups } from './reading-windows.ts';
import type { FinalBlock, RecordedHeight } from './store.ts';
import { CANDLES, CHANGES, HEIGHTS, INTERVALS, POOL_BASES, RANGES } from './tables.ts';

/** The recorded heights next to a height that is not recorded, and the states of all pools after them. */
type Neighbours = {
  readonly lower: (RecordedHeight & { readonly states: PoolStates }) | undefined;
  readonly upper: (RecordedHeight & { readonly states: PoolStates }) | undefined;
};

/**
 * Records a final height, at any place among those that are recorded. Heights that are recorded or deleted are skipped.
 *
 * @returns `false` if another block is recorded at this height, or if its time is not between those of the recorded heights next
 *   to it: intervals of candles rely on it
 */
export async function recordHeight(
  sql: Sql,
  memory: PoolMemory,
  { hash, time, exchange }: FinalBlock,
): Promise<boolean> {
  const height = exchange.beaconHeight;
  const below = await heightAtOrBelow(sql, height);
  if (below?.beaconHeight === height) return isSame(below, hash, time);
  if (time < (await readDeletedBefore(sql))) return true;

  const above = await heightAtOrAbove(sql, height);
  if (time < (below?.time ?? time) || time > (above?.time ?? time)) return false;
  const states = await memory.statesOf(sql, exchange);
  const neighbours: Neighbours = {
    lower: below && { ...below, states: await memory.statesAfter(sql, below) },
    upper: above && { ...above, states: await memory.statesAfter(sql, above) },
  };
  keepVanished(states, neighbours.lower);

  const touched = findTouched(states, neighbours);
  await writeChanges(sql, height, states, neighbours, touched);
  if (below === undefined) await writeBase(sql, memory.ids, states, touched);
  await sql.put(HEIGHTS, [[height, hash ?? null, time]]);
  await addToRanges(sql, height);
  for (const interval of CANDLE_INTERVALS) {
    await rebuildCandles(sql, interval, await addToInterval(sql, interval, time, height), touched);
    // The upper height has other changes now.
    const upperOpened = openedAt(above?.time ?? time, interval);
    const next = upperOpened === openedAt(time, interval) ? undefined : await readInterval(sql, interval, upperOpened);
    if (next !== undefined) await rebuildCandles(sql, interval, next, touched);
  }
  // Its kept states would miss these pools.
  if (touched.some((pool) => above && states.exists[pool] === 1 && !neighbours.upper?.states.exists[pool]))
    memory.clear();
  else memory.keep({ beaconHeight: height, hash, time }, states);
  return true;
}

function isSame(recorded: RecordedHeight, hash: string | undefined, time: Instant): boolean {
  const isSameHash = recorded.hash === undefined || hash === undefined || recorded.hash === hash;
  return isSameHash && recorded.time === time;
}

/** No pool of the exchange vanishes. If a state lacks one, it keeps its reserves. */
function keepVanished(states: PoolStates, lower: Neighbours['lower']): void {
  for (const [pool, exists] of lower?.states.exists.entries() ?? []) {
    if (exists !== 1 || states.exists[pool] === 1) continue;
    states.exists[pool] = 1;
    states.reserves.set(lower?.states.reserves.subarray(pool * 2, pool * 2 + 2) ?? [], pool * 2);
  }
}

/** The pools that differ from one of the neighbours. */
function findTouched(states: PoolStates, { lower, upper }: Neighbours): readonly number[] {
  const recorded = [lower, upper].flatMap((neighbour) => neighbour?.states ?? []);
  const others = recorded.length > 0 ? recorded : [noPoolStates(states.exists.length)];
  const touched: number[] = [];
  for (let pool = 0; pool < states.exists.length; pool++)
    if (others.some((other) => differs(states, other, pool))) touched.push(pool);
  return touched;
}

async function writeChanges(
  sql: Sql,
  height: BeaconHeight,
  states: PoolStates,
  { lower, upper }: Neighbours,
  touched: readonly number[],
): Promise<void> {
  const rowAt = (at: BeaconHeight, from: PoolStates, pool: number): readonly Value[] => [
    ...[pool, at],
    ...[from.reserves[pool * 2] ?? 0n, from.reserves[pool * 2 + 1] ?? 0n],
  ];
  const rows: (readonly Value[])[] = [];
  const gone: [number, BeaconHeight][] = [];
  for (const pool of touched) {
    if (lower && stateIn(states, pool) && differs(states, lower.states, pool)) rows.push(rowAt(height, states, pool));
    if (upper === undefined) continue;
    if (stateIn(upper.states, pool) && differs(states, upper.states, pool))
      rows.push(rowAt(upper.beaconHeight, upper.states, pool));
    else if (lower) gone.push([pool, upper.beaconHeight]);
  }
  await sql.put(CHANGES, rows);
  await sql.runEach('DELETE FROM changes WHERE pool = $1 AND height = $2', gone);
}

/** Sets the states after the lowest recorded height. */
async function writeBase(
  sql: Sql,
  ids: readonly string[],
  states: PoolStates,
  pools: readonly number[],
): Promise<void> {
  const rows = pools.map((pool): readonly Value[] => {
    const { reserve1 = null, reserve2 = null } = stateIn(states, pool) ?? {};
    return [pool, ids[pool] ?? '', reserve1, reserve2];
  });
  await sql.put(POOL_BASES, rows);
}

/** Adds a height to the ranges, and joins it with those next to it. */
async function addToRanges(sql: Sql, height: BeaconHeight): Promise<void> {
  const [before] = await sql.all('SELECT first, last FROM ranges WHERE last = $1', height - 1);
  const [after] = await sql.all('SELECT first, last FROM ranges WHERE first = $1', height + 1);
  if (after) await sql.run('DELETE FROM ranges WHERE first = $1', height + 1);
  await sql.put(RANGES, [[before ? numberOf(before, 'first') : height, after ? numberOf(after, 'last') : height]]);
}

/** Counts a height in its interval. @returns the interval with it */
async function addToInterval(
  sql: Sql,
  interval: CandleInterval,
  time: Instant,
  height: BeaconHeight,
): Promise<IntervalRow> {
  const opened = openedAt(time, interval);
  const before = await readInterval(sql, interval, opened);
  const firstHeight = Math.min(before?.firstHeight ?? height, height);
  const lastHeight = Math.max(before?.lastHeight ?? height, height);
  const heights = (before?.heights ?? 0) + 1;
  await sql.put(INTERVALS, [[minutesOf(interval), opened, firstHeight, lastHeight, heights]]);
  return { opened, firstHeight, lastHeight, heights };
}

/**
 * Computes the candles of pools in an interval from their changes, or from the candles of its hours. So shorter intervals come
 * before longer ones. A pool without a change needs no candle.
 */
export async function rebuildCandles(
  sql: Sql,
  interval: CandleInterval,
  row: IntervalRow,
  pools: readonly number[],
): Promise<void> {
  const minutes = minutesOf(interval);
  const { opened } = row;
  const rollups = await readIntervalRollups(sql, pools, interval, row);
  const rows: (readonly Value[])[] = [];
  const gone: (readonly number[])[] = [];
  for (const [index, pool] of pools.entries()) {
    const rollup = rollups[index];
    if (rollup) rows.push(fromRollup(minutes, pool, opened, rollup));
    else gone.push([minutes, pool, opened]);
  }
  await sql.put(CANDLES, rows);
  await sql.runEach('DELETE FROM candles WHERE minutes = $1 AND pool = $2 AND opened = $3', gone);
}
