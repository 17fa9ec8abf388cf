import { expect } from 'vitest';
import type { CandleInterval } from '../../src/domain/candle.ts';
import { CANDLE_INTERVALS } from '../../src/history/candle-rows.ts';
import type { HistoryStore } from '../../src/history/store.ts';
import { POOL_IDS, V3_POOL_IDS } from './chains.ts';
import type { createModel } from './model.ts';

type Model = ReturnType<typeof createModel>;

const VERSIONS = ['V1', 'V3'] as const;

/** What is read: at two heights, and the last candles of a time. */
type Query = {
  readonly height: number;
  readonly other: number;
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly last: number;
};

/** Compares all reads of a store with those of a model. */
export async function compare(
  store: HistoryStore,
  model: Model,
  { height, other, from, to, last }: Query,
): Promise<void> {
  expect(await store.coverage(3)).toEqual(model.coverage(3));
  if (from !== undefined) {
    // The moments of a sparkline are not whole milliseconds.
    for (const version of [undefined, ...VERSIONS])
      expect(await store.blocksAt([from, from - 0.5], version)).toEqual([
        model.blockAt(from, version),
        model.blockAt(from - 0.5, version),
      ]);
  }
  for (const version of VERSIONS) expect(await store.firstBlock(version)).toEqual(model.firstBlock(version));
  expect(await store.recentBlocks({ upTo: height, last })).toEqual(model.recentBlocks(height, last));
  const state = await store.stateAt(height);
  const pools = state?.directory.ids.map(
    (id, place) => [id, [...state.reserves.slice(place * 2, place * 2 + 2)]] as const,
  );
  expect(state && { height: state.beaconHeight, time: state.time, pools: new Map(pools) }).toEqual(
    model.stateAt(height),
  );

  const heights = [height, other, height + 3];
  // A pool that existed only at deleted heights is like one that was never recorded.
  const existing = (found: readonly unknown[] | undefined) => found?.some((each) => each !== undefined);
  const allIds = [...POOL_IDS, ...V3_POOL_IDS];
  const reserves = allIds.map((id) => [id, model.reservesAt(id, heights)] as const);
  const found = [...(await store.reservesAt({ poolIds: allIds, heights }))].filter(([, each]) => existing(each));
  expect(new Map(found)).toEqual(new Map(reserves.filter(([, each]) => existing(each))));

  for (const version of VERSIONS) {
    const poolIds = version === 'V1' ? POOL_IDS : V3_POOL_IDS;
    const recordedTo = model.lastHeight(version);
    const [fromHeight, toHeight] = [Math.min(height, other), Math.max(height, other)];
    const windows = poolIds
      .map((id) => [id, model.window(id, fromHeight, toHeight)] as const)
      .filter(([, found]) => found);
    expect(await store.windows({ poolIds, fromHeight, toHeight })).toEqual({ recordedTo, value: new Map(windows) });

    // PostgreSQL has several connections.
    const compareCandles = async (interval: CandleInterval, upTo: number) => {
      const options = { ...(from && { from }), ...(to && { to }), last, upTo };
      const candles = poolIds.map((id) => [id, model.candles(id, interval, options)] as const);
      const value = new Map(candles.filter(([, found]) => found.length > 0));
      expect(await store.candles({ poolIds, interval, ...options })).toEqual({ recordedTo, value });
    };
    await Promise.all(CANDLE_INTERVALS.flatMap((each) => [height, 1e6].map((upTo) => compareCandles(each, upTo))));
  }
}
