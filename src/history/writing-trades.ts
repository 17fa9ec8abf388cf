import type { CandleInterval } from '../domain/candle.ts';
import { type PoolTrade, sumVolumes, type TradedAmounts, type Volume, volumeOf } from '../domain/trade.ts';
import { CANDLE_INTERVALS, minutesOf, openedSeconds } from './candle-rows.ts';
import { amountOf, numberOf, type Row, type Sql } from './database.ts';
import { numberPools } from './pool-states.ts';
import { readDeletedBefore } from './reading.ts';
import { TRADED_BLOCKS, TRADED_CANDLES, TRADED_INTERVALS, TRADES } from './tables.ts';
import type { TradedBlock } from './trade-store.ts';
import { addToInterval, fits } from './writing.ts';

/**
 * Records the trades of a block, at any place among those that are recorded. Blocks that are recorded or deleted are skipped.
 *
 * @returns whether it {@link fits}
 */
export async function recordTrades(sql: Sql, block: TradedBlock): Promise<boolean> {
  const { beaconHeight: height, time, trades, isComplete } = block;
  const known = await sql.all('SELECT height FROM traded_blocks WHERE height = $1', height);
  if (known.length > 0 || time < (await readDeletedBefore(sql))) return true;
  if (!(await fits(sql, block))) return false;

  await sql.put(TRADED_BLOCKS, [[height, time, isComplete ? 1 : 0]]);
  if (!isComplete) return true;
  const ids = [...new Set(trades.map(({ poolId }) => poolId))];
  const numbers = ids.length === 0 ? new Map<string, number>() : await numberPools(sql, ids);
  const poolOf = (trade: PoolTrade) => numbers.get(trade.poolId) ?? 0;
  await sql.put(
    TRADES,
    trades.map((trade, place) => [
      ...[height, place, poolOf(trade), trade.transactionId, trade.step, trade.steps, trade.sells],
      ...[trade.sellAmount, trade.buyAmount, trade.sellAmountToOrders, trade.buyAmountFromOrders],
    ]),
  );
  const volumes = sumVolumes(trades.map((trade) => [poolOf(trade), volumeOf(trade)] as const));
  for (const interval of CANDLE_INTERVALS) {
    await addToInterval(sql, TRADED_INTERVALS, interval, { time, height });
    await addToCandles(sql, interval, openedSeconds(time, interval), volumes);
  }
  return true;
}

/** Reads the amounts of a row of TRADES. */
export function toAmounts(row: Row): TradedAmounts {
  const [sellAmount = 0n, buyAmount = 0n] = [amountOf(row, 'sold'), amountOf(row, 'bought')];
  return { sells: row['sells'] === 1n ? 1 : 2, sellAmount, buyAmount };
}

/** Reads a row of TRADED_CANDLES or of TRADES as a volume. */
export function toVolume(row: Row): Volume {
  if ('sold' in row) return volumeOf(toAmounts(row));
  const [traded1 = 0n, traded2 = 0n] = [amountOf(row, 'traded1'), amountOf(row, 'traded2')];
  return { traded1, traded2, trades: numberOf(row, 'trades') };
}

/** Adds volumes to the candles of an interval. */
export async function addToCandles(
  sql: Sql,
  interval: CandleInterval,
  opened: number,
  volumes: ReadonlyMap<number, Volume>,
): Promise<void> {
  const minutes = minutesOf(interval);
  const pools = [...volumes.keys()];
  const before = await sql.each(
    'SELECT traded1, traded2, trades FROM traded_candles WHERE minutes = $1 AND pool = $2 AND opened = $3',
    pools.map((pool) => [minutes, pool, opened]),
  );
  const known = pools.flatMap((pool, index) => (before[index] ?? []).map((row) => [pool, toVolume(row)] as const));
  const sums = sumVolumes([...volumes, ...known]);
  await sql.put(
    TRADED_CANDLES,
    [...sums].map(([pool, { traded1, traded2, trades }]) => [minutes, pool, opened, traded1, traded2, trades]),
  );
}
