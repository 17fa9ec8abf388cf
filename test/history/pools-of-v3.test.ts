import { describe, expect, onTestFinished, test } from 'vitest';
import type { FinalBlock, HistoryStore } from '../../src/history/store.ts';
import { createHistoryStore } from '../../src/history/store-client.ts';
import { blockOf, START } from './chains.ts';
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
});
