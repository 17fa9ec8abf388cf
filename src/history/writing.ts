import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { Instant } from '../domain/instant.ts';
import { CANDLE_INTERVALS, fromRollup, type IntervalRow, minutesOf, openedAt, type Series } from './candle-rows.ts';
import { numberOf, type Sql, type Value } from './database.ts';
import { differs, noPoolStates, type PoolMemory, type PoolStates, setState, stateIn } from './pool-states.ts';
import { heightAtOrAbove, heightAtOrBelow, readDeletedBefore, readInterval } from './reading.ts';
import { readIntervalRollups } from './reading-windows.ts';
import type { FinalBlock, RecordedHeight } from './store.ts';
import { CANDLES, CHANGES, HEIGHTS, intervalsOf, POOL_BASES, RANGES } from './tables.ts';
import { toVersionNumber } from './versions.ts';

/** The recorded heights of a version next to a height that is not recorded, and the states of all pools after them. */
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
export async function recordHeight(sql: Sql, memory: PoolMemory, block: FinalBlock): Promise<boolean> {
  const { hash, time, version } = block;
  const height = block.exchange.beaconHeight;
  const below = await heightAtOrBelow(sql, height);
  if (below?.beaconHeight === height) return isSame(below, hash, time);
  if (time < (await readDeletedBefore(sql))) return true;

  const above = await heightAtOrAbove(sql, height);
  if (time < (below?.time ?? time) || time > (above?.time ?? time)) return false;
  const states = await memory.statesOf(sql, block);
  const lower = await heightAtOrBelow(sql, height, version);
  const upper = await heightAtOrAbove(sql, height, version);
  const neighbours: Neighbours = {
    lower: lower && { ...lower, states: await memory.statesAfter(sql, lower, version) },
    upper: upper && { ...upper, states: await memory.statesAfter(sql, upper, version) },
  };
  keepVanished(states, neighbours.lower);

  const touched = findTouched(states, neighbours);
  await writeChanges(sql, height, states, neighbours, touched);
  if (lower === undefined) await writeBase(sql, memory.ids, states, touched);
  await sql.put(HEIGHTS, [[height, hash ?? null, time, toVersionNumber(version)]]);
  await addToRanges(sql, height);
  for (const interval of CANDLE_INTERVALS) {
    const series = { version, interval };
    await rebuildCandles(sql, series, await addToInterval(sql, series, time, height), touched);
    // The upper height has other changes now.
    const upperOpened = openedAt(upper?.time ?? time, interval);
    const next = upperOpened === openedAt(time, interval) ? undefined : await readInterval(sql, series, upperOpened);
    if (next !== undefined) await rebuildCandles(sql, series, next, touched);
  }
  // Its kept states would miss these pools.
  if (touched.some((pool) => upper && states.exists[pool] === 1 && !neighbours.upper?.states.exists[pool]))
    memory.clear();
  else memory.keep({ beaconHeight: height, hash, time }, states);
  return true;
}

function isSame(recorded: RecordedHeight, hash: string | undefined, time: Instant): boolean {
  const isSameHash = recorded.hash === undefined || hash === undefined || recorded.hash === hash;
  return isSameHash && recorded.time === time;
}

/** No pool of a version of the exchange vanishes. If a state lacks one, it keeps its reserves. */
function keepVanished(states: PoolStates, lower: Neighbours['lower']): void {
  for (const pool of lower?.states.exists.keys() ?? []) {
    const state = states.exists[pool] === 1 ? undefined : stateIn(lower?.states, pool);
    if (state !== undefined) setState(states, pool, state);
  }
}

/** The pools that differ from one of the neighbours. */
function findTouched(states: PoolStates, { lower, upper }: Neighbours): readonly number[] {
  const recorded = [lower, upper].flatMap((neighbour) => neighbour?.states ?? []);
  const others = recorded.length > 0 ? recorded : [noPoolStates(states.version, states.exists.length)];
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

/** Sets the states after the lowest recorded height of a version. */
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
async function addToInterval(sql: Sql, series: Series, time: Instant, height: BeaconHeight): Promise<IntervalRow> {
  const { version, interval } = series;
  const opened = openedAt(time, interval);
  const before = await readInterval(sql, series, opened);
  const firstHeight = Math.min(before?.firstHeight ?? height, height);
  const lastHeight = Math.max(before?.lastHeight ?? height, height);
  const heights = (before?.heights ?? 0) + 1;
  await sql.put(intervalsOf(version), [[minutesOf(interval), opened, firstHeight, lastHeight, heights]]);
  return { opened, firstHeight, lastHeight, heights };
}

/**
 * Computes the candles of pools in an interval from their changes, or from the candles of its hours. So shorter intervals come
 * before longer ones. A pool without a change needs no candle.
 */
export async function rebuildCandles(
  sql: Sql,
  series: Series,
  row: IntervalRow,
  pools: readonly number[],
): Promise<void> {
  const minutes = minutesOf(series.interval);
  const { opened } = row;
  const rollups = await readIntervalRollups(sql, pools, series, row);
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
