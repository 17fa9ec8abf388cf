import type { BeaconHeight } from '../domain/beacon-height.ts';
import { INTERVAL_MS } from '../domain/candle.ts';
import type { ExchangeVersion } from '../domain/pool-pair.ts';
import { type PoolReserves, type PoolWindow, tradedBetween } from '../domain/reserves.ts';
import { joinRollups, openedSeconds, type Rollup, rollupOf, type Series, toReserves, toRollup } from './candle-rows.ts';
import { numberOf, type ReadSql, type Row } from './database.ts';
import { numbersOf, statesOfPools } from './pool-states.ts';
import { heightAtOrAbove, heightAtOrBelow, type Read } from './reading.ts';
import { countBlocks, type IntervalRow, readCandleRows, readHours } from './reading-intervals.ts';
import { intervalsOf, versionOfPool } from './tables.ts';

/** See `HistoryStore.windows`. */
export const readWindows: Read<'windows'> = async (sql, { poolIds, fromHeight, toHeight }) => {
  const version = versionOfPool(poolIds[0]);
  const last = await heightAtOrBelow(sql, Number.MAX_SAFE_INTEGER, version);
  const from = (await heightAtOrBelow(sql, fromHeight, version)) ?? (await heightAtOrAbove(sql, fromHeight, version));
  const to = await heightAtOrBelow(sql, toHeight, version);
  const recordedTo = last?.beaconHeight;
  if (last === undefined || from === undefined || to === undefined || to.beaconHeight < from.beaconHeight)
    return { recordedTo, value: new Map() };

  const pools = [...(await numbersOf(sql, poolIds))];
  const rollups = await readRollups(sql, {
    version,
    pools: pools.map(([, pool]) => pool),
    fromHeight: from.beaconHeight,
    toHeight: to.beaconHeight,
    hours: { from: openedSeconds(from.time, 'ONE_HOUR'), to: openedSeconds(to.time, 'ONE_HOUR') },
  });
  const end = Math.min(toHeight, last.beaconHeight);
  const inside = { from: from.beaconHeight + 1, to: end };
  const { heights } = await countBlocks(sql, intervalsOf(version), inside);
  const isComplete = from.beaconHeight <= fromHeight && heights === end - from.beaconHeight;
  const value = new Map<string, PoolWindow>();
  for (const [index, [id]] of pools.entries()) {
    const rollup = withStart(rollups[index], from.beaconHeight);
    if (rollup === undefined) continue;
    const { hasAppeared: _, ...summary } = rollup;
    value.set(id, { ...summary, close: { ...summary.close, beaconHeight: to.beaconHeight }, isComplete });
  }
  return { recordedTo, value };
};

/** What happened to each pool in an interval, for its candle; `undefined` if it did not change. */
export async function readIntervalRollups(
  sql: ReadSql,
  pools: readonly number[],
  { version, interval }: Series,
  { opened, firstHeight, lastHeight }: IntervalRow,
): Promise<readonly (Rollup | undefined)[]> {
  const before = await heightAtOrBelow(sql, firstHeight - 1, version);
  const isLong = INTERVAL_MS[interval] > INTERVAL_MS.ONE_HOUR;
  const rollups = await readRollups(sql, {
    version,
    pools,
    fromHeight: before?.beaconHeight ?? firstHeight,
    toHeight: lastHeight,
    hours: isLong ? { from: opened, to: opened + INTERVAL_MS[interval] / 1000 } : undefined,
  });
  return rollups.map((pool) => {
    const rollup = pool.rollup && withStart(pool, firstHeight);
    return rollup && { ...rollup, hasAppeared: pool.start === undefined };
  });
}

/** What happened to a pool from a height on. Without a change at this height, the state from before counts there. */
function withStart(pool: PoolRollup | undefined, height: BeaconHeight): Rollup | undefined {
  const { start, rollup } = pool ?? {};
  if (start === undefined || rollup?.open.beaconHeight === height) return rollup;
  const opened = rollupOf({ ...start, beaconHeight: height });
  return rollup === undefined ? opened : joinRollups(opened, rollup);
}

/** The recorded heights above `fromHeight` up to `toHeight`. */
type HeightSpan = {
  readonly version: ExchangeVersion;
  readonly pools: readonly number[];
  readonly fromHeight: BeaconHeight;
  readonly toHeight: BeaconHeight;
  /** The hours that are read from their candles if they are inside, by when they opened. All others are read from changes. */
  readonly hours: { readonly from: number; readonly to: number } | undefined;
};

/** The state of a pool before the heights of a span, and what happened at those at which it changed. */
type PoolRollup = { readonly start: PoolReserves | undefined; readonly rollup: Rollup | undefined };

/**
 * What happened to each pool at the heights of a span.
 *
 * With the candles of hours, a day of a pool that changes at each height takes some hundred rows instead of thousands.
 */
async function readRollups(sql: ReadSql, span: HeightSpan): Promise<readonly PoolRollup[]> {
  const { version, pools, fromHeight, toHeight, hours: opened } = span;
  const starts = await statesOfPools(
    sql,
    pools.map((pool) => [pool, fromHeight] as const),
  );
  const heights = { from: fromHeight + 1, to: toHeight };
  const table = intervalsOf(version);
  const hours = opened === undefined ? [] : await readHours(sql, table, heights, opened);
  const firstHeight = hours.at(0)?.firstHeight ?? toHeight + 1;
  const lastHeight = hours.at(-1)?.lastHeight ?? toHeight;
  const before = await readChanges(sql, pools, fromHeight, firstHeight - 1);
  const candles = await readCandleRows(sql, table, 'ONE_HOUR', hours, pools);
  const after = await readChanges(sql, pools, lastHeight, toHeight);
  const firstHeights = new Map(hours.map((hour) => [hour.opened, hour.firstHeight]));

  return pools.map((_, index) => {
    let rollup: Rollup | undefined;
    const start = starts[index];
    let state = start;
    const addChange = (row: Row) => {
      const reserves = toReserves(row, 'reserve');
      if (reserves === undefined) return;
      const change = rollupOf({ ...reserves, beaconHeight: numberOf(row, 'height') });
      rollup = joinRollups(rollup, { ...change, ...tradedBetween(state, reserves) });
      state = reserves;
    };
    for (const row of before[index] ?? []) addChange(row);
    for (const row of candles[index] ?? []) {
      const candle = toRollup(row, firstHeights.get(numberOf(row, 'opened')) ?? 0);
      rollup = joinRollups(rollup, candle);
      state = candle.close;
    }
    for (const row of after[index] ?? []) addChange(row);
    return { start, rollup };
  });
}

function readChanges(
  sql: ReadSql,
  pools: readonly number[],
  above: BeaconHeight,
  to: BeaconHeight,
): Promise<readonly (readonly Row[])[]> {
  const query =
    'SELECT height, reserve1, reserve2 FROM changes WHERE pool = $1 AND height > $2 AND height <= $3 ORDER BY height';
  return sql.each(query, above >= to ? [] : pools.map((pool) => [pool, above, to]));
}
