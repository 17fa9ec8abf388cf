import { describe, expect, onTestFinished, test } from 'vitest';
import { versionOf } from '../../src/domain/exchange.ts';
import type { FinalBlock, HistoryStore } from '../../src/history/store.ts';
import { createHistoryStore } from '../../src/history/store-client.ts';
import { fixedSandbox } from '../sandbox/support.ts';
import { blockOf, POOL_IDS, START, storedOf } from './chains.ts';
import { createModel } from './model.ts';
import { exchangeHeights } from './of-chain.ts';
import { poolIdOf, v3StateOf } from './v3-states.ts';

async function createStore(): Promise<HistoryStore> {
  const store = createHistoryStore({ database: { kind: 'memory' }, rawDays: 7 });
  onTestFinished(() => store.close());
  await store.useChain('test');
  return store;
}

/** A block of V3, a minute after the one below it. */
function v3Block(height: number, pools: Readonly<Record<string, readonly [bigint, bigint]>>): FinalBlock {
  const time = START + height * 60_000;
  const exchange = v3StateOf(
    height,
    Object.entries(pools).map(([id, reserves]) => ({ id, reserves })),
    time,
  );
  return { hash: `hash-${height}`, time, version: 'V3', exchange };
}

const LARGE = 10n ** 24n;
const [ONE, OTHER] = [poolIdOf('a', 'b', 1), poolIdOf('a', 'b', 2)];

describe('pools of V3', () => {
  test('of the same two tokens have their own states, candles and windows, with amounts beyond 64 bits', async () => {
    const store = await createStore();
    await store.record([
      v3Block(1, { [ONE]: [2n * LARGE, LARGE], [OTHER]: [5n, 7n] }),
      v3Block(2, { [ONE]: [2n * LARGE + 3n, LARGE - 1n], [OTHER]: [5n, 7n] }),
      v3Block(3, { [ONE]: [2n * LARGE + 1n, LARGE], [OTHER]: [4n, 9n] }),
    ]);
    const state = await store.stateAt(2);
    expect(state?.directory.ids).toEqual([ONE, OTHER]);
    expect(state?.reserves).toEqual([2n * LARGE + 3n, LARGE - 1n, 5n, 7n]);

    const poolIds = [ONE, OTHER];
    const { value } = await store.windows({ poolIds, fromHeight: 1, toHeight: 3 });
    expect(value.get(ONE)).toMatchObject({
      open: { beaconHeight: 1, reserve1: 2n * LARGE },
      // The ratios of the three states are equal in floating point.
      high: { beaconHeight: 2 },
      low: { beaconHeight: 1 },
      traded1: 5n,
      traded2: 2n,
      isComplete: true,
    });
    expect(value.get(OTHER)).toMatchObject({ high: { beaconHeight: 1 }, low: { beaconHeight: 3 }, traded1: 1n });
    const { value: candles } = await store.candles({ poolIds, interval: 'ONE_HOUR', upTo: 9, last: 9 });
    expect(candles.get(ONE)?.[0]).toMatchObject({ close: { reserve1: 2n * LARGE + 1n }, traded1: 5n, heights: 3 });
  });

  test('trade nothing when their liquidity changes, also when they are emptied and filled again', async () => {
    const store = await createStore();
    await store.record([
      v3Block(1, { [ONE]: [200n * LARGE, 100n * LARGE] }),
      v3Block(2, { [ONE]: [300n * LARGE, 150n * LARGE] }),
      v3Block(3, { [ONE]: [0n, 0n] }),
      v3Block(4, { [ONE]: [0n, 0n] }),
      v3Block(5, { [ONE]: [8n * LARGE, 2n * LARGE] }),
    ]);
    const { value } = await store.candles({ poolIds: [ONE], interval: 'ONE_DAY', upTo: 9, last: 9 });
    expect(value.get(ONE)).toMatchObject([
      {
        open: { beaconHeight: 1 },
        high: { beaconHeight: 5, reserve1: 8n * LARGE },
        low: { beaconHeight: 1 },
        close: { beaconHeight: 5 },
        traded1: 0n,
        traded2: 0n,
        heights: 5,
      },
    ]);
    const states = await store.reservesAt({ poolIds: [ONE], heights: [2, 3, 4] });
    expect(states.get(ONE)?.map((state) => state?.reserve2)).toEqual([150n * LARGE, 0n, 0n]);
  });

  test('that only a deleted branch had do not exist, also if it had the first heights of V3', async () => {
    const store = await createStore();
    const lowest = blockOf(1, START + 60_000, new Map([[0, [5n, 9n]]]));
    const branch = v3Block(2, { [ONE]: [5n, 5n], [OTHER]: [6n, 6n] });
    await store.record([lowest, branch]);
    expect(await store.deleteFrom({ beaconHeight: 2, hash: branch.hash, time: branch.time })).toEqual([2]);
    expect(await store.firstBlock('V3')).toBeUndefined();
    await store.record([v3Block(2, { [ONE]: [7n, 7n] })]);
    expect(await store.stateAt(2)).toMatchObject({ directory: { ids: [ONE] }, reserves: [7n, 7n] });
    const { value } = await store.candles({ poolIds: [ONE, OTHER], interval: 'ONE_DAY', upTo: 9, last: 9 });
    expect([...value.keys()]).toEqual([ONE]);
  });

  test('begin at the first height of V3, and those of V1 end at the last one before it', async () => {
    const store = await createStore();
    const v1 = [1, 2, 3].map((height) =>
      blockOf(height, START + height * 60_000, new Map([[0, [BigInt(height), 9n]]])),
    );
    const v3 = [4, 5].map((height) => v3Block(height, { [ONE]: [BigInt(height) * LARGE, LARGE] }));
    await store.record([...v3, ...v1]);
    const [oldPool = ''] = POOL_IDS;
    expect((await store.stateAt(3))?.directory.ids).toEqual([oldPool]);
    expect((await store.stateAt(4))?.directory.ids).toEqual([ONE]);
    expect(await store.coverage(9)).toMatchObject({ heights: 5, gaps: [] });
    expect([await store.firstBlock('V1'), await store.firstBlock('V3')]).toMatchObject([
      { beaconHeight: 1 },
      { beaconHeight: 4 },
    ]);
    for (const [id, heights] of [
      [oldPool, [1, 3]],
      [ONE, [4, 5]],
    ] as const) {
      const query = { poolIds: [id], interval: 'ONE_DAY', upTo: 9, last: 9 } as const;
      const { value, recordedTo } = await store.candles(query);
      expect(recordedTo).toBe(heights[1]);
      expect(value.get(id)?.map((candle) => [candle.firstHeight, candle.lastHeight])).toEqual([heights]);
      expect(value.get(id)?.[0]?.open.beaconHeight).toBe(heights[0]);
    }
  });
});

