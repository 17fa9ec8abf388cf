import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CANDLE_INTERVALS } from '../../src/history/candle-rows.ts';
import { createSqliteStore } from '../../src/history/sqlite-store.ts';
import type { HistoryStore } from '../../src/history/store.ts';
import type { SandboxHosts, SandboxHostsOptions } from '../../src/sandbox/sandbox.ts';
import { DEFAULT_BACKFILL_STEP } from '../../src/settings/history-database.ts';
import { startGatewayForTest, startSandbox, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { chainHeights } from './of-chain.ts';
import { expectedTrades, range, recordedTrades } from './recorded.ts';

const TIP = 1_640_000;

/** Each height of the last half an hour is recorded. */
const config = { historyBackfillHours: 0.5, historyBackfillStep: 1 };

function fileForTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pdex-branch-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'history.sqlite');
}

/** A sandbox with few blocks below its tip: those above are the subject. */
async function sandboxForTest(options: SandboxHostsOptions = {}): Promise<SandboxHosts> {
  const sandbox = await startSandbox({ pools: 12, history: 10, ...options });
  onTestFinished(sandbox.close);
  return sandbox;
}

const openStore = (path: string) => createSqliteStore(path, { rawDays: 7 });

/** Waits until all heights up to one are recorded, from below the first tip on. */
async function untilComplete({ app }: TestGateway, lastHeight: number): Promise<void> {
  const { history } = app.service.sources;
  await until(async () => {
    // It cannot be read before it was compared with the node.
    const { first, last, gaps } = (await history.coverage(1).catch(() => undefined)) ?? {};
    const isComplete = gaps?.length === 0 && (first?.beaconHeight ?? TIP) < TIP - 5;
    return isComplete && last?.beaconHeight === lastHeight && !history.isBackfilling();
  });
}

/** Everything that can be read of the recorded heights, without hashes: those that were read again have none. */
async function contentOf(store: HistoryStore, heights: readonly number[]) {
  const [from = 0, to = 0] = [heights[0], heights.at(-1)];
  const { directory } = (await store.stateAt(to)) ?? {};
  const poolIds = [...(directory?.ids ?? [])];
  const states = [];
  for (const height of heights) states.push(await store.stateAt(height));
  const candles = [];
  for (const interval of CANDLE_INTERVALS)
    candles.push(await store.candles({ poolIds, interval, upTo: to, last: 1_000 }));
  const windows = await store.windows({ poolIds, fromHeight: from, toHeight: to });
  const blocks = (await store.recentBlocks({ upTo: to, last: 1_000 })).map(({ hash: _, ...block }) => block);
  return { states, candles, windows, blocks };
}

/** Requires that a file has the heights of the chain up to one, as if there had never been a branch. */
async function expectChain(path: string, sandbox: SandboxHosts, lastHeight: number): Promise<void> {
  const [store, expected] = [openStore(path), createSqliteStore(undefined, { rawDays: 7 })];
  onTestFinished(async () => void (await Promise.all([store.close(), expected.close()])));
  await Promise.all([store.useChain('sandbox'), expected.useChain('sandbox')]);
  const first = (await store.coverage(0))?.first.beaconHeight ?? 0;
  await expected.record(chainHeights(sandbox, first, lastHeight));
  const heights = Array.from({ length: lastHeight - first + 1 }, (_, n) => first + n);
  expect(await contentOf(store, heights)).toEqual(await contentOf(expected, heights));
}

const deletedLines = ({ lines }: TestGateway) =>
  lines.filter(({ msg }) => msg.startsWith('heights were deleted from the history')).map(({ heights }) => heights);
const errors = ({ lines }: TestGateway) => lines.filter(({ level }) => level >= 50);

