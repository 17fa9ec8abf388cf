import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { BlockTrades } from '../../src/domain/trade.ts';
import { type BackfillRate, QUICK } from '../../src/history/backfill-loop.ts';
import { type Coverage, HistoryDatabaseError } from '../../src/history/store.ts';
import { createTradeBackfill, GENTLE_BYTES } from '../../src/history/trade-backfill.ts';
import type { TradedBlock } from '../../src/history/trade-store.ts';
import type { Head } from '../../src/live/chain/head.ts';
import type { NodeFault } from '../../src/sandbox/faults.ts';
import { exchangeStateOf } from '../domain/pools.ts';
import { headOf } from '../live/chain/heads.ts';
import { NEVER_MS, type TestGatewayOptions } from '../support/gateway.ts';
import { createMemoryStore, type MemoryStore } from './memory-store.ts';
import { expectedTrades, range, recordedTrades, recordForTest } from './recorded.ts';
import { v3StateOf } from './v3-states.ts';

const BLOCK_CALL = 'retrievebeaconblockbyheight';
const TIP = 1_640_000;

/** A gateway of V3 that records into memory. */
function startV3(options: TestGatewayOptions & { readonly store?: MemoryStore } = {}) {
  return recordForTest({ ...options, sandbox: { exchange: 'v3', startHeight: TIP, ...options.sandbox } });
}

const heightsOf = (store: MemoryStore) => store.tradedBlocks().map(({ beaconHeight }) => beaconHeight);

/** Waits until the trades of these heights, and of no other ones, are recorded. */
async function untilTraded(store: MemoryStore, from: number, to: number): Promise<void> {
  await store.until(() => range(from, to).every((height) => heightsOf(store).includes(height)));
  expect(heightsOf(store)).toEqual(range(from, to));
}

function expectExact({ store, sandbox }: Awaited<ReturnType<typeof startV3>>): void {
  expect(store.tradedBlocks().map(recordedTrades)).toEqual(
    heightsOf(store).map((height) => expectedTrades(sandbox, height)),
  );
}

describe('the trades of final blocks', () => {
  test('are recorded from memory, each block once, and without a call', async () => {
    const gateway = await startV3();
    const { store, sandbox, advanceEach, app } = gateway;
    const { history } = app.service.sources;
    const version = history.tradesVersion();
    await advanceEach(8);
    await untilTraded(store, TIP, TIP + 5);
    expectExact(gateway);
    expect(store.tradedOrder).toHaveLength(6);
    expect(store.tradedBlocks().flatMap(({ trades }) => trades).length).toBeGreaterThan(5);
    await expect.poll(() => sandbox.node.calls(BLOCK_CALL)).toBe(9);
    await expect.poll(history.tradesVersion).toBeGreaterThan(version);
    await expect.poll(history.status).toMatchObject({ tradeReads: 0, tradeCoverage: { blocks: 6 } });
  });

  test('are read as far back as the setting says, from the newest down, and one block more', async () => {
    const gateway = await startV3({ config: { historyBackfillHours: 0.4, tradesBackfillHours: 0.4 } });
    const { store, sandbox, metric } = gateway;
    await untilTraded(store, TIP - 37, TIP - 3);
    expectExact(gateway);
    expect(store.tradedOrder.slice(0, 16)).toEqual(range(TIP - 18, TIP - 3).reverse());
    // The sandbox is read four blocks at a time.
    expect(sandbox.node.calls(BLOCK_CALL)).toBeLessThanOrEqual(1 + 35 + 3);
    expect(await metric('trade_reads_total')).toBeGreaterThanOrEqual(35);
    expect(await metric('trade_read_bytes_total')).toBeGreaterThan(35 * 1_000);
  });

  test('of a time without a gateway, and of skipped blocks, are read later, and none a second time', async () => {
    const first = await startV3();
    await first.advanceEach(5);
    await untilTraded(first.store, TIP, TIP + 2);
    await first.app.close();
    const { sandbox, store } = first;
    sandbox.advance(20);
    const before = sandbox.node.calls(BLOCK_CALL);
    const second = await startV3({ of: sandbox, store, config: { historyBackfillHours: 0.5 } });
    await second.advanceEach(2);
    // What was read and is not recorded yet when a block is skipped is read again.
    await untilTraded(store, TIP, TIP + 24);
    await second.advance(4);
    await second.advanceEach(4);
    await untilTraded(store, TIP, TIP + 32);
    expectExact(second);
    expect(store.tradedOrder).toHaveLength(33);
    // Each missing height, and each head; while the heads are not connected, some of them twice.
    expect(sandbox.node.calls(BLOCK_CALL) - before).toBeLessThanOrEqual(30 + 8 + 6);
  });

  test('are not recorded while V1 trades', async () => {
    const v1 = await recordForTest({ config: { historyBackfillHours: 0.2, tradesBackfillHours: 0.2 } });
    await v1.advanceEach(5);
    await v1.untilRecorded(TIP + 2);
    expect([heightsOf(v1.store), v1.sandbox.node.calls(BLOCK_CALL)]).toEqual([[], 0]);
  });

  test('are recorded later if the database fails', async () => {
    const gateway = await startV3();
    const { store, advanceEach } = gateway;
    await advanceEach(4);
    await untilTraded(store, TIP, TIP + 1);
    store.failure = new HistoryDatabaseError('locked');
    await advanceEach(4);
    store.failure = undefined;
    await advanceEach(1);
    await untilTraded(store, TIP, TIP + 6);
    expectExact(gateway);
  });
});

