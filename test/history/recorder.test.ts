import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ExchangeState } from '../../src/domain/exchange.ts';
import { UpstreamTimeoutError } from '../../src/errors.ts';
import { createRecorder } from '../../src/history/recorder.ts';
import type { HistoryWatcher } from '../../src/history/recorder-database.ts';
import { createSqliteStore } from '../../src/history/sqlite-store.ts';
import { HistoryDatabaseError, permanentError } from '../../src/history/store.ts';
import type { Head } from '../../src/live/chain/head.ts';
import { exchangeStateOf, poolOf } from '../domain/pools.ts';
import { headOf } from '../live/chain/heads.ts';
import { dataOf } from '../support/events.ts';
import { until } from '../support/until.ts';
import { createMemoryStore } from './memory-store.ts';
import { allRecorded, expectedTrades, range, recordedTrades, recordForTest } from './recorded.ts';

const TIP = 1_640_000;

describe('what is recorded', () => {
  test('each final height that was served, with its hash, without another call', async () => {
    const { sandbox, store, advanceEach, untilRecorded } = await recordForTest();
    await advanceEach(8);
    await untilRecorded(TIP + 5);
    expect(store.order).toEqual(range(TIP, TIP + 5));
    const { recorded, expected } = allRecorded(sandbox, store);
    expect(recorded).toEqual(expected);
    expect([...store.blocks.values()].map(({ hash }) => hash)).toEqual(expected.map(({ hash }) => hash));
    expect(store.chainName).toBe('sandbox');
    expect(sandbox.node.calls('getpdestate')).toBe(9);
  });

  test('each height with the version that traded at it, from the start of V3 on', async () => {
    const { sandbox, store, advanceEach, untilRecorded } = await recordForTest({
      sandbox: { exchange: 'v3', startHeight: TIP, v3From: TIP + 3 },
    });
    await advanceEach(10);
    for (const height of range(TIP, TIP + 7)) await untilRecorded(height);
    const { recorded, expected } = allRecorded(sandbox, store);
    expect(recorded).toEqual(expected);
    const versions = range(TIP, TIP + 7).map((height) => store.blocks.get(height)?.version);
    expect(versions).toEqual(['V1', 'V1', 'V1', 'V3', 'V3', 'V3', 'V3', 'V3']);
  });

  test('of a block that was replaced before it was final, its replacement', async () => {
    const { sandbox, store, advanceEach, untilHeight, untilRecorded } = await recordForTest();
    await advanceEach(2);
    // The replacement and the next block come together, so that the gateway never reads the replacement.
    sandbox.replaceTip();
    sandbox.advance();
    await untilHeight(TIP + 3);
    await advanceEach(5);
    await untilRecorded(TIP + 2);
    await untilRecorded(TIP + 5);
    const { recorded, expected } = allRecorded(sandbox, store);
    expect(recorded).toEqual(expected);
    expect(store.blocks.get(TIP + 2)?.hash).toBeUndefined();
    expect(recorded.map(({ height }) => height).sort()).toEqual(range(TIP, TIP + 5));
  });

  test('of a block whose replacement was served, the replacement', async () => {
    const { sandbox, store, advanceEach, untilRecorded, subscribe } = await recordForTest();
    await advanceEach(2);
    sandbox.replaceTip();
    for await (const { head } of dataOf(subscribe('subscription { head { hash } }')))
      if (head.hash === sandbox.chain.tip.hash) break;
    await advanceEach(5);
    await untilRecorded(TIP + 2);
    await untilRecorded(TIP + 4);
    const { recorded, expected } = allRecorded(sandbox, store);
    expect(recorded).toEqual(expected);
  });

  test.each(['alternate', 'random'] as const)('behind a load balancer whose nodes fork, order %s', async (order) => {
    const { sandbox, store, advanceEach, untilRecorded } = await recordForTest({
      sandbox: { nodes: 2, balanced: { order } },
    });
    for (let round = 0; round < 3; round++) {
      const from = sandbox.chain.tip.height + 1;
      const end = sandbox.nodes[1]?.faults.set({ kind: 'fork', from });
      await advanceEach(2);
      end?.();
      await advanceEach(2);
    }
    await advanceEach(4);
    for (const height of range(TIP, TIP + 13)) await untilRecorded(height);
    const { recorded, expected } = allRecorded(sandbox, store);
    expect(recorded).toEqual(expected);
  });

  test.each([
    ['the block below', 'PreviousBestBlockHash'],
    ['its best block', 'BestBlockHash'],
  ])('if the node does not name %s: what is read again when it is final', async (_, member) => {
    const { sandbox, store, advanceEach, untilHeight, untilRecorded } = await recordForTest({
      before: ({ node }) =>
        void node.faults.set({
          kind: 'shape',
          on: 'getbeaconbeststatedetail',
          path: ['Result', member],
          value: undefined,
        }),
    });
    await advanceEach(2);
    sandbox.replaceTip();
    sandbox.advance();
    await untilHeight(TIP + 3);
    await advanceEach(6);
    await untilRecorded(TIP + 6);
    await store.until(() => store.blocks.size === 7);
    const { recorded, expected } = allRecorded(sandbox, store);
    expect(recorded).toEqual(expected);
    expect([...store.blocks.keys()].sort()).toEqual(range(TIP, TIP + 6));
  });

  test('nothing of a first head without pools, if the heights above it have some', async () => {
    const path = ['Result', 'PDEPoolPairs'];
    const { sandbox, store, advanceEach, untilRecorded } = await recordForTest({
      before: ({ node }) => void node.faults.set({ kind: 'shape', on: 'getpdestate', path, value: {}, times: 1 }),
    });
    await advanceEach(5);
    await untilRecorded(TIP);
    await untilRecorded(TIP + 2);
    const { recorded, expected } = allRecorded(sandbox, store);
    expect(recorded).toEqual(expected);
  });

  test('nothing of a state that has lost pools', async () => {
    const { sandbox, store, advanceEach, untilRecorded } = await recordForTest();
    await advanceEach(1);
    const end = sandbox.node.faults.set({
      kind: 'shape',
      on: 'getpdestate',
      path: ['Result', 'PDEPoolPairs'],
      value: {},
    });
    await advanceEach(1);
    end();
    await advanceEach(5);
    await untilRecorded(TIP + 2);
    await untilRecorded(TIP + 4);
    const { recorded, expected } = allRecorded(sandbox, store);
    expect(recorded).toEqual(expected);
  });
});

