import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { CandleInterval } from '../domain/candle.ts';
import type { Instant } from '../domain/instant.ts';
import { addTraded, NOTHING_TRADED } from '../domain/reserves.ts';
import { type PoolTrade, tradedBy, type Volume } from '../domain/trade.ts';
import { CANDLE_INTERVALS, minutesOf, openedAt } from './candle-rows.ts';
import { amountOf, numberOf, type Row, type Sql } from './database.ts';
import { numberPools } from './pool-states.ts';
import { heightAtOrAbove, heightAtOrBelow, readDeletedBefore } from './reading.ts';
import type { RecordedHeight } from './store.ts';
import { TRADED_BLOCKS, TRADED_CANDLES, TRADED_INTERVALS, TRADES } from './tables.ts';
import type { TradedBlock } from './trade-store.ts';
import { addToInterval, isSame } from './writing.ts';

/**
 * Records the trades of a block, at any place among those that are recorded. Blocks that are recorded or deleted are skipped.
 *
 * @returns `false` if the state of another block is recorded at this height, or if its time is not between those of the recorded blocks
 *   next to it: intervals rely on it
 */
export async function recordTrades(sql: Sql, block: TradedBlock): Promise<boolean> {
  const { beaconHeight: height, hash, time, trades, isComplete } = block;
  const known = await sql.all('SELECT height FROM traded_blocks WHERE height = $1', height);
  if (known.length > 0 || time < (await readDeletedBefore(sql))) return true;
  if (!(await fits(sql, height, hash, time))) return false;

  await sql.put(TRADED_BLOCKS, [[height, time, isComplete ? 1 : 0]]);
  if (!isComplete) return true;
  const ids = [...new Set(trades.map(({ poolId }) => poolId))];
  const numbers = ids.length === 0 ? new Map<string, number>() : await numberPools(sql, ids);
  const numbered = trades.map((trade) => ({ trade, pool: numbers.get(trade.poolId) ?? 0 }));
  await sql.put(
    TRADES,
    numbered.map(({ trade: { transactionId, step, steps, sells, ...amounts }, pool }, place) => [
      ...[height, place, pool, transactionId, step, steps, sells, amounts.sellAmount, amounts.buyAmount],
      ...[amounts.sellAmountToOrders, amounts.buyAmountFromOrders],
    ]),
  );
  for (const interval of CANDLE_INTERVALS) {
    await addToInterval(sql, TRADED_INTERVALS, interval, { time, height });
    await addToCandles(sql, interval, openedAt(time, interval), sumOf(numbered));
  }
  return true;
}

/** Whether a block can be one of the chain that is recorded. */
async function fits(sql: Sql, height: BeaconHeight, hash: string | undefined, time: Instant): Promise<boolean> {
  const below = await heightAtOrBelow(sql, height);
  if (below?.beaconHeight === height) return isSame(below, hash, time);
  const above = await heightAtOrAbove(sql, height);
  const [lower] = await sql.all(
    'SELECT time FROM traded_blocks WHERE height < $1 ORDER BY height DESC LIMIT 1',
    height,
  );
  const [upper] = await sql.all('SELECT time FROM traded_blocks WHERE height > $1 ORDER BY height LIMIT 1', height);
  const isLate = [below?.time, lower && numberOf(lower, 'time')].every((each) => time >= (each ?? time));
  return isLate && [above?.time, upper && numberOf(upper, 'time')].every((each) => time <= (each ?? time));
}

type NumberedTrade = { readonly pool: number; readonly trade: Pick<PoolTrade, 'sells' | 'sellAmount' | 'buyAmount'> };

/** What each pool traded. */
function sumOf(trades: Iterable<NumberedTrade>): ReadonlyMap<number, Volume> {
  const volumes = new Map<number, Volume>();
  for (const { pool, trade } of trades)
    volumes.set(pool, addVolume(volumes.get(pool), { ...tradedBy(trade), trades: 1 }));
  return volumes;
}

/** The sum of two volumes. */
export function addVolume(a: Volume | undefined, b: Volume): Volume {
  return { ...addTraded(a ?? NOTHING_TRADED, b), trades: (a?.trades ?? 0) + b.trades };
}

/** Reads the columns of a volume. */
export function toVolume(row: Row | undefined): Volume {
  const [traded1 = 0n, traded2 = 0n] = [amountOf(row, 'traded1'), amountOf(row, 'traded2')];
  return { traded1, traded2, trades: numberOf(row, 'trades') };
}

/** Reads a row of TRADES as far as volumes need it. */
export function toNumberedTrade(row: Row): NumberedTrade {
  const [sellAmount = 0n, buyAmount = 0n] = [amountOf(row, 'sold'), amountOf(row, 'bought')];
  return { pool: numberOf(row, 'pool'), trade: { sells: row['sells'] === 1n ? 1 : 2, sellAmount, buyAmount } };
}

/** Adds volumes to the candles of an interval. */
async function addToCandles(
  sql: Sql,
  interval: CandleInterval,
  opened: number,
  volumes: ReadonlyMap<number, Volume>,
): Promise<void> {
  const minutes = minutesOf(interval);
  const added = [...volumes];
  const before = await sql.each(
    'SELECT traded1, traded2, trades FROM traded_candles WHERE minutes = $1 AND pool = $2 AND opened = $3',
    added.map(([pool]) => [minutes, pool, opened]),
  );
  await sql.put(
    TRADED_CANDLES,
    added.map(([pool, volume], index) => {
      const [row] = before[index] ?? [];
      const { traded1, traded2, trades } = row === undefined ? volume : addVolume(toVolume(row), volume);
      return [minutes, pool, opened, traded1, traded2, trades];
    }),
  );
}

/** Deletes the trades of a block and of all above it. The intervals that lose some of their blocks are computed again from the rest. */
export async function deleteTradesFrom(sql: Sql, { beaconHeight, time }: RecordedHeight): Promise<void> {
  await sql.run('DELETE FROM trades WHERE height >= $1', beaconHeight);
  await sql.run('DELETE FROM traded_blocks WHERE height >= $1', beaconHeight);
  const ofAnyPool = 'pool IN (SELECT pool FROM pools)';
  for (const interval of CANDLE_INTERVALS) {
    const [minutes, opened] = [minutesOf(interval), openedAt(time, interval)];
    await sql.run(`DELETE FROM traded_candles WHERE minutes = $1 AND ${ofAnyPool} AND opened >= $2`, minutes, opened);
    await sql.run('DELETE FROM traded_intervals WHERE minutes = $1 AND opened >= $2', minutes, opened);
    const [left] = await sql.all(
      'SELECT MIN(height) AS first, MAX(height) AS last, COUNT(*) AS heights FROM traded_blocks WHERE complete = 1 AND time >= $1',
      opened * 1000,
    );
    if (numberOf(left, 'heights') === 0) continue;
    const first = numberOf(left, 'first');
    await sql.put(TRADED_INTERVALS, [[minutes, opened, first, numberOf(left, 'last'), numberOf(left, 'heights')]]);
    const rows = await sql.all('SELECT pool, sells, sold, bought FROM trades WHERE height >= $1', first);
    await addToCandles(sql, interval, opened, sumOf(rows.map(toNumberedTrade)));
  }
}