describe('a node that does not send earlier blocks', () => {
  const FAULTS: readonly NodeFault[] = [
    { kind: 'status', status: 500, body: '' },
    { kind: 'shape', path: ['Result', 0, 'Height'], value: 5 },
    { kind: 'hang' },
  ];

  /** Records some trades, then lets the node have a fault while the gateway starts again. */
  async function recordAfter(fault: NodeFault): Promise<void> {
    const first = await startV3();
    await first.advanceEach(4);
    await untilTraded(first.store, TIP, TIP + 1);
    await first.app.close();
    const { sandbox, store } = first;
    sandbox.advance(10);
    const clear = sandbox.node.faults.set({ ...fault, on: BLOCK_CALL });
    const gateway = await startV3({ of: sandbox, store, config: { upstreamTimeoutMs: 1_000 } });
    const { lines, advanceEach } = gateway;
    await advanceEach(4);
    await store.until(() => store.blocks.has(TIP + 15));
    const warnings = () => lines.filter(({ level, msg }) => level >= 40 && /trades of .*cannot be read/.test(msg));
    await expect.poll(warnings).not.toEqual([]);
    // One about heads, and perhaps one about earlier blocks before it.
    expect(warnings().length).toBeLessThanOrEqual(2);
    clear();
    await advanceEach(1);
    await store.until(() => heightsOf(store).includes(TIP + 2));
    expectExact(gateway);
  }

  test('but refuses the call, sends another one or does not respond is called again later, and states are recorded meanwhile', async () => {
    // At the same time, because each waits until blocks are read again.
    await Promise.all(FAULTS.map(recordAfter));
  });

  test('is passed over for another one', async () => {
    const gateway = await startV3({
      sandbox: { nodes: 2 },
      config: { historyBackfillHours: 0.3, tradesBackfillHours: 0.3 },
      before: ({ nodes: [first] }) => void first?.faults.set({ kind: 'reset', on: BLOCK_CALL }),
    });
    await untilTraded(gateway.store, TIP - 28, TIP - 3);
    expectExact(gateway);
  });

  test('because it has pruned them is not called for those below, and nothing is logged', async () => {
    const { store, sandbox, lines, advanceEach } = await startV3({
      config: { historyBackfillHours: 1, tradesBackfillHours: 1 },
      before: ({ node }) => void node.faults.set({ kind: 'pruned-blocks', blocks: 80 }),
    });
    await store.until(() => heightsOf(store).includes(TIP - 79));
    await advanceEach(5);
    await store.until(() => heightsOf(store).includes(TIP + 2));
    expect(heightsOf(store)[0]).toBe(TIP - 79);
    expect(sandbox.node.calls(BLOCK_CALL)).toBeLessThanOrEqual(80 + 6 + 8);
    expect(lines.filter(({ level, msg }) => level >= 40 && msg.includes('trades'))).toEqual([]);
  });

  test('with a trade that can be decoded leaves that block unknown, and is not called for it again', async () => {
    const { store, sandbox, lines, advanceEach } = await startV3();
    await advanceEach(2);
    await expect.poll(() => sandbox.node.calls(BLOCK_CALL)).toBe(3);
    sandbox.node.faults.set({ kind: 'damaged-trade', times: 1 });
    await advanceEach(6);
    await untilTraded(store, TIP, TIP + 5);
    const unknown = store.tradedBlocks().filter(({ isComplete }) => !isComplete);
    expect(unknown).toMatchObject([{ beaconHeight: TIP + 3, trades: [] }]);
    await expect.poll(() => sandbox.node.calls(BLOCK_CALL)).toBe(9);
    expect(lines.filter(({ msg }) => msg.includes('cannot be decoded'))).toHaveLength(1);
  });
});