describe('a database that fails', () => {
  test('touches nothing else, is logged once, and everything is recorded afterwards', async () => {
    const { sandbox, app, store, lines, ask, advanceEach, untilRecorded, metric } = await recordForTest();
    await advanceEach(4);
    await untilRecorded(TIP + 1);
    await expect.poll(() => metric('lag_heights')).toBe(0);
    store.failure = new HistoryDatabaseError('database or disk is full');
    await advanceEach(6);
    expect((await ask('{ beaconHeight }')).data).toEqual({ beaconHeight: TIP + 10 });
    const ready = await fetch(new URL('/ready', await app.listen(0, '127.0.0.1')));
    expect(await ready.json()).toMatchObject({ notes: [{ code: 'HISTORY_FAILING' }] });
    expect(await metric('state{state="failing"}')).toBe(1);
    expect([await metric('waiting_heights'), await metric('lag_heights')]).toEqual([6, 6]);
    expect(await metric('database_errors_total')).toBeGreaterThan(0);
    store.failure = undefined;
    await untilRecorded(TIP + 7);
    await expect.poll(() => metric('waiting_heights')).toBe(0);
    expect([await metric('state{state="recording"}'), await metric('lag_heights')]).toEqual([1, 0]);
    const { recorded, expected } = allRecorded(sandbox, store);
    expect(recorded).toEqual(expected);
    expect(store.order).toEqual(range(TIP, TIP + 7));
    expect(lines.filter(({ msg }) => msg.includes('history'))).toEqual([
      expect.objectContaining({ level: 40, error: 'database or disk is full' }),
      expect.objectContaining({ level: 30, msg: 'the history is recorded again' }),
    ]);
  });

  test('is not reported to work again before it can be written again, neither for states nor for trades', async () => {
    const reported: string[] = [];
    const { store, recorder } = recorderOf({
      failed: () => void reported.push('failed'),
      recovered: () => void reported.push('recovered'),
    });
    recorder.add(linkedHead(20));
    await until(() => store.pruned.length > 0);
    const { record, recordTrades } = store;
    let isFull = true;
    const requireSpace = (height = 0) => {
      if (isFull && height !== 15) throw new HistoryDatabaseError('database or disk is full');
    };
    store.record = async (blocks) => {
      requireSpace(blocks[0]?.exchange.beaconHeight);
      return record(blocks);
    };
    store.recordTrades = async (blocks) => {
      requireSpace(blocks[0]?.beaconHeight);
      return recordTrades(blocks);
    };
    const blocks = range(15, 17).map((height) => linkedHead(height));
    const recordAll = () => recorder.record(blocks.map((block) => ({ ...block, version: 'V1' })));
    const recordAllTrades = () =>
      recorder.recordTrades(blocks.map((block) => ({ ...block, trades: [], isComplete: true })));

    // The first block, which is recorded already, can be recorded again.
    for (const write of [recordAll, recordAll, recordAllTrades, recordAllTrades])
      await expect(write()).rejects.toThrow('full');
    // A height was skipped: the database can be compared with the node.
    recorder.add(linkedHead(22));
    await expect(recordAll()).rejects.toThrow('full');
    // The trades are not certain any more when their turn comes.
    const isSure = () => false;
    expect(
      await recorder.recordTrades(
        blocks.map((block) => ({ ...block, trades: [], isComplete: true })),
        isSure,
      ),
    ).toEqual([]);
    expect([recorder.state(), recorder.errors(), reported]).toEqual(['failing', 5, ['failed']]);
    isFull = false;
    expect([await recordAll(), await recordAllTrades()]).toEqual([[], []]);
    expect([store.order, store.tradedBlocks().length]).toEqual([range(15, 17), 3]);
    expect([recorder.state(), reported]).toEqual(['recording', ['failed', 'recovered']]);
  });

  test('records nothing afterwards of a branch that was given up meanwhile, neither states nor trades', async () => {
    const { sandbox, store, advanceEach, untilRecorded } = await recordForTest({
      sandbox: { exchange: 'v3', startHeight: TIP },
    });
    await advanceEach(2);
    const end = sandbox.node.faults.set({ kind: 'fork', from: TIP + 3 });
    await advanceEach(3);
    await untilRecorded(TIP + 2);
    await store.until(() => store.tradedBlocks().some(({ beaconHeight }) => beaconHeight === TIP + 2));
    store.failure = new HistoryDatabaseError('database or disk is full');
    await advanceEach(6);
    end?.();
    await advanceEach(1);
    store.failure = undefined;
    await advanceEach(8);
    const heights = range(TIP, TIP + 17);
    for (const height of heights) await untilRecorded(height);
    await store.until(() => store.tradedBlocks().length === heights.length);
    const { recorded, expected } = allRecorded(sandbox, store);
    expect(recorded).toEqual(expected);
    // Their hashes are not known if they were read again.
    const traded = store.tradedBlocks().map((block) => ({ ...recordedTrades(block), hash: undefined }));
    expect(traded).toEqual(heights.map((height) => ({ ...expectedTrades(sandbox, height), hash: undefined })));
  });

  test('lets the 64 newest final heights wait, and reports how many it has dropped', async () => {
    let dropped = 0;
    const { store, recorder } = recorderOf({
      dropped(heights) {
        dropped += heights;
      },
    });
    store.failure = new HistoryDatabaseError('database or disk is full');
    for (const height of range(10, 92)) recorder.add(linkedHead(height));
    expect([...recorder.waiting()]).toEqual(range(26, 89));
    expect(dropped).toBe(16);
  });

  test('records all heights that waited although one was skipped meanwhile', async () => {
    const { store, recorder } = recorderOf({});
    store.failure = new HistoryDatabaseError('database or disk is full');
    for (const height of [...range(10, 19), ...range(21, 30)]) recorder.add(linkedHead(height));
    await until(() => recorder.state() === 'failing');
    store.failure = undefined;
    await store.until(() => store.blocks.has(27));
    const heights = [...range(10, 16), ...range(21, 27)];
    expect(store.order).toEqual(heights);
    expect([...store.blocks.values()].map(({ hash }) => hash)).toEqual(heights.map((height) => `block ${height}`));
  });

  test('records what waited one state at a time: a message with several would block the event loop', async () => {
    const { store, recorder } = recorderOf({});
    const record = vi.spyOn(store, 'record');
    store.failure = new HistoryDatabaseError('database or disk is full');
    for (const height of range(10, 29)) recorder.add(linkedHead(height));
    await until(() => recorder.state() === 'failing');
    store.failure = undefined;
    await store.until(() => store.blocks.has(26));
    expect(record.mock.calls.map(([{ length }]) => length)).toEqual(range(10, 26).map(() => 1));
  });

  test('deletes what waited if a skipped height hid that it was of a branch', async () => {
    const deleted: number[] = [];
    const { store, recorder } = recorderOf({ deleted: (heights) => void deleted.push(...heights) });
    for (const height of range(10, 19)) recorder.add(linkedHead(height));
    await store.until(() => store.blocks.has(16));
    store.failure = new HistoryDatabaseError('database or disk is full');
    for (const height of range(20, 29)) recorder.add(linkedHead(height, 20));
    recorder.add(linkedHead(31));
    await until(() => recorder.state() === 'failing');
    store.failure = undefined;
    await store.until(() => store.blocks.has(26));
    recorder.add(linkedHead(32));
    await until(() => deleted.length > 0);
    expect(deleted).toEqual(range(20, 26));
  });

  test.each([
    ['two heights were skipped', 29, 40],
    ['two heights were skipped, far from each other', 29, 90],
    ['only one height of it waited', 23, 40],
  ])('deletes what waited of a branch, and nothing above it, although %s', async (_, branchTo, last) => {
    const deleted: number[] = [];
    const { store, recorder } = recorderOf({ deleted: (heights) => void deleted.push(...heights) });
    for (const height of range(10, 19)) recorder.add(linkedHead(height));
    await store.until(() => store.blocks.has(16));
    store.failure = new HistoryDatabaseError('database or disk is full');
    for (const height of range(20, branchTo)) recorder.add(linkedHead(height, 20));
    for (const height of [...range(branchTo + 2, last), last + 2]) recorder.add(linkedHead(height));
    await until(() => recorder.state() === 'failing');
    store.failure = undefined;
    await store.until(() => store.blocks.has(last - 3));
    recorder.add(linkedHead(last + 3));
    await until(() => deleted.length > 0);
    expect(deleted).toEqual(range(20, branchTo - 3));
  });

  test('deletes what waited of a branch although missing heights above it are recorded at the same time', async () => {
    const deleted: number[] = [];
    const { store, recorder } = recorderOf({ deleted: (heights) => void deleted.push(...heights) });
    for (const height of range(10, 19)) recorder.add(linkedHead(height));
    await store.until(() => store.blocks.has(16));
    store.failure = new HistoryDatabaseError('database or disk is full');
    for (const height of range(20, 29)) recorder.add(linkedHead(height, 20));
    for (const height of range(31, 33)) recorder.add(linkedHead(height));
    await until(() => recorder.state() === 'failing');
    const isBegun = Promise.withResolvers<void>();
    const mayEnd = Promise.withResolvers<void>();
    const { record } = store;
    store.record = async (blocks) => {
      isBegun.resolve();
      await mayEnd.promise;
      return record(blocks);
    };
    store.failure = undefined;
    await isBegun.promise;
    const missing = range(27, 30).map((height) => linkedHead(height));
    const recording = recorder.record(missing.map((head) => ({ ...head, hash: undefined, version: 'V1' })));
    setImmediate(mayEnd.resolve);
    await recording;
    recorder.add(linkedHead(34));
    await until(() => deleted.length > 0);
    expect(deleted).toEqual(range(20, 30));
  });

  test('is refused if it is of a chain with another name', async () => {
    const store = createMemoryStore();
    await store.useChain('mainnet');
    const { lines, ask, advanceEach } = await recordForTest({ store });
    await advanceEach(6);
    expect((await ask('{ beaconHeight }')).data).toEqual({ beaconHeight: TIP + 6 });
    expect(store.order).toEqual([]);
    expect(lines.filter(({ msg }) => msg.includes('history'))).toEqual([
      expect.objectContaining({ level: 50, error: 'of another chain' }),
    ]);
  });

  test.each([
    ['another block than the node, also if the chains have the same name', 1_000, 40],
    ['later heights than a chain that was begun again, as that of a restarted sandbox', -3_600_000, 28],
  ])('is refused if it has %s', async (_, laterByMs, height) => {
    const refused: unknown[] = [];
    const { store, recorder } = recorderOf({ refused: (error) => void refused.push(error) });
    const other = range(27, 30).map((each) => ({ ...linkedHead(each), time: linkedHead(each).time + laterByMs }));
    await store.record(other.map((head) => ({ ...head, version: 'V1' })));
    recorder.add(linkedHead(height));
    await until(() => recorder.state() === 'refused');
    const message = expect.stringContaining('another block at beacon height 30');
    expect(refused).toMatchObject([{ isPermanent: true, message }]);
    for (const above of range(height + 1, height + 5)) recorder.add(linkedHead(above));
    await recorder.flush(10);
    expect(store.order).toEqual(range(27, 30));
  });

  test('is neither read nor written any more once it is refused', async () => {
    const { store, recorder } = recorderOf({});
    for (const height of range(10, 13)) recorder.add(linkedHead(height));
    await store.until(() => store.blocks.has(10));
    store.record = () => Promise.reject(permanentError('a newer gateway has brought it up to date'));
    recorder.add(linkedHead(14));
    await until(() => recorder.state() === 'refused');
    await expect(recorder.ready()).rejects.toMatchObject({ isPermanent: true });
    await expect(recorder.recordTrades([])).rejects.toMatchObject({ isPermanent: true });
    expect(recorder.canRecord()).toBe(false);
  });
});

