import type { BeaconHeight, HeightRange, TimedHeight } from '../domain/beacon-height.ts';
import { sumVolumes, type Volume } from '../domain/trade.ts';
import { amountOf, numberOf, type ReadSql, type Row } from './database.ts';
import { numbersOf } from './pool-states.ts';
import { heightAtOrBelow, type Read } from './reading.ts';
import { countBlocks, readCandleRows, readHours, readIntervals } from './reading-intervals.ts';
import { TRADED_INTERVALS } from './tables.ts';
import type { RecordedTrade, TradedInterval } from './trade-store.ts';
import { toAmounts, toVolume } from './writing-trades.ts';

/** See `TradeStore.missingTrades`. */
export const readMissingTrades: Read<'missingTrades'> = async (sql, { from, to }, last) => {
  const lowest = Math.max(from, ((await heightAtOrBelow(sql, to, 'V1'))?.beaconHeight ?? 0) + 1);
  const [count] = await sql.all(
    'SELECT COUNT(*) AS heights FROM traded_blocks WHERE height >= $1 AND height <= $2',
    ...[lowest, to],
  );
  if (numberOf(count, 'heights') >= to - lowest + 1) return [];
  // Each recorded block that has a missing one just below it, with the next lower recorded block. The height above the range counts as one.
  const blocks = `SELECT height FROM traded_blocks WHERE height >= $1 AND height <= $2 UNION ALL SELECT $2 + 1`;
  const pairs = `SELECT height, COALESCE(LAG(height) OVER (ORDER BY height), $1 - 1) AS below FROM (${blocks}) known`;
  const gaps = await sql.all(
    `SELECT height, below FROM (${pairs}) pairs WHERE below < height - 1 ORDER BY height DESC LIMIT $3`,
    ...[lowest, to, last],
  );
  const missing: BeaconHeight[] = [];
  for (const gap of gaps)
    for (let height = numberOf(gap, 'height') - 1; height > numberOf(gap, 'below') && missing.length < last; height--)
      missing.push(height);
  return missing;
};

/** See `TradeStore.tradeCoverage`. */
export const readTradeCoverage: Read<'tradeCoverage'> = async (sql) => {
  const [first] = await sql.all('SELECT height, time FROM traded_blocks ORDER BY height LIMIT 1');
  const [count] = await sql.all('SELECT COUNT(*) AS blocks FROM traded_blocks');
  return first && { first: toTimedHeight(first), blocks: numberOf(count, 'blocks') };
};

const TRADE_COLUMNS = 'trades.height, place, tx, step, steps, sells, sold, bought, to_orders, from_orders, time';
const TIMED_TRADES = 'trades JOIN traded_blocks ON traded_blocks.height = trades.height';

/** See `TradeStore.trades`. */
export const readTrades: Read<'trades'> = async (sql, { poolIds, upTo, memoryFrom, last, before, from, to, sells }) => {
  const recorded = await readRecorded(sql, memoryFrom, upTo);
  const firstHeight = from === undefined ? 0 : await firstHeightFrom(sql, from);
  const endHeight = Math.min(upTo + 1, to === undefined ? upTo + 1 : await firstHeightFrom(sql, to));
  const end = before !== undefined && before.beaconHeight < endHeight ? before : { beaconHeight: endHeight, place: 0 };
  const pools = [...(await numbersOf(sql, poolIds))];
  // In PostgreSQL, parameters of `each` are columns, which a limit cannot be. Few different limits, because each statement stays prepared.
  const limit = 2 ** Math.ceil(Math.log2(Math.max(1, last)));
  const range = 'pool = $1 AND trades.height >= $2 AND (trades.height, place) < ($3, $4)';
  const side = sells === undefined ? '' : ` AND sells = ${sells}`;
  const rows = await sql.each(
    `SELECT ${TRADE_COLUMNS} FROM ${TIMED_TRADES} WHERE ${range}${side} ORDER BY trades.height DESC, place DESC LIMIT ${limit}`,
    pools.map(([, pool]) => [pool, firstHeight, end.beaconHeight, end.place]),
  );
  const tradesOf = (id: string, index: number) => (rows[index] ?? []).slice(0, last).map((row) => toTrade(id, row));
  return { recorded, value: new Map(pools.map(([id], index) => [id, tradesOf(id, index)])) };
};

/** See `TradeStore.trade`. */
export const readTrade: Read<'trade'> = async (sql, { beaconHeight, transactionId, step }) => {
  const condition = 'trades.height = $1 AND tx = $2 AND step = $3';
  const query = `SELECT (SELECT id FROM pools WHERE pool = trades.pool) AS id, ${TRADE_COLUMNS} FROM ${TIMED_TRADES} WHERE ${condition}`;
  const [row] = await sql.all(query, beaconHeight, transactionId, step);
  return row && toTrade(String(row['id']), row);
};