describe('a node shows a branch until its blocks are recorded', () => {
  test.each([1, 20])('and the gateway restarts with %i recorded heights of it: they are deleted', async (length) => {
    const [path, sandbox] = [fileForTest(), await sandboxForTest()];
    const before = await startGatewayForTest({ of: sandbox, store: openStore(path), config });
    const end = sandbox.node.faults.set({ kind: 'fork', from: TIP + 2 });
    for (let made = 0; made < length + 4; made++) await before.advance();
    await untilComplete(before, TIP + 1 + length);
    await before.app.close();
    end();

    const after = await startGatewayForTest({ of: sandbox, store: openStore(path), config });
    for (let made = 0; made < 4; made++) await after.advance();
    const last = sandbox.chain.tip.height - 3;
    await untilComplete(after, last);
    expect(deletedLines(after)).toEqual([range(TIP + 2, TIP + 1 + length)]);
    expect(errors(after)).toEqual([]);
    const time = new Date((sandbox.chain.block(TIP + 2)?.time ?? 0) * 1_000).toISOString();
    expect((await after.ask(`{ beaconHeightAt(time: "${time}") }`)).data).toEqual({ beaconHeightAt: TIP + 2 });
    await after.app.close();
    await expectChain(path, sandbox, last);
  });

  test('and then the chain again: they are deleted while the gateway runs', async () => {
    const [path, sandbox] = [fileForTest(), await sandboxForTest()];
    const gateway = await startGatewayForTest({ of: sandbox, store: openStore(path), config });
    const end = sandbox.node.faults.set({ kind: 'fork', from: TIP + 2 });
    for (let made = 0; made < 9; made++) await gateway.advance();
    await untilComplete(gateway, TIP + 6);
    end();
    for (let made = 0; made < 6; made++) await gateway.advance();
    const last = sandbox.chain.tip.height - 3;
    await untilComplete(gateway, last);
    expect(deletedLines(gateway)).toEqual([range(TIP + 2, TIP + 6)]);
    expect(errors(gateway)).toEqual([]);
    await gateway.app.close();
    await expectChain(path, sandbox, last);
  });
});

/** Requires that a store has the trades of the chain in a range of heights, and no other ones. */
async function expectTrades(store: HistoryStore, sandbox: SandboxHosts, from: number, upTo: number): Promise<void> {
  const poolIds = sandbox.chain.v3Pools.map(({ id }) => id);
  const { recorded, value } = await store.trades({ poolIds, upTo, memoryFrom: from, last: 1_000 });
  const all = [...value.values()].flat().toSorted((a, b) => a.place - b.place);
  const blocks = range(from, upTo).map((beaconHeight) => {
    const trades = all.filter((trade) => trade.beaconHeight === beaconHeight);
    return recordedTrades({ beaconHeight, hash: undefined, time: 0, isComplete: recorded.has(beaconHeight), trades });
  });
  expect(blocks).toEqual(range(from, upTo).map((h) => ({ ...expectedTrades(sandbox, h), hash: undefined, time: 0 })));
}

test('the trades of a branch are deleted down to the last state of the chain, also where the branch has no states', async () => {
  const [path, sandbox] = [fileForTest(), await sandboxForTest({ exchange: 'v3', startHeight: TIP })];
  const ofTest = { of: sandbox, config: { historyBackfillHours: 1, historyBackfillStep: DEFAULT_BACKFILL_STEP } };
  const untilTraded = async (store: HistoryStore, to: number) => {
    await store.useChain('sandbox');
    await until(async () => (await store.missingTrades({ from: TIP, to }, 1)).length === 0);
  };
  const firstStore = openStore(path);
  const before = await startGatewayForTest({ ...ofTest, store: firstStore });
  await before.untilHeight(TIP);
  for (let made = 0; made < 6; made++) await before.advance();
  await untilTraded(firstStore, TIP + 3);
  await before.app.close();

  sandbox.advance(40);
  const end = sandbox.node.faults.set({ kind: 'fork', from: TIP + 20 });
  const store = openStore(path);
  const gateway = await startGatewayForTest({ ...ofTest, store });
  await gateway.untilHeight(TIP + 46);
  await untilTraded(store, TIP + 43);
  end();
  for (let made = 0; made < 6; made++) await gateway.advance();
  await until(async () => deletedLines(gateway).length > 0);
  await untilTraded(store, TIP + 49);
  await expectTrades(store, sandbox, TIP, TIP + 49);
});

test('the trades of a branch of which no state was recorded do not stay', async () => {
  const [path, sandbox] = [fileForTest(), await sandboxForTest({ exchange: 'v3', startHeight: TIP })];
  const ofFile = openStore(path);
  const leftOut = new Set<number>();
  const store: HistoryStore = {
    ...ofFile,
    async record(blocks) {
      const isOfChain = ({ exchange }: (typeof blocks)[number]) =>
        exchange.time === (sandbox.chain.block(exchange.beaconHeight)?.time ?? 0) * 1_000;
      const heights = blocks.filter((block) => !isOfChain(block)).map(({ exchange }) => exchange.beaconHeight);
      for (const height of heights) leftOut.add(height);
      return [...heights, ...(await ofFile.record(blocks.filter(isOfChain)))];
    },
  };
  const gateway = await startGatewayForTest({ of: sandbox, store, config });
  await gateway.untilHeight(TIP);
  for (let made = 0; made < 4; made++) await gateway.advance();
  await untilComplete(gateway, TIP + 1);
  const end = sandbox.node.faults.set({ kind: 'fork', from: TIP + 5 });
  for (let made = 0; made < 16; made++) await gateway.advance();
  await until(async () => leftOut.has(TIP + 17));
  end();
  for (let made = 0; made < 6; made++) await gateway.advance();
  await until(async () => (await store.missingTrades({ from: TIP, to: TIP + 23 }, 1)).length === 0);
  await expectTrades(store, sandbox, TIP, TIP + 23);
});