test.each([
  ['before the first one is written', 0],
  ['between two of them', 1],
])('trades of blocks that a head makes doubtful %s are not recorded', async (_, written) => {
  const { store, recorder } = recorderOf({});
  recorder.add(linkedHead(20));
  const blocks = [15, 14, 13].map((beaconHeight) => ({
    ...{ beaconHeight, hash: undefined, time: beaconHeight * 40_000 },
    ...{ trades: [], isComplete: true },
  }));
  let isDoubtful = false;
  const recording = recorder.recordTrades(blocks, () => !isDoubtful && store.tradedOrder.length < 1);
  // While it waits for the comparison with the node.
  isDoubtful = written === 0;
  expect(await recording).toEqual([]);
  expect(store.tradedOrder).toEqual([15].slice(0, written));
});

test('states and trades that do not fit to the recorded ones are reported', async () => {
  const leftOut: (readonly number[])[] = [];
  const { store, recorder } = recorderOf({ leftOut: (heights) => void leftOut.push(heights) });
  recorder.add(linkedHead(20));
  store.record = async (blocks) => blocks.map(({ exchange }) => exchange.beaconHeight);
  store.recordTrades = async (blocks) => blocks.map(({ beaconHeight }) => beaconHeight);
  const [state, traded] = [linkedHead(15), linkedHead(14)];
  expect(await recorder.record([{ ...state, version: 'V1' }])).toEqual([15]);
  expect(await recorder.recordTrades([{ ...traded, trades: [], isComplete: true }])).toEqual([14]);
  expect(leftOut).toEqual([[15], [14]]);
});

