import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { QUICK } from '../../src/history/backfill-loop.ts';
import { createStateBackfill, heightsToRead } from '../../src/history/state-backfill.ts';
import { type FinalBlock, HistoryDatabaseError } from '../../src/history/store.ts';
import { createPoolCounts } from '../../src/live/chain/pool-counts.ts';
import { exchangeStateOf, poolOf, tokenId } from '../domain/pools.ts';
import { headOf } from '../live/chain/heads.ts';
import { createMemoryStore } from './memory-store.ts';
import { allRecorded, expectedBlock, range, recordedBlock, recordForTest } from './recorded.ts';
import { poolIdOf, v3StateOf } from './v3-states.ts';

const TIP = 1_640_000;
const ascending = (heights: Iterable<number>) => [...heights].sort((a, b) => a - b);

describe('the heights of a range that are read', () => {
  test.each([
    [{ from: 10, to: 13 }, 1, [13, 12, 11, 10]],
    [{ from: 1, to: 40 }, 12, [36, 24, 12]],
    // What is left between two multiples stays as it is.
    [{ from: 13, to: 23 }, 12, []],
    [{ from: 15, to: 23 }, 12, range(15, 23).reverse()],
    [{ from: 20, to: 20 }, 12, [20]],
    [{ from: 20, to: 19 }, 12, []],
    [{ from: 1, to: 1 }, 2, []],
    [{ from: 1, to: 2 }, 2, [2]],
  ])('%j with a step of %j: %j', (gap, step, heights) => {
    expect([...heightsToRead(gap, step)]).toEqual(heights);
  });
});

