import { expect, onTestFinished } from 'vitest';
import { createHistory } from '../../src/history/history.ts';
import { createPostgresStore } from '../../src/history/postgres-store.ts';
import { createRecorder } from '../../src/history/recorder.ts';

import type { HistoryStore } from '../../src/history/store.ts';
import type { TradedBlock } from '../../src/history/trade-store.ts';
import type { Head } from '../../src/live/chain/head.ts';
import { POOL_IDS, V3_POOL_IDS } from '../history/chains.ts';
import { branchBlock, endlessBlock, FIRST_HEIGHT } from '../history/endless-chain.ts';
import { headOf } from '../live/chain/heads.ts';
import { usePostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const { test, server, query } = usePostgres();

/** All that can be read of the first heights. */
async function readAll(store: HistoryStore, heights: number): Promise<unknown> {
  const upTo = FIRST_HEIGHT + heights - 1;
  const states = Array.from({ length: heights }, (_, n) => store.stateAt(FIRST_HEIGHT + n));
  const candles = (['ONE_MINUTE', 'FIVE_MINUTES', 'ONE_HOUR', 'ONE_DAY'] as const).map((interval) =>
    store.candles({ poolIds: POOL_IDS, interval, upTo, last: 100 }),
  );
  return [await store.coverage(10), await Promise.all(states), await Promise.all(candles)];
}

function createStore(): HistoryStore {
  const store = createPostgresStore(server().url.href, { rawDays: 7 });
  onTestFinished(() => store.close());
  return store;
}

const clean = () => query('DROP SCHEMA IF EXISTS pdex_history CASCADE');

/** The head at a height above the first one. */
function headAt(above: number): Head {
  const { hash = '', time, exchange } = endlessBlock(FIRST_HEIGHT + above);
  const head = headOf(FIRST_HEIGHT + above, hash);
  return { ...head, time, exchange, previousHash: endlessBlock(FIRST_HEIGHT + above - 1).hash };
}

/** The recorder of one replica. */
function replicaOf(fleet: { recorder: string; onRead?: () => void }, name: string) {
  const store = createStore();
  const isRecorder = () => fleet.recorder === name || fleet.recorder === 'everybody';
  const problems: unknown[] = [];
  const deleted: (readonly number[])[] = [];
  const calls: number[] = [];
  const watcher = {
    failed: (error: unknown) => void problems.push(error),
    refused: (error: unknown) => void problems.push(error),
    recovered() {},
    untimed() {},
    dropped() {},
    leftOut() {},
    undecided() {},
    deleted: (heights: readonly number[]) => void deleted.push(heights.map((height) => height - FIRST_HEIGHT)),
  };
  const recorder = createRecorder({
    store,
    pastStates: {
      async readInBackground(height) {
        calls.push(height - FIRST_HEIGHT);
        fleet.onRead?.();
        return endlessBlock(height).exchange;
      },
      isComplete: () => true,
    },
    watcher,
    mayWrite: isRecorder,
  });
  onTestFinished(() => recorder.flush(0));
  const backfill = { isReading: () => false, reads: () => 0 };
  const history = createHistory({
    store,
    recorder,
    backfill,
    tradeBackfill: { reads: () => 0, readBytes: () => 0 },
    timeoutMs: 5_000,
    maxOverdue: 3,
  });
  const last = () => recorder.recorded.coverage()?.last.beaconHeight;
  /** Adds the heads of a range, each in a turn of the event loop. */
  async function addHeads(from: number, to: number): Promise<void> {
    for (let n = from; n <= to; n++) {
      recorder.add(headAt(n));
      await new Promise(setImmediate);
    }
  }
  return { recorder, history, store, problems, deleted, calls, last, addHeads };
}

test('several replicas that record the same heights at once leave what one would', async () => {
  await clean();
  const blocks = Array.from({ length: 8 }, (_, n) => endlessBlock(FIRST_HEIGHT + n));
  const alone = createStore();
  await alone.useChain('test');
  await alone.record(blocks);
  const expected = await readAll(alone, 8);

  await clean();
  const stores = [createStore(), createStore(), createStore()];
  await Promise.all(stores.map((store) => store.useChain('test')));
  // One follows the chain, one fills from the newest down, and one begins in the middle.
  const orders = [blocks, blocks.toReversed(), [...blocks.slice(4), ...blocks.slice(0, 4)]];
  await Promise.all(stores.map((store, index) => store.record(orders[index] ?? [])));
  for (const store of stores) expect(await readAll(store, 8)).toEqual(expected);
  const again = createStore();
  await again.useChain('test');
  expect(await readAll(again, 8)).toEqual(expected);
});

test('several replicas that all record, because Redis is gone, record each height once', async () => {
  await clean();
  const fleet = { recorder: 'everybody' };
  const replicas = ['a', 'b', 'c'].map((name) => replicaOf(fleet, name));
  await Promise.all(replicas.map((replica) => replica.addHeads(0, 12)));
  await until(() => replicas.every(({ last }) => last() === FIRST_HEIGHT + 9));
  expect(replicas.flatMap(({ problems }) => problems)).toEqual([]);
  expect(await replicas[0]?.store.coverage(1)).toMatchObject({ heights: 10, gaps: [] });
});

test('only the recorder writes, and the others see it', async () => {
  await clean();
  const fleet = { recorder: 'a' };
  const [a, b] = [replicaOf(fleet, 'a'), replicaOf(fleet, 'b')];
  await b.addHeads(0, 5);
  await until(async () => (await query("SELECT 1 FROM pg_tables WHERE tablename = 'heights'")).length === 1);
  expect(await b.history.coverage(0)).toBeUndefined();
  expect(b.history.status()).toMatchObject({ waiting: 3, databaseErrors: 0 });

  const recorded: (number | undefined)[] = [];
  b.history.onRecorded(() => recorded.push(b.last()));
  const version = b.history.version();
  await a.addHeads(0, 5);
  await until(() => a.last() === FIRST_HEIGHT + 2);
  b.recorder.add(headAt(6));
  await until(() => b.last() === FIRST_HEIGHT + 2);
  expect(recorded).toEqual([FIRST_HEIGHT + 2]);
  expect(b.history.version()).toBe(version + 1);
  expect(b.history.status().waiting).toBe(1);
  expect(b.history.headsInMemory().map(({ beaconHeight }) => beaconHeight - FIRST_HEIGHT)).toEqual([
    0, 1, 2, 3, 4, 5, 6,
  ]);
  const candles = { poolIds: headAt(0).exchange.directory.ids, interval: 'ONE_MINUTE', last: 5 } as const;
  expect(await b.history.candles({ ...candles, upTo: FIRST_HEIGHT + 2 })).toEqual(
    await a.history.candles({ ...candles, upTo: FIRST_HEIGHT + 2 }),
  );
  expect([a.calls, b.calls, ...a.problems, ...b.problems]).toEqual([[], []]);
});

test('the others see that older heights are recorded, and that a block was replaced', async () => {
  await clean();
  const fleet = { recorder: 'a' };
  const [a, b] = [replicaOf(fleet, 'a'), replicaOf(fleet, 'b')];
  await a.addHeads(10, 15);
  await until(() => a.last() === FIRST_HEIGHT + 12);
  await b.addHeads(10, 15);
  await until(() => b.last() === FIRST_HEIGHT + 12);
  expect(b.history.isBackfilling()).toBe(false);
  const version = b.history.version();
  await a.recorder.record([endlessBlock(FIRST_HEIGHT + 5)]);
  b.recorder.add(headAt(16));
  await until(() => b.history.isBackfilling());
  const filled = b.history.version();
  expect(filled).toBeGreaterThan(version);
  b.recorder.add(headAt(17));
  await until(() => !b.history.isBackfilling());

  // The newest recorded block is replaced by another one at its height.
  const [last] = await a.store.recentBlocks({ upTo: FIRST_HEIGHT + 12, last: 1 });
  if (last) await a.store.deleteFrom(last);
  await a.store.record([branchBlock(FIRST_HEIGHT + 12)]);
  b.recorder.add(headAt(18));
  await until(() => b.history.version() > filled);
});

/** A final block with one trade. */
function tradedBlock(above: number): TradedBlock {
  const [poolId = ''] = V3_POOL_IDS;
  const trade = {
    poolId,
    transactionId: String(above),
    step: 0,
    steps: 1,
    sells: 1,
    sellAmount: 3n,
    buyAmount: 2n,
  } as const;
  const { time } = endlessBlock(FIRST_HEIGHT + above);
  const trades = [{ ...trade, sellAmountToOrders: 0n, buyAmountFromOrders: 0n }];
  return { beaconHeight: FIRST_HEIGHT + above, hash: undefined, time, trades, isComplete: true };
}

test('two gateways that record the same trades count each once, and each sees what the other one has recorded', async () => {
  await clean();
  const fleet = { recorder: 'everybody' };
  const [a, b] = [replicaOf(fleet, 'a'), replicaOf(fleet, 'b')];
  await Promise.all([a.addHeads(0, 9), b.addHeads(0, 9)]);
  await until(() => [a, b].every(({ last }) => last() === FIRST_HEIGHT + 6));
  const [first, second] = [
    [5, 4, 3, 0],
    [0, 5, 4, 1],
  ].map((heights) => heights.map(tradedBlock));
  await Promise.all([a.recorder.recordTrades(first ?? []), b.recorder.recordTrades(second ?? [])]);
  const [poolId = ''] = V3_POOL_IDS;
  const query = { poolIds: [poolId], after: 0, upTo: FIRST_HEIGHT + 9, memoryFrom: FIRST_HEIGHT };
  for (const { history } of [a, b]) {
    const { recorded, value } = await history.volumes(query);
    expect([...recorded].map((height) => height - FIRST_HEIGHT).sort((x, y) => x - y)).toEqual([0, 1, 3, 4, 5]);
    expect(value.volumes.get(poolId)).toEqual({ traded1: 15n, traded2: 10n, trades: 5 });
    const intervals = await history.tradedIntervals({ ...query, interval: 'ONE_DAY', from: 0 });
    expect(intervals.value.map(({ traded }) => traded.get(poolId))).toMatchObject([{ traded1: 15n, traded2: 10n }]);
  }

  const version = b.history.tradesVersion();
  await a.recorder.recordTrades([tradedBlock(2)]);
  b.recorder.add(headAt(10));
  // An earlier look at the database may end only now, and change the version too.
  await until(() => b.history.status().tradeCoverage?.blocks === 6);
  expect(b.history.tradesVersion()).toBeGreaterThan(version);
  expect([...a.problems, ...b.problems]).toEqual([]);
});

test('who takes over records what the last recorder did not', async () => {
  await clean();
  const fleet = { recorder: 'a' };
  const [a, b] = [replicaOf(fleet, 'a'), replicaOf(fleet, 'b')];
  await a.addHeads(0, 6);
  await until(() => a.last() === FIRST_HEIGHT + 3);
  await b.addHeads(0, 9);
  await until(() => b.last() === FIRST_HEIGHT + 3);
  fleet.recorder = 'b';
  b.recorder.add(headAt(10));
  await until(() => b.last() === FIRST_HEIGHT + 7);
  expect(await b.store.coverage(1)).toMatchObject({ heights: 8, gaps: [] });
  // Before it first writes, it compares the database with the node.
  expect([a.calls, b.calls]).toEqual([[], [3]]);
  expect([...a.problems, ...b.problems]).toEqual([]);
});

test('only the recorder deletes a branch, and the others see it', async () => {
  await clean();
  const fleet = { recorder: 'a' };
  const [a, b] = [replicaOf(fleet, 'a'), replicaOf(fleet, 'b')];
  const before = createStore();
  await before.useChain(headAt(0).chainInfo.chainName);
  await before.record([0, 1, 2, 3].map((above) => endlessBlock(FIRST_HEIGHT + above)));
  await before.record([4, 5].map((above) => branchBlock(FIRST_HEIGHT + above)));
  await b.addHeads(4, 9);
  await until(() => b.last() === FIRST_HEIGHT + 5);
  expect((await b.history.stateAt(FIRST_HEIGHT + 5))?.reserves[1]).toBe(7n);
  const version = b.history.version();

  await a.addHeads(4, 9);
  await until(() => a.last() === FIRST_HEIGHT + 6);
  expect([a.deleted, b.deleted]).toEqual([[[4, 5]], []]);
  b.recorder.add(headAt(10));
  await until(() => b.last() === FIRST_HEIGHT + 6);
  expect(b.history.version()).toBeGreaterThan(version);
  const shown = await readAll(b.store, 7);
  await clean();
  const alone = createStore();
  await alone.useChain('test');
  await alone.record(Array.from({ length: 7 }, (_, n) => endlessBlock(FIRST_HEIGHT + n)));
  expect(shown).toEqual(await readAll(alone, 7));
  expect([...a.problems, ...b.problems, ...b.calls]).toEqual([]);
});

test('a recorder that is replaced while it compares deletes nothing, and its successor does', async () => {
  await clean();
  const fleet = {
    recorder: 'a',
    onRead() {
      fleet.recorder = 'b';
    },
  };
  const [a, b] = [replicaOf(fleet, 'a'), replicaOf(fleet, 'b')];
  const before = createStore();
  await before.useChain(headAt(0).chainInfo.chainName);
  await before.record([endlessBlock(FIRST_HEIGHT), branchBlock(FIRST_HEIGHT + 1)]);
  await a.addHeads(5, 9);
  await until(() => fleet.recorder === 'b');
  await expect(a.recorder.ready()).resolves.toBeUndefined();
  await b.addHeads(5, 9);
  await until(() => b.last() === FIRST_HEIGHT + 6);
  expect([a.deleted, b.deleted]).toEqual([[], [[1]]]);
  expect([...a.problems, ...b.problems]).toEqual([]);
});