test('while the database cannot be compared with the node, reads of the history do not call the node', async () => {
  const exchange = exchangeStateOf(10, [], 400_000);
  let calls = 0;
  let isDown = true;
  async function readInBackground() {
    calls += 1;
    if (isDown) throw new UpstreamTimeoutError('NODE', 1, {});
    return exchange;
  }
  const { store, recorder } = recorderOf({}, readInBackground);
  await store.record([{ hash: undefined, time: 400_000, version: 'V1', exchange }]);
  recorder.add(headOf(20));
  await until(() => calls > 0);
  for (let read = 0; read < 50; read++) await expect(recorder.ready()).rejects.toThrow(HistoryDatabaseError);
  // The recorder itself calls it again after 200 ms.
  expect(calls).toBeLessThan(10);

  isDown = false;
  await until(() =>
    recorder.ready().then(
      () => true,
      () => false,
    ),
  );
});

describe('a database that cannot be compared with the node', () => {
  const timeOf = (height: number) => height * 40_000;
  const stateAt = (height: number) => exchangeStateOf(height, [], timeOf(height));

  /** A recorder, and what it reports, of a database with the heights 27 to 30. */
  async function recorderForTest(readInBackground: (height: number) => Promise<ExchangeState>) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const reported: string[] = [];
    const watcher = {
      failed: (error: unknown) => void reported.push((error as Error).message),
      recovered: () => void reported.push('recovered'),
    };
    const { store, recorder } = recorderOf(watcher, readInBackground);
    const blocks = range(27, 30).map((height) => ({
      hash: undefined,
      time: timeOf(height),
      exchange: stateAt(height),
    }));
    await store.record(blocks.map((block) => ({ ...block, version: 'V1' })));
    return { recorder, reported };
  }

  test('because the node is behind for an hour is reported once, and when it can be compared again', async () => {
    const { recorder, reported } = await recorderForTest(async (height) => stateAt(height));
    recorder.add(headOf(10));
    // Until then, the node may just be some blocks behind after a restart.
    await vi.advanceTimersByTimeAsync(40_000);
    expect([recorder.state(), reported]).toEqual(['starting', []]);
    await vi.advanceTimersByTimeAsync(3_600_000);
    await expect(recorder.ready()).rejects.toThrow(HistoryDatabaseError);
    expect([recorder.state(), reported]).toEqual(['failing', ['the node has not reached the recorded heights']]);
    recorder.add(headOf(33));
    await vi.advanceTimersByTimeAsync(30_000);
    expect([recorder.state(), reported.slice(1)]).toEqual(['recording', ['recovered']]);
  });

  test('because the node fails is reported once, and when it can be compared again, also while the gateway runs', async () => {
    let isDown = false;
    const { recorder, reported } = await recorderForTest(async (height) => {
      if (isDown) throw new UpstreamTimeoutError('NODE', 1, {});
      return stateAt(height);
    });
    recorder.add(headOf(33));
    await vi.advanceTimersByTimeAsync(1_000);
    expect([recorder.state(), reported]).toEqual(['recording', []]);
    isDown = true;
    // The heights between are skipped.
    recorder.add(headOf(40));
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect([recorder.state(), reported]).toEqual([
      'failing',
      ['a recorded height cannot be compared with that of the node'],
    ]);
    isDown = false;
    await vi.advanceTimersByTimeAsync(30_000);
    expect([recorder.state(), reported.slice(1)]).toEqual(['recording', ['recovered']]);
  });

  test('because the node is a few blocks behind after a restart is not reported', async () => {
    const { recorder, reported } = await recorderForTest(async (height) => stateAt(height));
    recorder.add(headOf(31));
    await vi.advanceTimersByTimeAsync(1_000);
    for (const height of [32, 33]) recorder.add(headOf(height));
    await vi.advanceTimersByTimeAsync(2_000);
    expect([recorder.state(), reported, recorder.errors()]).toEqual(['recording', [], 0]);
    await recorder.ready();
  });
});

