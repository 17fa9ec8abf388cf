import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { CandleInterval } from '../domain/candle.ts';
import type { Instant } from '../domain/instant.ts';
import { CANDLE_INTERVALS, fromRollup, minutesOf, openedAt, toInterval, toRollup } from './candle-rows.ts';
import { numberOf, type ReadSql, type Row, type Sql, type Value } from './database.ts';
import { differs, noPoolStates, type PoolMemory, type PoolStates, stateIn } from './pool-states.ts';
import { type AddedHeight, addBelowInterval, addToOwnInterval, areEqual, type Rollup } from './rollup.ts';
import { type FinalBlock, HistoryDatabaseError, type RecordedHeight } from './store.ts';
import { CANDLE_COLUMNS, CANDLES, CHANGES, FACTS, HEIGHTS, INTERVALS, POOL_BASES, RANGES } from './tables.ts';

/** The fact before which time no height is recorded: those heights are deleted, and their candles are final. */
const DELETED_BEFORE = 'deleted-before';

/** The columns of HEIGHTS. */
export const HEIGHT_COLUMNS = 'height, hash, time';

/** Reads a row of HEIGHTS. */
export function toRecordedHeight(row: Row): RecordedHeight {
  return {
    beaconHeight: numberOf(row, 'height'),
    hash: row['hash'] === null ? undefined : String(row['hash']),
    time: numberOf(row, 'time'),
  };
}

/** The newest recorded height at or below a height. */
export async function heightAtOrBelow(sql: ReadSql, height: BeaconHeight): Promise<RecordedHeight | undefined> {
  const query = `SELECT ${HEIGHT_COLUMNS} FROM heights WHERE height <= $1 ORDER BY height DESC LIMIT 1`;
  return (await sql.all(query, height)).map(toRecordedHeight)[0];
}

/** The oldest recorded height at or above a height. */
export async function heightAtOrAbove(sql: ReadSql, height: BeaconHeight): Promise<RecordedHeight | undefined> {
  const query = `SELECT ${HEIGHT_COLUMNS} FROM heights WHERE height >= $1 ORDER BY height LIMIT 1`;
  return (await sql.all(query, height)).map(toRecordedHeight)[0];
}

/** The recorded heights next to a height that is not recorded, and the states of all pools after them. */
type Neighbours = {
  readonly lower: (RecordedHeight & { readonly states: PoolStates }) | undefined;
  readonly upper: (RecordedHeight & { readonly states: PoolStates }) | undefined;
};

/**
 * Records a final height, at any place among those that are recorded. Heights that are recorded or deleted are skipped.
 *
 * @returns `false` if its time is not between those of the recorded heights next to it: intervals of candles rely on it
 * @throws HistoryDatabaseError if another block is recorded at this height
 */
export async function recordHeight(
  sql: Sql,
  memory: PoolMemory,
  { hash, time, exchange }: FinalBlock,
): Promise<boolean> {
  const height = exchange.beaconHeight;
  const below = await heightAtOrBelow(sql, height);
  if (below?.beaconHeight === height) {
    requireSame(below, hash, time);
    return true;
  }
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
  await rollUp(sql, { height, time, states, ...neighbours }, touched);
  // Its kept states would miss these pools.
  if (touched.some((pool) => above && states.exists[pool] === 1 && !neighbours.upper?.states.exists[pool]))
    memory.clear();
  else memory.keep({ beaconHeight: height, hash, time }, states);
  return true;
}

/** The time before which heights are deleted; 0 while none is. */
export async function readDeletedBefore(sql: ReadSql): Promise<Instant> {
  const [fact] = await sql.all('SELECT value FROM facts WHERE name = $1', DELETED_BEFORE);
  return fact === undefined ? 0 : Number(fact['value']);
}

/** Sets the time before which heights are deleted. */
export async function writeDeletedBefore(sql: Sql, time: Instant): Promise<void> {
  await sql.put(FACTS, [[DELETED_BEFORE, String(time)]]);
}