test('the pools of the sandbox are recorded as they are on its chain, above the start of V3 and below', async () => {
  const tip = 1_640_000;
  const sandbox = await fixedSandbox({ exchange: 'v3', exchangeFrom: tip - 20, startHeight: tip, history: 60 });
  onTestFinished(() => sandbox.close());
  const store = await createStore();
  const model = createModel(7);
  const heights = exchangeHeights(sandbox, tip - 40, tip);
  await store.record(heights.toReversed());
  for (const height of heights) model.record(height);

  for (const { beaconHeight, exchange } of heights) {
    const state = await store.stateAt(beaconHeight);
    expect(state).toEqual(storedOf(exchange));
  }
  const pools = heights.map(({ version, exchange }) => [version, exchange.directory.ids.length]);
  expect([pools[0], pools.at(-1)]).toEqual([
    ['V1', sandbox.chain.pools.length],
    ['V3', sandbox.chain.exchangePools.length],
  ]);
  expect(heights.map(({ exchange }) => versionOf(exchange)).filter((version) => version === 'V3')).toHaveLength(21);
  const poolIds = sandbox.chain.exchangePools.map(({ id }) => id);
  const { value } = await store.candles({ poolIds, interval: 'FIVE_MINUTES', upTo: tip, last: 50 });
  for (const id of poolIds) expect(value.get(id)).toEqual(model.candles(id, 'FIVE_MINUTES', { upTo: tip, last: 50 }));
  expect(poolIds.some((id) => value.get(id)?.some(({ traded1 }) => traded1 > 0n))).toBe(true);
  expect(poolIds.some((id) => value.get(id)?.some(({ close }) => close.reserve2 > 2n ** 64n))).toBe(true);
});