test('if all recorded heights are of a branch with which the gateway began, they stay, and it is reported', async () => {
  const undecided: number[] = [];
  const { store, recorder } = recorderOf({ undecided: (height) => void undecided.push(height) });
  for (const height of range(10, 16)) recorder.add(linkedHead(height, 0));
  await store.until(() => store.blocks.has(13));
  for (const height of range(18, 21)) recorder.add(linkedHead(height));
  await store.until(() => store.blocks.has(18));
  expect([recorder.state(), undecided]).toEqual(['recording', [13]]);
  expect(store.order).toEqual([...range(10, 13), 18]);
});

test('the database is closed with the gateway, and what was final is recorded', async () => {
  const { store, app, advanceEach } = await recordForTest();
  await advanceEach(5);
  await app.close();
  expect(store.order).toEqual(range(TIP, TIP + 2));
  expect(store.isClosed).toBe(true);
});

test('a database that does not respond delays the end of the gateway for a limited time only', async () => {
  const failed: unknown[] = [];
  const { store, recorder } = recorderOf({ failed: (error) => void failed.push(error) });
  for (const height of range(10, 13)) recorder.add(linkedHead(height));
  await store.until(() => store.blocks.has(10));
  await until(() => recorder.state() === 'recording');
  const response = Promise.withResolvers<readonly number[]>();
  store.record = () => response.promise;
  recorder.add(linkedHead(14));
  await recorder.flush(10);
  expect([...recorder.waiting()]).toEqual([11]);
  // The database is closed then, and what it has not done fails.
  response.reject(new HistoryDatabaseError('the history is closed'));
  await new Promise(setImmediate);
  expect([failed, recorder.errors()]).toEqual([[], 0]);
});