function toTrade(poolId: string, row: Row): RecordedTrade {
  return {
    poolId,
    beaconHeight: numberOf(row, 'height'),
    place: numberOf(row, 'place'),
    time: numberOf(row, 'time'),
    transactionId: String(row['tx']),
    step: numberOf(row, 'step'),
    steps: numberOf(row, 'steps'),
    ...toAmounts(row),
    sellAmountToOrders: amountOf(row, 'to_orders') ?? 0n,
    buyAmountFromOrders: amountOf(row, 'from_orders') ?? 0n,
  };
}

/** The heights of a range whose trades are recorded. */
async function readRecorded(sql: ReadSql, from: BeaconHeight, to: BeaconHeight): Promise<ReadonlySet<BeaconHeight>> {
  const query = 'SELECT height FROM traded_blocks WHERE complete = 1 AND height >= $1 AND height <= $2';
  return new Set((await sql.all(query, from, to)).map((row) => numberOf(row, 'height')));
}

/** The lowest height whose block is made at a time or later; above all heights if there is none. */
async function firstHeightFrom(sql: ReadSql, time: number): Promise<BeaconHeight> {
  const query = 'SELECT height FROM traded_blocks WHERE time >= $1 ORDER BY time, height LIMIT 1';
  const [row] = await sql.all(query, Math.ceil(time));
  return row === undefined ? Number.MAX_SAFE_INTEGER : numberOf(row, 'height');
}

/** Reads the height and the time of a row of TRADED_BLOCKS. */
function toTimedHeight(row: Row): TimedHeight {
  return { beaconHeight: numberOf(row, 'height'), time: numberOf(row, 'time') };
}

/** See `TradeStore.volumes`. */
export const readVolumes: Read<'volumes'> = async (sql, { poolIds, after, upTo, memoryFrom }) => {
  const recorded = await readRecorded(sql, memoryFrom, upTo);
  const one = async (condition: string) => {
    const query = `SELECT height, time FROM traded_blocks WHERE complete = 1 AND height <= $2 AND time ${condition} LIMIT 1`;
    return (await sql.all(query, Math.floor(after), upTo)).map(toTimedHeight)[0];
  };
  const before = await one('<= $1 ORDER BY time DESC, height DESC');
  const first = await one('> $1 ORDER BY time, height');
  if (first === undefined) return { recorded, value: { before, first, heights: 0, volumes: new Map() } };

  const pools = await numbersOf(sql, poolIds);
  const numbers = [...pools.values()];
  const from = first.beaconHeight;
  const { heights } = await countBlocks(sql, TRADED_INTERVALS, { from, to: upTo });
  const opened = { from: Math.floor(after / 1000) + 1 };
  const hours = await readHours(sql, TRADED_INTERVALS, { from, to: upTo }, opened);
  // The trades before and after the hours that are completely inside; without one, all of them.
  const parts = [
    await readTradeRows(sql, numbers, { from, to: (hours[0]?.firstHeight ?? upTo + 1) - 1 }),
    await readCandleRows(sql, TRADED_INTERVALS, 'ONE_HOUR', hours, numbers),
    await readTradeRows(sql, numbers, { from: (hours.at(-1)?.lastHeight ?? upTo) + 1, to: upTo }),
  ];
  return { recorded, value: { before, first, heights, volumes: sumOf(pools, parts) } };
};

/** The rows of TRADES, or of TRADED_CANDLES, of each of some pools. */
type RowsOfPools = readonly (readonly Row[])[];

function readTradeRows(sql: ReadSql, pools: readonly number[], { from, to }: HeightRange): Promise<RowsOfPools> {
  return sql.each(
    'SELECT sells, sold, bought FROM trades WHERE pool = $1 AND height >= $2 AND height <= $3',
    pools.map((pool) => [pool, from, to]),
  );
}

/** What the pools that traded have traded. @param pools their numbers by their ids, in the order of the rows */
function sumOf(pools: ReadonlyMap<string, number>, parts: readonly RowsOfPools[]): ReadonlyMap<string, Volume> {
  const rowsAt = (index: number) => parts.flatMap((part) => part[index] ?? []);
  return sumVolumes([...pools.keys()].flatMap((id, index) => rowsAt(index).map((row) => [id, toVolume(row)] as const)));
}

/** See `TradeStore.tradedIntervals`. */
export const readTradedIntervals: Read<'tradedIntervals'> = async (sql, query) => {
  const recorded = await readRecorded(sql, query.memoryFrom, query.upTo);
  const intervals = await readIntervals(sql, TRADED_INTERVALS, query, true);
  const pools = await numbersOf(sql, query.poolIds);
  const numbers = [...pools.values()];
  const candles = await readCandleRows(sql, TRADED_INTERVALS, query.interval, intervals, numbers);
  const byOpened = candles.map((rows) => Map.groupBy(rows, (row) => numberOf(row, 'opened')));
  const value: TradedInterval[] = [];
  for (const { opened, firstHeight, lastHeight, isCut, isComplete } of intervals) {
    const rows = isCut
      ? await readTradeRows(sql, numbers, { from: firstHeight, to: lastHeight })
      : byOpened.map((rowsOf) => rowsOf.get(opened) ?? []);
    value.push({ openTime: opened * 1000, firstHeight, lastHeight, isComplete, traded: sumOf(pools, [rows]) });
  }
  return { recorded, value };
};