const NO_TRADES: BlockTrades = { trades: [], isComplete: true, poolsWithLiquidityChanges: new Set() };

type FillOptions = {
  readonly bytes?: number;
  /** The highest recorded state; `undefined` if none is recorded. */
  readonly statesTo?: number | undefined;
  readonly rate?: Partial<BackfillRate>;
  readonly leavesOut?: (block: TradedBlock) => boolean;
  readonly timeOf?: (height: number, read: number) => number;
  readonly maxAgeMs?: number;
  readonly hashOf?: (height: number) => string;
  readonly mustPause?: boolean;
  readonly inMemory?: readonly Head[];
  readonly headTime?: number;
  readonly whileRecording?: () => void;
};

/** A head of V3 that follows the one below it. */
function linkedHead(height: number): Head {
  const { time, ...head } = headOf(height);
  return { ...head, time, previousHash: `block ${height - 1}`, exchange: v3StateOf(height, [], time) };
}

function coverageTo(beaconHeight: number): Coverage {
  const last = { beaconHeight, hash: undefined, time: beaconHeight * 40_000 };
  return { first: last, last, heights: 1, gaps: [] };
}

/** A filling of the heights up to 1,000 whose reads take so many bytes. */
function fillForTest(options: FillOptions) {
  const { bytes = 0, leavesOut = () => false, hashOf = (height) => `block ${height}` } = options;
  const { timeOf = (height) => height * 40_000, maxAgeMs = 86_400_000 } = options;
  let { statesTo } = { statesTo: 1_000, ...options };
  const onRecorded: (() => void)[] = [];
  const { mustPause = false, inMemory = [], headTime = 1_003 * 40_000, whileRecording = () => {} } = options;
  const store = createMemoryStore();
  const clock = { now: 0 };
  const reads: number[] = [];
  let tradeCoverage: Awaited<ReturnType<typeof store.tradeCoverage>>;
  const filling = createTradeBackfill({
    store,
    recorder: {
      ready: async () => {},
      recorded: {
        coverage: () => (statesTo === undefined ? undefined : coverageTo(statesTo)),
        tradeCoverage: () => tradeCoverage,
        onRecorded: (listener) => void onRecorded.push(listener),
      },
      headsInMemory: () => inMemory,
      async recordTrades(blocks: readonly TradedBlock[], isSure = () => true) {
        whileRecording();
        if (!isSure()) return [];
        await store.recordTrades(blocks.filter((block) => !leavesOut(block)));
        tradeCoverage = await store.tradeCoverage();
        return blocks.filter(leavesOut).map(({ beaconHeight }) => beaconHeight);
      },
    },
    trades: {
      of: async () => NO_TRADES,
      async readPast(beaconHeight, _head, received) {
        reads.push(beaconHeight);
        received(bytes);
        const time = timeOf(beaconHeight, reads.filter((height) => height === beaconHeight).length);
        return { beaconHeight, hash: hashOf(beaconHeight), time, trades: NO_TRADES };
      },
    },
    mustPause: () => mustPause,
    mayRun: () => true,
    storedForMs: maxAgeMs,
    maxAgeMs,
    rate: { ...QUICK, atOnce: 1, ...options.rate },
    bytes: GENTLE_BYTES,
    now: () => clock.now,
  });
  onTestFinished(filling.stop);
  filling.wake({ ...linkedHead(1_003), time: headTime });
  function recordStatesTo(height: number): void {
    statesTo = height;
    for (const listener of onRecorded) listener();
  }
  return { store, clock, reads, filling, recordStatesTo };
}

test('at most 100 MB of earlier blocks are read in a day, also from the start on', async () => {
  const { store, clock, reads, filling } = fillForTest({ bytes: 1_200_000 });
  // 5 MB at once, of which the last block takes more than is left: its size is not known before.
  await store.until(() => store.tradedOrder.length === 5);
  expect(filling.readBytes()).toBe(6_000_000);
  for (const hour of [1, 2]) {
    clock.now = hour * 3_600_000;
    // 3.6 MB an hour.
    await store.until(() => store.tradedOrder.length === 5 + 3 * hour);
  }
  expect(reads).toEqual(range(990, 1_000).reverse());
  const { pointsPerSecond, burst } = GENTLE_BYTES;
  const largestBlock = 8 * 2 ** 20;
  expect(burst + 86_400 * pointsPerSecond + largestBlock).toBeLessThanOrEqual(100_000_000);
});