test('a gateway can record for its fleet as long as it can read the database, also if it cannot write', async () => {
  let isRecorder = true;
  const { store, recorder } = recorderOf({}, undefined, () => isRecorder);
  store.failure = new HistoryDatabaseError('no connection');
  for (const height of range(10, 13)) recorder.add(linkedHead(height));
  await until(() => !recorder.canRecord());
  store.failure = undefined;
  await until(() => recorder.canRecord());

  store.record = () => Promise.reject(new HistoryDatabaseError('the disk is full'));
  const errors = recorder.errors();
  recorder.add(linkedHead(14));
  await until(() => recorder.errors() === errors + 3);
  expect([recorder.state(), recorder.canRecord()]).toEqual(['failing', true]);

  // Another replica takes over: this one only reads.
  isRecorder = false;
  await until(() => recorder.state() === 'recording');
});

test('old changes are deleted once an hour by the times of blocks', async () => {
  const { store, recorder } = recorderOf({});
  const add = (from: number, to: number) => {
    for (const height of range(from, to)) recorder.add(linkedHead(height));
  };
  add(10, 14);
  await until(() => store.pruned.length === 1);
  // An hour has 90 blocks of 40 s.
  for (const [from, to] of [
    [15, 60],
    [61, 103],
  ] as const) {
    add(from, to);
    await store.until(() => store.blocks.has(to - 3));
  }
  add(104, 104);
  await until(() => store.pruned.length === 2);
  expect(store.pruned).toEqual([14, 104].map((height) => linkedHead(height).time));
});