describe('the backfill', () => {
  test('reads each height of the hours below the first head, from the newest down, before anything else is recorded', async () => {
    // 36 blocks of 40 s, and the first one before them.
    const { sandbox, store } = await recordForTest({ config: { historyBackfillHours: 0.4 } });
    await store.until(() => store.order.length === 35);
    expect(ascending(store.order)).toEqual(range(TIP - 37, TIP - 3));
    expect(store.order.slice(0, 4)).toEqual([TIP - 3, TIP - 4, TIP - 5, TIP - 6]);
    const { recorded, expected } = allRecorded(sandbox, store);
    expect(recorded).toEqual(expected);
  });

  test('reads the heights that were skipped, and those of a time without a gateway', async () => {
    const first = await recordForTest();
    await first.advanceEach(4);
    await first.untilRecorded(TIP + 1);
    await first.app.close();
    const { sandbox, store, lines, advanceEach, advance } = await recordForTest({
      store: first.store,
      before: (sandbox) => sandbox.advance(20),
      config: { historyBackfillHours: 0.5 },
    });
    await advanceEach(2);
    await advance(5);
    await advanceEach(4);
    await store.until(() => range(TIP - 10, TIP + 28).every((height) => store.blocks.has(height)));
    const { recorded, expected } = allRecorded(sandbox, store);
    expect(recorded).toEqual(expected);
    expect(lines.filter(({ level }) => level >= 40)).toEqual([]);
  });

  test('with a step reads the multiples of it, and short gaps completely', async () => {
    const { store } = await recordForTest({ config: { historyBackfillHours: 1, historyBackfillStep: 10 } });
    await store.until(() => store.order.length === 10 + 7);
    // The remainder above the highest multiple is a short gap only once something above it is recorded.
    expect(ascending(store.order)).toEqual([
      ...range(TIP - 100, TIP - 10).filter((height) => height % 10 === 0),
      ...range(TIP - 9, TIP - 3),
    ]);
  });

  test('stops at the heights that the node has pruned, with few errors', async () => {
    const { sandbox, store, advanceEach } = await recordForTest({
      config: { historyBackfillHours: 1 },
      before: ({ node }) => void node.faults.set({ kind: 'pruned', blocks: 20 }),
    });
    await store.until(() => store.blocks.has(TIP - 20));
    await advanceEach(6);
    await store.until(() => range(TIP - 20, TIP + 3).every((height) => store.blocks.has(height)));
    expect(ascending(store.order)).toEqual(range(TIP - 20, TIP + 3));
    const calls = sandbox.node.calls('getpdestate');
    expect(calls).toBeLessThan(24 + 7 + 8);
  });

  test('records no state of a node that lists no pools for a while', async () => {
    const store = createMemoryStore();
    store.failure = new HistoryDatabaseError('locked');
    const { sandbox } = await recordForTest({ store, config: { historyBackfillHours: 0.4 } });
    const path = ['Result', 'PDEPoolPairs'];
    // The states are read from the newest down, so each of these is below all that were read before.
    sandbox.node.faults.set({ kind: 'shape', on: 'getpdestate', path, value: {}, times: 6 });
    store.failure = undefined;
    await store.until(() => store.order.length === 35);
    const { recorded, expected } = allRecorded(sandbox, store);
    expect(recorded).toEqual(expected);
    // The head, each height, and the six once more: so the fault was there.
    expect(sandbox.node.calls('getpdestate')).toBeGreaterThanOrEqual(1 + 35 + 6);
  });

  test('reads the version that traded at each height, across the start of V3', async () => {
    const { sandbox, store } = await recordForTest({
      sandbox: { exchange: 'v3', startHeight: TIP, v3From: TIP - 10 },
      config: { historyBackfillHours: 0.3 },
    });
    await store.until(() => store.order.length === 26);
    const { recorded, expected } = allRecorded(sandbox, store);
    expect(recorded).toEqual(expected);
    const versions = [...store.blocks.values()].map(({ version }) => version);
    expect(versions.filter((version) => version === 'V3')).toHaveLength(8);
    expect(versions.filter((version) => version === 'V1')).toHaveLength(18);
  });

  test('reads V3 in the gaps of heights that a gateway has recorded with V1, and these stay as they are', async () => {
    const options = { sandbox: { exchange: 'v3', startHeight: TIP } as const };
    const first = await recordForTest({ ...options, config: { exchangeVersion: 'v1' } });
    await first.advanceEach(6);
    await first.untilRecorded(TIP + 3);
    await first.app.close();
    const { store } = first;
    const before = new Map(store.blocks);
    first.sandbox.advance(8);
    const second = await recordForTest({ of: first.sandbox, store, config: { historyBackfillHours: 0.5 } });
    await second.advanceEach(4);
    await store.until(() => range(TIP - 20, TIP + 15).every((height) => store.blocks.has(height)));
    for (const [height, block] of before) expect(store.blocks.get(height)).toBe(block);
    expect([...before.values()].every(({ version }) => version === 'V1')).toBe(true);
    const rest = [...store.blocks.values()].filter(({ exchange }) => !before.has(exchange.beaconHeight));
    expect(rest.every(({ version }) => version === 'V3')).toBe(true);
    expect(rest.map((block) => recordedBlock(first.sandbox, block))).toEqual(
      rest.map(({ exchange }) => expectedBlock(first.sandbox, exchange.beaconHeight)),
    );
  });

  test('goes on after the database, or the node, has failed', async () => {
    const store = createMemoryStore();
    store.failure = new HistoryDatabaseError('locked');
    const { sandbox, lines, metric } = await recordForTest({ store, config: { historyBackfillHours: 0.6 } });
    await expect.poll(() => lines.map(({ error }) => error)).toContain('locked');
    store.failure = undefined;
    await store.until(() => store.order.length > 20);
    store.failure = new HistoryDatabaseError('locked');
    expect([await metric('backfilling'), store.order.length < 53]).toEqual([1, true]);
    store.failure = undefined;
    sandbox.node.faults.set({ kind: 'reset', on: 'getpdestate', times: 6 });
    await store.until(() => store.order.length === 53);
    await expect.poll(() => metric('backfilling')).toBe(0);
    expect(await metric('backfill_reads_total')).toBeGreaterThanOrEqual(53);
    const { recorded, expected } = allRecorded(sandbox, store);
    expect(recorded).toEqual(expected);
  });

  test('reads one height at a time from a real node, each twelfth, and rests in between', async () => {
    const { sandbox, store } = await recordForTest({
      isSandbox: false,
      config: { historyBackfillHours: 1, headPollMs: 500 },
    });
    await store.until(() => store.order.length > 4);
    const [highest = 0] = store.order;
    expect(store.order.slice(0, 5)).toEqual(range(0, 4).map((n) => highest - 12 * n));
    expect(highest % 12).toBe(0);
    const states = sandbox.node.requests.filter(({ name }) => name === 'getpdestate').length;
    expect(states).toBeLessThanOrEqual(1 + 8 + 2);
  });

  test('waits while a node limits the rate of its calls, and every head is recorded', async () => {
    const { sandbox, store, untilHeight } = await recordForTest({
      config: { historyBackfillHours: 1, headPollMs: 500, upstreamMaxPauseMs: 15_000 },
      before: ({ node }) => void node.faults.set({ kind: 'rate-limit', perSecond: 4, burst: 1 }),
    });
    for (let height = TIP + 1; height <= TIP + 4; height++) {
      sandbox.advance();
      await untilHeight(height);
    }
    await store.until(() => store.blocks.has(TIP + 1));
    expect(ascending(store.order).filter((height) => height < TIP - 8)).toEqual([]);
    const { recorded, expected } = allRecorded(sandbox, store);
    expect(recorded).toEqual(expected);
  });

  test('does not run with 0 hours, and without times of states', async () => {
    const off = await recordForTest();
    await off.advanceEach(5);
    await off.untilRecorded(TIP + 2);
    expect(off.store.order).toEqual(range(TIP, TIP + 2));

    const timeless = await recordForTest({
      config: { historyBackfillHours: 1 },
      before: ({ node }) =>
        void node.faults.set({
          kind: 'shape',
          on: 'getpdestate',
          path: ['Result', 'BeaconTimeStamp'],
          value: undefined,
        }),
    });
    await timeless.advanceEach(6);
    // Each head, and the missing height that has shown it.
    await expect.poll(() => timeless.sandbox.node.calls('getpdestate')).toBeGreaterThan(7);
    await timeless.advanceEach(1);
    expect(timeless.store.order).toEqual([]);
    const warnings = timeless.lines.filter(({ msg }) => msg.includes('recorded'));
    expect(warnings.map(({ msg }) => msg)).toEqual([
      'heights are not recorded: the exchange states of the node have no time',
    ]);
  });
});