test('blocks are recorded once, and only after the highest is read again, if a height is skipped while they are recorded', async () => {
  let isSkipped = false;
  const { store, reads, filling } = fillForTest({
    whileRecording() {
      if (!isSkipped) filling.wake({ ...headOf(1_005), exchange: v3StateOf(1_005, [], 1_005 * 40_000) });
      isSkipped = true;
    },
  });
  await store.until(() => store.tradedOrder.includes(980));
  expect(store.tradedOrder.slice(0, 16)).toEqual(range(985, 1_000).reverse());
  expect(reads.slice(0, 17)).toEqual([...range(985, 1_000).reverse(), 1_000]);
  expect(new Set(store.tradedOrder).size).toBe(store.tradedOrder.length);
});

test('a head with a wrong time in the future does not end the reads', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_003 * 40_000 });
  onTestFinished(() => void vi.useRealTimers());
  const { store } = fillForTest({ headTime: Date.UTC(2100, 0) });
  await store.until(() => store.tradedOrder.includes(900));
  expect(heightsOf(store).slice(-100)).toEqual(range(901, 1_000));
});

test('blocks that do not fit the recorded states are left out after three reads, and all others are recorded', async () => {
  // More than are looked at together.
  const leftOut = range(971, 990);
  const { store, reads } = fillForTest({ leavesOut: ({ beaconHeight }) => leftOut.includes(beaconHeight) });
  await store.until(() => store.tradedOrder.includes(900));
  for (const left of leftOut) expect(reads.filter((height) => height === left)).toHaveLength(3);
  expect(heightsOf(store).filter((height) => height > 960)).toEqual([...range(961, 970), ...range(991, 1_000)]);
});

test('a block with a time long ago, which is left out, does not end the reads: it is read again, and those below it', async () => {
  const { store, reads } = fillForTest({
    maxAgeMs: 100 * 40_000,
    timeOf: (height, read) => (height === 995 && read === 1 ? 1 : height * 40_000),
    leavesOut: ({ time }) => time === 1,
  });
  await store.until(() => store.tradedOrder.includes(902));
  expect(heightsOf(store)).toEqual(range(902, 1_000));
  expect(reads.filter((height) => height === 995)).toHaveLength(2);
});

test('a block that is read while heads are skipped may be of a branch, and is read again', async () => {
  let branches = 1;
  const { store, filling } = fillForTest({
    hashOf(height) {
      if (height !== 1_000 || branches === 0) return 'chain';
      branches -= 1;
      filling.wake(linkedHead(1_005));
      return 'branch';
    },
  });
  await store.until(() => store.tradedOrder.includes(1_000));
  const hashes = store.tradedBlocks().map(({ hash }) => hash);
  expect([branches, new Set(hashes)]).toEqual([0, new Set(['chain'])]);
});

test('while blocks that are not in memory have to wait, those of V3 in memory are recorded', async () => {
  const [ofV1, ...ofV3] = range(997, 1_003).map(linkedHead) as [Head, ...Head[]];
  const inMemory = [{ ...ofV1, exchange: exchangeStateOf(997, [], ofV1.time) }, ...ofV3];
  const { store, reads } = fillForTest({ mustPause: true, inMemory });
  await store.until(() => store.tradedOrder.length >= 3);
  expect([store.tradedOrder, reads]).toEqual([[1_000, 999, 998], []]);
});

test('trades above the highest recorded state wait for a higher one, and those that were read are not doubtful then', async () => {
  const rate = { lookEveryMs: NEVER_MS };
  const { store, reads, recordStatesTo } = fillForTest({ statesTo: undefined, rate });
  const look = vi.spyOn(store, 'missingTrades');
  await expect.poll(() => look).toHaveBeenCalled();
  expect(reads).toEqual([]);
  recordStatesTo(990);
  await store.until(() => store.tradedOrder.includes(980));
  expect([store.tradedOrder[0], reads[0]]).toEqual([990, 990]);
  recordStatesTo(995);
  await store.until(() => store.tradedOrder.includes(991));
  expect(store.tradedOrder.filter((height) => height > 990)).toEqual(range(991, 995).reverse());
  expect(new Set(reads).size).toBe(reads.length);
});
