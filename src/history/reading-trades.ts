import type { BeaconHeight, HeightRange } from '../domain/beacon-height.ts';
import type { Traded } from '../domain/reserves.ts';
import { tradedBy, type Volume } from '../domain/trade.ts';
import { type IntervalRow, minutesOf, toInterval } from './candle-rows.ts';
import { amountOf, numberOf, type ReadSql, type Row } from './database.ts';
import { numbersOf } from './pool-states.ts';
import { heightAtOrBelow, INTERVAL_COLUMNS } from './reading.ts';
import { addVolume, toNumberedTrade, toVolume } from './recording-trades.ts';
import type {
  BesideMemory,
  RecordedTrade,
  RecordedVolumes,
  TradeCoverage,
  TradedHeight,
  TradedInterval,
  TradedIntervalsQuery,
  TradeName,
  TradesQuery,
  VolumesQuery,
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

/** See `TradeStore.volumes`. */
export async function readVolumes(
  sql: ReadSql,
  { poolIds, after, upTo, memoryFrom }: VolumesQuery,
): Promise<BesideMemory<RecordedVolumes>> {
  const recorded = await readRecorded(sql, memoryFrom, upTo);
  const one = async (condition: string) => {
    const query = `SELECT height, time FROM traded_blocks WHERE complete = 1 AND height <= $2 AND time ${condition} LIMIT 1`;
    return (await sql.all(query, Math.floor(after), upTo)).map(toTradedHeight)[0];
  };
  const before = await one('<= $1 ORDER BY time DESC, height DESC');
  const first = await one('> $1 ORDER BY time, height');
  if (first === undefined) return { recorded, value: { before, first, heights: 0, volumes: new Map() } };

  const [count] = await sql.all(
    'SELECT COUNT(*) AS heights FROM traded_blocks WHERE complete = 1 AND height >= $1 AND height <= $2',
    ...[first.beaconHeight, upTo],
  );
  const pools = [...(await numbersOf(sql, poolIds))];
  const volumes = await readVolumesBetween(sql, pools, { after, from: first.beaconHeight, to: upTo });
  return { recorded, value: { before, first, heights: numberOf(count, 'heights'), volumes } };
}

/** The volumes of a range of heights: those of whole hours, and the trades before and after them. */
async function readVolumesBetween(
  sql: ReadSql,
  pools: Pools,
  { after, from, to }: HeightRange & { readonly after: number },
): Promise<ReadonlyMap<string, Volume>> {
  const query = `SELECT ${INTERVAL_COLUMNS} FROM traded_intervals WHERE minutes = 60 AND opened > $1 AND first_height >= $2 AND last_height <= $3 ORDER BY opened`;
  const hours = (await sql.all(query, Math.floor(after / 1000), from, to)).map(toInterval);
  const [firstHour, lastHour] = [hours[0], hours.at(-1)];
  if (firstHour === undefined || lastHour === undefined) return sumTrades(sql, pools, [{ from, to }]);

  const ends = [
    { from, to: firstHour.firstHeight - 1 },
    { from: lastHour.lastHeight + 1, to },
  ];
  const volumes = new Map(await sumTrades(sql, pools, ends));
  const rows = await readTradedCandles(sql, pools, 60, [firstHour.opened, lastHour.opened]);
  for (const [index, [id]] of pools.entries())
    for (const row of rows[index] ?? []) volumes.set(id, addVolume(volumes.get(id), toVolume(row)));
  return volumes;
}

type Pools = readonly (readonly [id: string, pool: number])[];

/** The sums of the trades of pools in ranges of heights. */
async function sumTrades(
  sql: ReadSql,
  pools: Pools,
  ranges: readonly HeightRange[],
): Promise<ReadonlyMap<string, Volume>> {
  const volumes = new Map<string, Volume>();
  for (const { from, to } of ranges) {
    const rows = await sql.each(
      'SELECT pool, sells, sold, bought FROM trades WHERE pool = $1 AND height >= $2 AND height <= $3',
      pools.map(([, pool]) => [pool, from, to]),
    );
    for (const [index, [id]] of pools.entries())
      for (const row of rows[index] ?? [])
        volumes.set(id, addVolume(volumes.get(id), { ...tradedBy(toNumberedTrade(row).trade), trades: 1 }));
  }
  return volumes;
}

/** The rows of TRADED_CANDLES of each pool, of the intervals of one length from the first to the last one. */
function readTradedCandles(
  sql: ReadSql,
  pools: Pools,
  minutes: number,
  [first, last]: readonly [number, number],
): Promise<readonly (readonly Row[])[]> {
  const range = 'minutes = $1 AND pool = $2 AND opened >= $3 AND opened <= $4';
  return sql.each(
    `SELECT opened, traded1, traded2, trades FROM traded_candles WHERE ${range}`,
    pools.map(([, pool]) => [minutes, pool, first, last]),
  );
}

/** See `TradeStore.tradedIntervals`. */
export async function readTradedIntervals(
  sql: ReadSql,
  { poolIds, interval, from, to, upTo, memoryFrom }: TradedIntervalsQuery,
): Promise<BesideMemory<readonly TradedInterval[]>> {
  const recorded = await readRecorded(sql, memoryFrom, upTo);
  const minutes = minutesOf(interval);
  const read = async (condition: string, ...values: readonly number[]) => {
    const query = `SELECT ${INTERVAL_COLUMNS} FROM traded_intervals WHERE minutes = $1 AND opened ${condition}`;
    return (await sql.all(query, minutes, ...values)).map(toInterval);
  };
  const end = to === undefined ? MAX_OPENED : Math.ceil(to / 1000);
  const range = '>= $2 AND opened < $3 AND first_height <= $4 ORDER BY opened';
  const found = await read(range, Math.ceil(from / 1000), end, upTo);
  const [oldest, newest] = [found[0], found.at(-1)];
  if (oldest === undefined || newest === undefined) return { recorded, value: [] };
  const [before] = await read('< $2 ORDER BY opened DESC LIMIT 1', oldest.opened);
  const [after] = await read('> $2 ORDER BY opened LIMIT 1', newest.opened);
  const [last] = await sql.all('SELECT MAX(height) AS height FROM traded_blocks WHERE complete = 1');
  const recordedTo = numberOf(last, 'height');

  const pools = [...(await numbersOf(sql, poolIds))];
  const candles = await readTradedCandles(sql, pools, minutes, [oldest.opened, newest.opened]);
  const volumesOf = found.map(() => new Map<string, Traded>());
  const places = new Map(found.map(({ opened }, index) => [opened, index]));
  for (const [index, [id]] of pools.entries())
    for (const row of candles[index] ?? [])
      volumesOf[places.get(numberOf(row, 'opened')) ?? -1]?.set(id, toVolume(row));

  const value: TradedInterval[] = [];
  for (const [index, row] of found.entries()) {
    const isCut = row.lastHeight > upTo;
    const own = isCut ? await cutInterval(sql, row, upTo) : row;
    // The trades of an older interval are deleted, so that it cannot be cut.
    if (own.heights === 0) continue;
    const traded = isCut
      ? await sumTrades(sql, pools, [{ from: own.firstHeight, to: own.lastHeight }])
      : (volumesOf[index] ?? new Map());
    const { firstHeight, lastHeight } = own;
    const isFollowed =
      [upTo, recordedTo].includes(lastHeight) ||
      (!isCut && (found[index + 1] ?? after)?.firstHeight === lastHeight + 1);
    const isPreceded = firstHeight === 1 || (found[index - 1] ?? before)?.lastHeight === firstHeight - 1;
    const isWhole = own.heights === lastHeight - firstHeight + 1;
    const openTime = row.opened * 1000;
    value.push({ openTime, firstHeight, lastHeight, isComplete: isWhole && isPreceded && isFollowed, traded });
  }
  return { recorded, value };
}

/** After all intervals. */
const MAX_OPENED = 2 ** 40;

/** An interval up to a height. */
async function cutInterval(sql: ReadSql, row: IntervalRow, upTo: BeaconHeight): Promise<IntervalRow> {
  const [count] = await sql.all(
    'SELECT MAX(height) AS last, COUNT(*) AS heights FROM traded_blocks WHERE complete = 1 AND height >= $1 AND height <= $2',
    ...[row.firstHeight, upTo],
  );
  return { ...row, lastHeight: numberOf(count, 'last'), heights: numberOf(count, 'heights') };
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

function toTradedHeight(row: Row): TradedHeight {
  return { beaconHeight: numberOf(row, 'height'), time: numberOf(row, 'time') };
}