function requireSame(recorded: RecordedHeight, hash: string | undefined, time: Instant): void {
  const isSameHash = recorded.hash === undefined || hash === undefined || recorded.hash === hash;
  if (isSameHash && recorded.time === time) return;
  throw new HistoryDatabaseError(
    `The history belongs to another chain: it has another block at beacon height ${recorded.beaconHeight}.`,
    { isPermanent: true },
  );
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

type Added = Neighbours & { readonly height: BeaconHeight; readonly time: Instant; readonly states: PoolStates };

/** Brings the candles up to date: of the interval of the height, and of that of the next recorded one above it. */
async function rollUp(sql: Sql, added: Added, touched: readonly number[]): Promise<void> {
  const rows: (readonly Value[])[] = [];
  for (const interval of CANDLE_INTERVALS) rows.push(...(await rollUpInterval(sql, interval, added, touched)));
  await sql.put(CANDLES, rows);
}

async function rollUpInterval(
  sql: Sql,
  interval: CandleInterval,
  { height, time, states, lower, upper }: Added,
  touched: readonly number[],
): Promise<readonly (readonly Value[])[]> {
  const minutes = minutesOf(interval);
  const opened = openedAt(time, interval);
  const upperOpened = upper && openedAt(upper.time, interval);
  const firstHeight = await addToInterval(sql, minutes, opened, height);

  const own = await readRollupsOf(sql, minutes, opened, touched, firstHeight);
  const isOther = upper !== undefined && upperOpened !== undefined && upperOpened !== opened;
  const next = isOther ? await readRollupsOf(sql, minutes, upperOpened, touched, upper.beaconHeight) : [];
  const isLowerInside = lower !== undefined && openedAt(lower.time, interval) === opened;

  const rows: (readonly Value[])[] = [];
  for (const [index, pool] of touched.entries()) {
    const change: AddedHeight = {
      height,
      own: stateIn(states, pool),
      lower: lower && { height: lower.beaconHeight, state: stateIn(lower.states, pool), isInside: isLowerInside },
      upper: upper && { height: upper.beaconHeight, state: stateIn(upper.states, pool), isInside: !isOther },
    };
    const before = own[index];
    // A pool that is as it was before its interval needs no row.
    const needsRow = before !== undefined || !isCarried(change);
    const rollup = needsRow ? addToOwnInterval(before, change, firstHeight) : undefined;
    if (rollup !== undefined) rows.push(fromRollup(minutes, pool, opened, rollup));
    const above = isOther ? addBelowInterval(next[index], change) : undefined;
    if (above !== undefined) rows.push(fromRollup(minutes, pool, upperOpened ?? 0, above));
  }
  return rows;
}

/** Whether the state of a pool in the interval of the added height is that before it, or that of the lowest height. */
function isCarried({ own, lower, upper }: AddedHeight): boolean {
  if (upper?.isInside && upper.state !== undefined && !areEqual(own, upper.state)) return false;
  return lower === undefined || areEqual(own, lower.state);
}

/** Counts a height in its interval. @returns the first height of the interval without this one; the height itself if it is the only one */
async function addToInterval(sql: Sql, minutes: number, opened: number, height: BeaconHeight): Promise<BeaconHeight> {
  const query = `SELECT opened, first_height, last_height, heights FROM intervals WHERE minutes = $1 AND opened = $2`;
  const [row] = await sql.all(query, minutes, opened);
  const { firstHeight, lastHeight, heights } = row
    ? toInterval(row)
    : { firstHeight: height, lastHeight: height, heights: 0 };
  const values = [minutes, opened, Math.min(firstHeight, height), Math.max(lastHeight, height), heights + 1];
  await sql.put(INTERVALS, [values]);
  return firstHeight;
}

/** What happened to each pool in an interval, by its candle; `undefined` without one. @param firstHeight that of the interval */
export async function readRollupsOf(
  sql: ReadSql,
  minutes: number,
  opened: number,
  pools: readonly number[],
  firstHeight: BeaconHeight,
): Promise<readonly (Rollup | undefined)[]> {
  const rows = await sql.each(
    `SELECT ${CANDLE_COLUMNS} FROM candles WHERE minutes = $1 AND pool = $2 AND opened = $3`,
    pools.map((pool) => [minutes, pool, opened]),
  );
  return rows.map(([row]) => row && toRollup(row, firstHeight));
}
