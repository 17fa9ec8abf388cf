import type { BeaconHeight, HeightRange } from '../domain/beacon-height.ts';
import type { CandleInterval } from '../domain/candle.ts';
import type { Instant } from '../domain/instant.ts';
import { minutesOf } from './candle-rows.ts';
import { numberOf, type ReadSql, type Row } from './database.ts';
import type { IntervalTable } from './tables.ts';

/** A row of a table of intervals. */
export type IntervalRow = {
  readonly opened: number;
  readonly firstHeight: BeaconHeight;
  readonly lastHeight: BeaconHeight;
  readonly heights: number;
};

const INTERVAL_COLUMNS = 'opened, first_height, last_height, heights';

function toInterval(row: Row): IntervalRow {
  return {
    opened: numberOf(row, 'opened'),
    firstHeight: numberOf(row, 'first_height'),
    lastHeight: numberOf(row, 'last_height'),
    heights: numberOf(row, 'heights'),
  };
}

/** The intervals of one length under a condition on `opened` and the parameters from `$2` on. */
export async function readIntervalRows(
  sql: ReadSql,
  { name }: IntervalTable,
  interval: CandleInterval,
  condition: string,
  ...values: readonly number[]
): Promise<readonly IntervalRow[]> {
  const query = `SELECT ${INTERVAL_COLUMNS} FROM ${name} WHERE minutes = $1 AND opened ${condition}`;
  return (await sql.all(query, minutesOf(interval), ...values)).map(toInterval);
}

/** The hours all of whose blocks are in a range of heights, oldest first. @param opened when the first and the last may open */
export async function readHours(
  sql: ReadSql,
  table: IntervalTable,
  { from, to }: HeightRange,
  opened: { readonly from: number; readonly to?: number },
): Promise<readonly IntervalRow[]> {
  const condition = '>= $2 AND opened <= $3 AND first_height >= $4 AND last_height <= $5 ORDER BY opened';
  return readIntervalRows(sql, table, 'ONE_HOUR', condition, opened.from, opened.to ?? MAX_OPENED, from, to);
}

/** After all intervals. */
const MAX_OPENED = 2 ** 40;

/** Which intervals are read: those that open at `from` or later and before `to`, and of these the newest. */
type IntervalsQuery = {
  readonly interval: CandleInterval;
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
  /** Blocks above it do not count. */
  readonly upTo: BeaconHeight;
  readonly last?: number;
};

/**
 * An interval of a result.
 * - `isCut`: it also has blocks above `upTo`, which do not count.
 * - `isComplete`: all blocks from its first to its last one are recorded, and the blocks just below and just above these. Block 1 needs
 *   no block below it. A last block that is at `upTo`, or is the newest recorded one, needs no block above it.
 */
export type ReadInterval = IntervalRow & { readonly isCut: boolean; readonly isComplete: boolean };

/** Intervals, oldest first. @param canCut whether intervals with blocks above `upTo` are read as well */
export async function readIntervals(
  sql: ReadSql,
  table: IntervalTable,
  { interval, from = 0, to, upTo, last = Number.MAX_SAFE_INTEGER }: IntervalsQuery,
  canCut: boolean,
): Promise<readonly ReadInterval[]> {
  const end = to === undefined ? MAX_OPENED : Math.ceil(to / 1000);
  const counted = `heights > 0 AND ${canCut ? 'first_height' : 'last_height'} <= $4`;
  const condition = `>= $2 AND opened < $3 AND ${counted} ORDER BY opened DESC LIMIT $5`;
  const newestFirst = await readIntervalRows(sql, table, interval, condition, Math.ceil(from / 1000), end, upTo, last);
  const [newest, oldest] = [newestFirst[0], newestFirst.at(-1)];
  if (oldest === undefined || newest === undefined) return [];
  const before = await readIntervalRows(sql, table, interval, '< $2 ORDER BY opened DESC LIMIT 1', oldest.opened);
  const after = await readIntervalRows(sql, table, interval, '> $2 ORDER BY opened LIMIT 1', newest.opened);
  const [top] = await sql.all(`SELECT MAX(height) AS height FROM ${table.blocksWhere}`);

  const found = newestFirst.toReversed();
  const intervals: ReadInterval[] = [];
  for (const [index, row] of found.entries()) {
    const isCut = row.lastHeight > upTo;
    const cut = isCut && (await countBlocks(sql, table, { from: row.firstHeight, to: upTo }));
    const own = { ...row, ...cut };
    // The blocks of an older interval are deleted, so that it cannot be cut.
    if (own.heights === 0) continue;
    const { firstHeight, lastHeight } = own;
    const next = found[index + 1] ?? after[0];
    const isFollowed = [upTo, numberOf(top, 'height'), (next?.firstHeight ?? 0) - 1].includes(lastHeight);
    const isPreceded = firstHeight === 1 || (found[index - 1] ?? before[0])?.lastHeight === firstHeight - 1;
    const isWhole = own.heights === lastHeight - firstHeight + 1;
    intervals.push({ ...own, isCut, isComplete: isWhole && isPreceded && isFollowed });
  }
  return intervals;
}

/** The number of the blocks of a table in a range of heights, and the highest of them. */
export async function countBlocks(
  sql: ReadSql,
  { blocksWhere }: IntervalTable,
  { from, to }: HeightRange,
): Promise<Pick<IntervalRow, 'heights' | 'lastHeight'>> {
  const query = `SELECT MAX(height) AS last, COUNT(*) AS heights FROM ${blocksWhere} AND height >= $1 AND height <= $2`;
  const [count] = await sql.all(query, from, to);
  return { lastHeight: numberOf(count, 'last'), heights: numberOf(count, 'heights') };
}

/** The candles of each of some pools in consecutive intervals, oldest first: all columns from `opened` on. */
export async function readCandleRows(
  sql: ReadSql,
  { candles: { name, columns } }: IntervalTable,
  interval: CandleInterval,
  intervals: readonly IntervalRow[],
  pools: readonly number[],
): Promise<readonly (readonly Row[])[]> {
  const [first, last] = [intervals.at(0), intervals.at(-1)];
  if (first === undefined || last === undefined) return [];
  const range = 'minutes = $1 AND pool = $2 AND opened >= $3 AND opened <= $4';
  return sql.each(
    `SELECT ${Object.keys(columns).slice(2).join(', ')} FROM ${name} WHERE ${range} ORDER BY opened`,
    pools.map((pool) => [minutesOf(interval), pool, first.opened, last.opened]),
  );
}