type FillOptions = {
  readonly step?: number;
  readonly completeHeights?: number;
  readonly startOfV3?: number;
  readonly maxAgeMs?: number;
  readonly head?: number;
  readonly headTime?: number;
  /** Heights that are recorded before. */
  readonly recorded?: readonly number[];
  /** Heights that the recorder has in memory, and records later. */
  readonly waiting?: readonly number[];
  /** The time that a read shows; `undefined` if it shows none. */
  readonly timeOf?: (height: number, read: number) => number | undefined;
};

/** A backfill of the heights below 100 or another head, of which one is read at a time. @param poolsOf how many pools a read shows */
function fillForTest(poolsOf: (height: number, read: number) => number, options: FillOptions = {}) {
  const { step = 1, completeHeights = 0, startOfV3 = 1_000, maxAgeMs = 50_000, head = 103 } = options;
  const { headTime = head * 1_000 + 500, recorded = [], waiting = [], timeOf = (height) => height * 1_000 } = options;
  const store = createMemoryStore();
  for (const height of recorded) {
    const exchange = exchangeStateOf(height, [], timeOf(height, 0));
    void store.record([{ hash: undefined, time: height * 1_000, version: 'V1', exchange }]);
  }
  const reads = new Map<number, number>();
  const counts = createPoolCounts(() => {});
  const backfill = createStateBackfill({
    store,
    recorder: {
      // The database leaves out a block whose time does not fit those of its neighbours.
      async record(blocks) {
        const isRight = ({ time, exchange }: FinalBlock) => time === exchange.beaconHeight * 1_000;
        await store.record(blocks.filter(isRight));
        return blocks.filter((block) => !isRight(block)).map(({ exchange }) => exchange.beaconHeight);
      },
      ready: async () => {},
      waiting: () => new Set(waiting),
    },
    pastStates: {
      async readInBackground(height) {
        const read = (reads.get(height) ?? 0) + 1;
        reads.set(height, read);
        const count = poolsOf(height, read);
        if (height >= startOfV3) {
          const ids = Array.from({ length: count }, (_, n) => poolIdOf('0', '1', n));
          const pools = ids.map((id) => ({ id, reserves: [1n, 1n] as const }));
          return { ...v3StateOf(height, pools, 0), time: timeOf(height, read) };
        }
        const pools = Array.from({ length: count }, (_, n) =>
          poolOf(1n, 1n, { token1Id: tokenId('0'), token2Id: tokenId(String(n + 1)) }),
        );
        return exchangeStateOf(height, pools, timeOf(height, read));
      },
      isComplete: counts.check,
    },
    mustPause: () => false,
    mayRun: () => true,
    maxAgeMs,
    step,
    completeHeights,
    rate: { ...QUICK, atOnce: 1 },
  });
  onTestFinished(backfill.stop);
  backfill.wake({ ...headOf(head), time: headTime, exchange: exchangeStateOf(head, [], headTime) });
  return {
    store,
    reads,
    backfill,
    poolsAt: (height: number) => store.blocks.get(height)?.exchange.directory.ids.length,
  };
}

