import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { CandleInterval } from '../domain/candle.ts';
import type { Instant } from '../domain/instant.ts';
import { areEqual, CANDLE_INTERVALS, fromRollup, minutesOf, openedSeconds, type Series } from './candle-rows.ts';
import { numberOf, type ReadSql, type Sql, type Value } from './database.ts';
import { numberPools, type PoolStates, readPools } from './pool-states.ts';
import { heightAtOrAbove, heightAtOrBelow, readDeletedBefore } from './reading.ts';
import { type IntervalRow, readIntervalRows } from './reading-intervals.ts';
import { readIntervalRollups } from './reading-windows.ts';
import type { FinalBlock, RecordedHeight, StoredState } from './store.ts';
import {
  CANDLES,
  CHANGES,
  HEIGHTS,
  type IntervalTable,
  intervalsOf,
  POOL_BASES,
  RANGES,
  toVersionNumber,
} from './tables.ts';

/** The recorded heights of a version next to a height that is not recorded, and the states of all pools after them. */
type Neighbours = { readonly lower: Neighbour | undefined; readonly upper: Neighbour | undefined };

type Neighbour = RecordedHeight & { readonly states: PoolStates };

/**
 * Records a final height, at any place among those that are recorded. Heights that are recorded or deleted are skipped.
 *
 * @returns whether it {@link fits}
 */
export async function recordHeight(
  sql: Sql,
  { hash, time, version, exchange }: FinalBlock<StoredState>,
): Promise<boolean> {
  const { beaconHeight: height, directory, reserves } = exchange;
  const isKnown = (await heightAtOrBelow(sql, height))?.beaconHeight === height;
  if (!isKnown && time < (await readDeletedBefore(sql))) return true;
  const isOfChain = await fits(sql, { beaconHeight: height, hash, time });
  if (isKnown || !isOfChain) return isOfChain;

  const neighbourOf = async (recorded: RecordedHeight | undefined): Promise<Neighbour | undefined> => {
    const pools = recorded && (await readPools(sql, version, recorded.beaconHeight));
    return pools && { ...recorded, states: new Map(pools.map(({ pool, state }) => [pool, state])) };
  };
  const lower = await neighbourOf(await heightAtOrBelow(sql, height, version));
  const upper = await neighbourOf(await heightAtOrAbove(sql, height, version));
  const numbers = await numberPools(sql, directory.ids);
  const ids = [...numbers.keys()];
  // No pool of a version of the exchange vanishes. If a state lacks one, it keeps its reserves.
  const states = new Map(lower?.states);
  for (const [place, id] of directory.ids.entries()) {
    const state = { reserve1: reserves[place * 2] ?? 0n, reserve2: reserves[place * 2 + 1] ?? 0n };
    states.set(numbers.get(id) ?? 0, state);
  }

  const touched = findTouched(states, { lower, upper });
  await writeChanges(sql, height, states, { lower, upper }, touched);
  // It is the lowest height of its version now.
  if (lower === undefined)
    await sql.put(
      POOL_BASES,
      touched.map((pool) => {
        const { reserve1 = null, reserve2 = null } = states.get(pool) ?? {};
        return [pool, ids[pool] ?? '', reserve1, reserve2];
      }),
    );
  await sql.put(HEIGHTS, [[height, hash ?? null, time, toVersionNumber(version)]]);
  await addToRanges(sql, height);
  for (const interval of CANDLE_INTERVALS) {
    const series = { version, interval };
    const table = intervalsOf(version);
    await addToInterval(sql, table, interval, { time, height });
    // The upper height has other changes now.
    for (const opened of new Set([time, upper?.time ?? time].map((each) => openedSeconds(each, interval)))) {
      const [row] = await readIntervalRows(sql, table, interval, '= $2', opened);
      if (row !== undefined) await rebuildCandles(sql, series, row, touched);
    }
  }
  return true;
}

/**
 * Whether a block can be one of the chain that is recorded: the recorded state and trades at its height are of a block with its time
 * and hash, as far as hashes are known, and its time is between those of the recorded blocks next to it. Intervals rely on that.
 */
export async function fits(sql: ReadSql, { beaconHeight: height, hash, time }: RecordedHeight): Promise<boolean> {
  const known = await heightAtOrBelow(sql, height);
  const knownHash = known?.beaconHeight === height ? known.hash : undefined;
  if (knownHash !== undefined && hash !== undefined && hash !== knownHash) return false;
  for (const table of ['heights', 'traded_blocks']) {
    const query = `SELECT time FROM ${table} WHERE height`;
    const [lower] = await sql.all(`${query} <= $1 ORDER BY height DESC LIMIT 1`, height);
    const [upper] = await sql.all(`${query} >= $1 ORDER BY height LIMIT 1`, height);
    if ((lower && numberOf(lower, 'time') > time) || (upper && numberOf(upper, 'time') < time)) return false;
  }
  return true;
}

/** The pools that differ from one of the neighbours. */
function findTouched(states: PoolStates, { lower, upper }: Neighbours): readonly number[] {
  const recorded = [lower, upper].flatMap((neighbour) => neighbour?.states ?? []);
  const others = recorded.length > 0 ? recorded : [new Map()];
  const pools = new Set([...states.keys(), ...(upper?.states.keys() ?? [])]);
  return [...pools].filter((pool) => others.some((other) => !areEqual(states.get(pool), other.get(pool))));
}

async function writeChanges(
  sql: Sql,
  height: BeaconHeight,
  states: PoolStates,
  { lower, upper }: Neighbours,
  touched: readonly number[],
): Promise<void> {
  const rows: (readonly Value[])[] = [];
  const gone: [number, BeaconHeight][] = [];
  for (const pool of touched) {
    const [before, now, after] = [lower, { states }, upper].map((each) => each?.states.get(pool));
    if (lower && now && !areEqual(now, before)) rows.push([pool, height, now.reserve1, now.reserve2]);
    if (upper === undefined) continue;
    if (after && !areEqual(now, after)) rows.push([pool, upper.beaconHeight, after.reserve1, after.reserve2]);
    else if (lower) gone.push([pool, upper.beaconHeight]);
  }
  await sql.put(CHANGES, rows);
  await sql.runEach('DELETE FROM changes WHERE pool = $1 AND height = $2', gone);
}

/** Adds a height to the ranges, and joins it with those next to it. */
async function addToRanges(sql: Sql, height: BeaconHeight): Promise<void> {
  const [before] = await sql.all('SELECT first, last FROM ranges WHERE last = $1', height - 1);
  const [after] = await sql.all('SELECT first, last FROM ranges WHERE first = $1', height + 1);
  if (after) await sql.run('DELETE FROM ranges WHERE first = $1', height + 1);
  await sql.put(RANGES, [[before ? numberOf(before, 'first') : height, after ? numberOf(after, 'last') : height]]);
}

/** Counts a height in its interval, in a table of intervals. */
export async function addToInterval(
  sql: Sql,
  table: IntervalTable,
  interval: CandleInterval,
  { time, height }: { readonly time: Instant; readonly height: BeaconHeight },
): Promise<void> {
  const opened = openedSeconds(time, interval);
  const [row] = await readIntervalRows(sql, table, interval, '= $2', opened);
  const { firstHeight, lastHeight, heights } = row ?? { firstHeight: height, lastHeight: height, heights: 0 };
  const [first, last] = [Math.min(firstHeight, height), Math.max(lastHeight, height)];
  await sql.put(table, [[minutesOf(interval), opened, first, last, heights + 1]]);
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