test('a head with a wrong time in the future deletes nothing, and heights are recorded after it', async () => {
  const from = Date.now() - 3_600_000;
  const inFuture = { ...headAt(20), time: Date.UTC(2100, 0) };
  const store = createSqliteStore(undefined, { rawDays: 7 });
  onTestFinished(() => store.close());
  const recorder = createRecorder({
    store,
    pastStates: { readInBackground: async (height) => headAt(height).exchange, isComplete: () => true },
    watcher: UNWATCHED,
    mayWrite: () => true,
  });
  onTestFinished(() => recorder.flush(0));
  // The newest head when old changes are deleted for the first time.
  for (const height of range(10, 19)) recorder.add(headAt(height));
  recorder.add(inFuture);
  await until(() => recorder.state() === 'recording' && recorder.waiting().size === 0);
  for (const height of range(21, 40)) recorder.add(headAt(height));
  await until(() => recorder.recorded.coverage()?.last.beaconHeight === 37);

  function headAt(height: number): Head {
    const time = from + height * 40_000;
    const pool = poolOf(BigInt(height), 1n);
    const { exchange: _, ...head } = headOf(height);
    return { ...head, time, previousHash: `block ${height - 1}`, exchange: exchangeStateOf(height, [pool], time) };
  }
});

/** A head that follows the one below it. From a height on, it is of a branch, whose blocks are made a second later. */
function linkedHead(height: number, branchFrom = Number.POSITIVE_INFINITY): Head {
  const hashOf = (each: number) => `block ${each}${each < branchFrom ? '' : ' of a branch'}`;
  const { exchange: _, ...head } = headOf(height, hashOf(height));
  const time = head.time + (height < branchFrom ? 0 : 1_000);
  return { ...head, time, previousHash: hashOf(height - 1), exchange: exchangeStateOf(height, [], time) };
}

const UNWATCHED: HistoryWatcher = {
  ...{ failed() {}, recovered() {}, refused() {}, untimed() {}, dropped() {} },
  ...{ leftOut() {}, deleted() {}, undecided() {} },
};

/** A recorder into a store in memory. By default, the node has the blocks of {@link linkedHead} that are on no branch. */
function recorderOf(
  watcher: Partial<HistoryWatcher>,
  readInBackground = async (height: number): Promise<ExchangeState> => linkedHead(height).exchange,
  mayWrite = () => true,
) {
  const store = createMemoryStore();
  const recorder = createRecorder({
    store,
    pastStates: { readInBackground, isComplete: () => true },
    watcher: { ...UNWATCHED, ...watcher },
    mayWrite,
  });
  onTestFinished(() => recorder.flush(0));
  return { store, recorder };
}