test('with a step and a number of complete heights, reads each of these and multiples of the step below', async () => {
  const { store } = fillForTest(() => 5, { step: 12, completeHeights: 20 });
  await store.until(() => store.blocks.has(48));
  // The newest final height is 100, and 48 is the first one that is too old.
  expect(store.order).toEqual([...range(83, 100).reverse(), 72, 60, 48]);
});

test('with a step, reads a gap to its end, however many pieces that leaves', async () => {
  const multiples = range(1, 1_100).map((n) => 12 * n);
  const head = 13_203;
  const { store, backfill } = fillForTest(() => 5, { step: 12, maxAgeMs: head * 1_000, head, recorded: [12] });
  await expect.poll(() => [backfill.reads() > 0, backfill.isReading()]).toEqual([true, false]);
  expect(ascending(store.order)).toEqual(multiples);
});

test('with an age of 0, reads only heights above the first head, and at most 64 below the newest one; none that waits', async () => {
  const { store, backfill } = fillForTest(() => 5, { maxAgeMs: 0, waiting: [298, 296] });
  backfill.wake({ ...headOf(300), time: 300_500 });
  await expect.poll(() => [backfill.reads() > 0, backfill.isReading()]).toEqual([true, false]);
  expect(store.order).toEqual([297, ...range(236, 295).reverse()]);
});

test('a head with a wrong time in the future does not end the reads', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 103_500 });
  onTestFinished(() => void vi.useRealTimers());
  const { store } = fillForTest(() => 5, { headTime: Date.UTC(2100, 0) });
  await store.until(() => store.order.length === 48);
  expect(ascending(store.order)).toEqual(range(53, 100));
});

test.each([
  ['with a time long ago, which is left out,', 1],
  ['without a time', undefined],
])('a state %s does not end the reads: it is read again, and those below it', async (_, wrong) => {
  const timeOf = (height: number, read: number) => (height === 95 && read === 1 ? wrong : height * 1_000);
  const { store, reads } = fillForTest(() => 5, { timeOf });
  await store.until(() => store.order.length === 48);
  expect(ascending(store.order)).toEqual(range(53, 100));
  expect([reads.get(95), reads.get(54), reads.get(53), reads.get(52)]).toEqual([2, 1, 1, undefined]);
});

describe('a state that lists too few pools', () => {
  test('is one of the same version: V3 starts with fewer pools than V1 has', async () => {
    const { store, reads, poolsAt } = fillForTest((height) => (height >= 90 ? 2 : 5), { startOfV3: 90 });
    await store.until(() => store.order.length === 48);
    expect([poolsAt(90), poolsAt(89), reads.get(90)]).toEqual([2, 5, 1]);
    expect([store.blocks.get(90)?.version, store.blocks.get(89)?.version]).toEqual(['V3', 'V1']);
  });

  test('is read again if one of the heights just below it lists more', async () => {
    const { store, reads, poolsAt } = fillForTest((height, read) => (height === 95 && read === 1 ? 2 : 5));
    await store.until(() => store.order.length === 48);
    expect([poolsAt(95), reads.get(95), reads.get(94)]).toEqual([5, 2, 1]);
  });

  test('is left out after three reads, and all others are recorded', async () => {
    const { store, reads } = fillForTest((height) => (height % 10 === 5 ? 0 : 5));
    await store.until(() => store.order.length === 48 - 5);
    expect([store.blocks.has(95), reads.get(95), reads.get(94)]).toEqual([false, 3, 1]);
  });

  test('is recorded if the pools appeared later', async () => {
    const { store, reads, poolsAt } = fillForTest((height) => (height > 90 ? 5 : 3));
    await store.until(() => store.order.length === 48);
    expect([poolsAt(91), poolsAt(90), reads.get(90)]).toEqual([5, 3, 1]);
  });
});
