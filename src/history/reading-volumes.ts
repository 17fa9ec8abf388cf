import type { BeaconHeight, HeightRange } from '../domain/beacon-height.ts';
import type { Traded } from '../domain/reserves.ts';
import { tradedBy, type Volume } from '../domain/trade.ts';
import { type IntervalRow, minutesOf, toInterval } from './candle-rows.ts';
import { numberOf, type ReadSql, type Row } from './database.ts';
import { numbersOf } from './pool-states.ts';
import { INTERVAL_COLUMNS } from './reading.ts';
import { readRecorded, toTradedHeight } from './reading-trades.ts';
import { addVolume, toNumberedTrade, toVolume } from './recording-trades.ts';
import type {
  BesideMemory,
  RecordedVolumes,
  TradedInterval,
  TradedIntervalsQuery,
  VolumesQuery,
} from './trade-store.ts';

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