test('a recorded block of a branch that is later than the next ones is deleted at the start', async () => {
  const [path, sandbox] = [fileForTest(), await sandboxForTest()];
  const store = openStore(path);
  await store.useChain('sandbox');
  // Height TIP - 1 was made 100 s later on the branch, which is later than the heights TIP to TIP + 1.
  const [first, last] = [chainHeights(sandbox, TIP - 8, TIP - 8), chainHeights(sandbox, TIP - 1, TIP - 1)];
  await store.record([...first, ...last.map((block) => ({ ...block, hash: undefined, time: block.time + 100_000 }))]);
  const gateway = await startGatewayForTest({ of: sandbox, store, config });
  for (let block = 0; block < 8; block++) await gateway.advance();
  await untilComplete(gateway, TIP + 5);
  expect(deletedLines(gateway)).toEqual([[TIP - 1]]);
  expect(gateway.lines.filter(({ msg }) => msg.includes('cannot be recorded'))).toEqual([]);
  await gateway.app.close();
  await expectChain(path, sandbox, TIP + 5);
});

test('a branch that another gateway of the database has recorded meanwhile is deleted', async () => {
  const [path, sandbox] = [fileForTest(), await sandboxForTest()];
  const [store, other] = [openStore(path), openStore(path)];
  const gateway = await startGatewayForTest({ of: sandbox, store, config });
  await gateway.untilHeight(TIP);
  await gateway.advance();
  await untilComplete(gateway, TIP - 2);
  await other.useChain('sandbox');
  const blocks = chainHeights(sandbox, TIP, TIP);
  await other.record(blocks.map((block) => ({ ...block, hash: undefined, time: block.time + 7_000 })));
  await other.close();
  for (let block = 0; block < 6; block++) await gateway.advance();
  await untilComplete(gateway, TIP + 4);
  expect(deletedLines(gateway)).toEqual([[TIP]]);
  expect(errors(gateway)).toEqual([]);
  await gateway.app.close();
  await expectChain(path, sandbox, TIP + 4);
});

test('a branch below a block that is earlier is deleted while the gateway runs', async () => {
  const [path, sandbox] = [fileForTest(), await sandboxForTest()];
  const [store, other] = [openStore(path), openStore(path)];
  const gateway = await startGatewayForTest({ of: sandbox, store, config });
  await gateway.untilHeight(TIP);
  await untilComplete(gateway, TIP - 3);
  // The gateway does not see height TIP + 1. Another one records a block of it that is later than the next two.
  await gateway.advance(2);
  await other.useChain('sandbox');
  const blocks = chainHeights(sandbox, TIP + 1, TIP + 1);
  await other.record(blocks.map((block) => ({ ...block, hash: undefined, time: block.time + 100_000 })));
  await other.close();
  for (let block = 0; block < 6; block++) await gateway.advance();
  await untilComplete(gateway, TIP + 5);
  expect(deletedLines(gateway)).toEqual([expect.arrayContaining([TIP + 1])]);
  expect(errors(gateway)).toEqual([]);
  await gateway.app.close();
  await expectChain(path, sandbox, TIP + 5);
});

test('a block that was replaced while heights were skipped is in no candle of the next head', async () => {
  const [path, sandbox] = [fileForTest(), await sandboxForTest()];
  const gateway = await startGatewayForTest({
    of: sandbox,
    store: openStore(path),
    config: { historyBackfillHours: 0 },
  });
  const candles = async () => {
    const { data } = await gateway.ask(`{ poolPairs(first: 1) { nodes {
      candles(interval: ONE_MINUTE, last: 20) { openTime firstHeight lastHeight }
    } } }`);
    return (data?.poolPairs.nodes[0].candles ?? []) as { openTime: string; firstHeight: number; lastHeight: number }[];
  };
  await gateway.untilHeight(TIP);
  for (let block = 0; block < 5; block++) await gateway.advance();
  expect((await candles()).at(-1)).toMatchObject({ lastHeight: TIP + 5 });
  sandbox.replaceTip();
  await gateway.advance(15);
  const heights = (await candles()).flatMap(({ firstHeight, lastHeight }) => [firstHeight, lastHeight]);
  expect(heights).toContain(TIP + 2);
  expect(heights).not.toContain(TIP + 5);
  expect(heights).toContain(TIP + 20);
  await gateway.app.close();
});
