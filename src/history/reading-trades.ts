import type { BeaconHeight, HeightRange } from '../domain/beacon-height.ts';
import { amountOf, numberOf, type ReadSql, type Row } from './database.ts';
import { numbersOf } from './pool-states.ts';
import { heightAtOrBelow } from './reading.ts';
import { toNumberedTrade } from './recording-trades.ts';
import type {
  BesideMemory,
  RecordedTrade,
  TradeCoverage,
  TradedHeight,
  TradeName,
  TradesQuery,
} from './trade-store.ts';

/** See `TradeStore.missingTrades`. */
export async function readMissingTrades(
  sql: ReadSql,
  { from, to }: HeightRange,
  last: number,
): Promise<readonly BeaconHeight[]> {
  const lowest = Math.max(from, ((await heightAtOrBelow(sql, to, 'V1'))?.beaconHeight ?? 0) + 1);
  const [count] = await sql.all(
    'SELECT COUNT(*) AS heights FROM traded_blocks WHERE height >= $1 AND height <= $2',
    ...[lowest, to],
  );
  if (numberOf(count, 'heights') >= to - lowest + 1) return [];
  // Each recorded block that has a missing one just below it, with the next lower recorded block.
  const below = 'LAG(height) OVER (ORDER BY height)';
  const gaps = await sql.all(
    `SELECT height, below FROM (SELECT height, ${below} AS below FROM traded_blocks WHERE height >= $1 AND height <= $2) blocks WHERE below IS NULL OR below < height - 1 ORDER BY height DESC LIMIT $3`,
    ...[lowest, to, last + 1],
  );
  const [newest] = await sql.all(
    'SELECT MAX(height) AS height FROM traded_blocks WHERE height >= $1 AND height <= $2',
    lowest,
    to,
  );
  const recordedTo = newest?.['height'] == null ? lowest - 1 : numberOf(newest, 'height');
  const ranges = [
    { from: recordedTo + 1, to },
    ...gaps.map((row) => ({
      from: row['below'] === null ? lowest : numberOf(row, 'below') + 1,
      to: numberOf(row, 'height') - 1,
    })),
  ];
  const missing: BeaconHeight[] = [];
  for (const range of ranges)
    for (let height = range.to; height >= range.from && missing.length < last; height--) missing.push(height);
  return missing;
}

/** See `TradeStore.tradeCoverage`. */
export async function readTradeCoverage(sql: ReadSql): Promise<TradeCoverage | undefined> {
  const [first] = await sql.all('SELECT height, time FROM traded_blocks ORDER BY height LIMIT 1');
  const [count] = await sql.all('SELECT COUNT(*) AS blocks FROM traded_blocks');
  return first && { first: toTradedHeight(first), blocks: numberOf(count, 'blocks') };
}

const TRADE_COLUMNS =
  'trades.height, place, tx, step, steps, sells, sold, bought, to_orders, from_orders, time FROM trades JOIN traded_blocks ON traded_blocks.height = trades.height';

/** See `TradeStore.trades`. */
export async function readTrades(
  sql: ReadSql,
  { poolIds, upTo, memoryFrom, last, before, from, to, sells }: TradesQuery,
): Promise<BesideMemory<ReadonlyMap<string, readonly RecordedTrade[]>>> {
  const recorded = await readRecorded(sql, memoryFrom, upTo);
  const firstHeight = from === undefined ? 0 : await firstHeightFrom(sql, from);
  const endHeight = Math.min(upTo + 1, to === undefined ? upTo + 1 : await firstHeightFrom(sql, to));
  const end = before !== undefined && before.beaconHeight < endHeight ? before : { beaconHeight: endHeight, place: 0 };
  const pools = [...(await numbersOf(sql, poolIds))];
  // In PostgreSQL, the limit of such a query is no parameter. Few different ones, because each statement stays prepared.
  const limit = 2 ** Math.ceil(Math.log2(Math.max(1, last)));
  const range = 'pool = $1 AND trades.height >= $2 AND (trades.height, place) < ($3, $4)';
  const side = sells === undefined ? '' : ` AND sells = ${sells}`;
  const rows = await sql.each(
    `SELECT ${TRADE_COLUMNS} WHERE ${range}${side} ORDER BY trades.height DESC, place DESC LIMIT ${limit}`,
    pools.map(([, pool]) => [pool, firstHeight, end.beaconHeight, end.place]),
  );
  const tradesOf = (id: string, index: number) => (rows[index] ?? []).slice(0, last).map((row) => toTrade(id, row));
  return { recorded, value: new Map(pools.map(([id], index) => [id, tradesOf(id, index)])) };
}

/** See `TradeStore.trade`. */
export async function readTrade(
  sql: ReadSql,
  { beaconHeight, transactionId, step }: TradeName,
): Promise<RecordedTrade | undefined> {
  const condition = 'trades.height = $1 AND tx = $2 AND step = $3';
  const query = `SELECT (SELECT id FROM pools WHERE pool = trades.pool) AS id, ${TRADE_COLUMNS} WHERE ${condition}`;
  const [row] = await sql.all(query, beaconHeight, transactionId, step);
  return row && toTrade(String(row['id']), row);
}

function toTrade(poolId: string, row: Row): RecordedTrade {
  return {
    poolId,
    beaconHeight: numberOf(row, 'height'),
    place: numberOf(row, 'place'),
    time: numberOf(row, 'time'),
    transactionId: String(row['tx']),
    step: numberOf(row, 'step'),
    steps: numberOf(row, 'steps'),
    ...toNumberedTrade(row).trade,
    sellAmountToOrders: amountOf(row, 'to_orders') ?? 0n,
    buyAmountFromOrders: amountOf(row, 'from_orders') ?? 0n,
  };
}

/** The heights of a range whose trades are recorded. */
export async function readRecorded(
  sql: ReadSql,
  from: BeaconHeight,
  to: BeaconHeight,
): Promise<ReadonlySet<BeaconHeight>> {
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
export function toTradedHeight(row: Row): TradedHeight {
  return { beaconHeight: numberOf(row, 'height'), time: numberOf(row, 'time') };
}
