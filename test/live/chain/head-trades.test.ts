import { expect, onTestFinished, test, vi } from 'vitest';
import { UNKNOWN_HASH } from '../../../src/domain/chain.ts';
import type { BlockTrades } from '../../../src/domain/trade.ts';
import {
  UpstreamBadShapeError,
  UpstreamRpcError,
  UpstreamTimeoutError,
  UpstreamUnreachableError,
} from '../../../src/errors.ts';
import type { Head } from '../../../src/live/chain/head.ts';
import { createHeadTrades } from '../../../src/live/chain/head-trades.ts';
import type { Nodes } from '../../../src/live/chain/nodes.ts';
import { stateOfV3 } from '../../domain/v3-pools.ts';
import { UNWATCHED } from '../../upstream/connect.ts';
import { headOf } from './heads.ts';

const RETRY_MS = 10_000;

const NO_TRADES: BlockTrades = { trades: [], isComplete: true, poolsWithLiquidityChanges: new Set() };

test('after a failure, the trades of a block are read again for a client, but not before the time for that', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000);
  onTestFinished(() => clock.mockRestore());
  let calls = 0;
  const nodes = {
    ofChain: () => [],
    async readFrom() {
      calls += 1;
      throw new UpstreamUnreachableError('NODE', {}, new Error('refused'));
    },
  } as unknown as Nodes;
  const watcher = { ...UNWATCHED(), past: UNWATCHED(), undecodable() {}, mismatched() {} };
  const trades = createHeadTrades({ nodes, served: () => [], maxBlocks: 5, retryMs: RETRY_MS, watcher });
  const head: Head = { ...headOf(5), exchange: stateOfV3([]) };

  const first = trades.of(head);
  await expect(first).rejects.toThrow(UpstreamUnreachableError);
  clock.mockReturnValue(1_000 + RETRY_MS);
  expect(trades.of(head)).toBe(first);
  clock.mockReturnValue(1_001 + RETRY_MS);
  // The cache reads its clock once in a millisecond.
  await expect.poll(() => trades.of(head) !== first).toBe(true);
  await expect(trades.of(head)).rejects.toThrow(UpstreamUnreachableError);
  expect(calls).toBe(2);
});

test('of many blocks, few are read for clients at once: the others wait, but not for one timeout after another', async () => {
  const pending: PromiseWithResolvers<BlockTrades>[] = [];
  const readFrom = () => {
    const read = Promise.withResolvers<BlockTrades>();
    pending.push(read);
    return read.promise;
  };
  const nodes = { ofChain: () => [], readFrom } as unknown as Nodes;
  const watcher = { ...UNWATCHED(), past: UNWATCHED(), undecodable() {}, mismatched() {} };
  const trades = createHeadTrades({ nodes, served: () => [], maxBlocks: 32, retryMs: RETRY_MS, watcher });
  const headAt = (height: number): Head => ({ ...headOf(height), exchange: stateOfV3([]) });

  const reads = Promise.allSettled([5, 6, 7, 8, 9].map((height) => trades.of(headAt(height))));
  expect(pending).toHaveLength(2);
  // That of a new block does not wait.
  trades.published(headAt(10));
  expect(pending).toHaveLength(3);
  pending[0]?.resolve(NO_TRADES);
  await expect.poll(() => pending.length).toBe(4);
  pending[1]?.reject(new UpstreamUnreachableError('NODE', {}, new Error('refused')));
  await expect.poll(() => pending.length).toBe(5);
  pending[3]?.reject(new UpstreamTimeoutError('NODE', RETRY_MS, {}));
  await expect(trades.of(headAt(7))).rejects.toThrow(UpstreamTimeoutError);
  pending[4]?.resolve(NO_TRADES);
  const results = (await reads).map(({ status }) => status);
  expect(results).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled', 'rejected']);
  expect(pending).toHaveLength(5);

  // The one that has reached the timeout is not read again yet. The one that waited for it is.
  await expect(trades.of(headAt(7))).rejects.toThrow(UpstreamTimeoutError);
  expect(pending).toHaveLength(5);
  const waited = trades.of(headAt(9));
  expect(pending).toHaveLength(6);
  pending[5]?.resolve(NO_TRADES);
  expect(await waited).toBe(NO_TRADES);
});

test.each([
  ['hash', 'block 5'],
  ['time if it has no hash', UNKNOWN_HASH],
])(
  'the block of a head is the one with its %s: behind a load balancer, another one is requested again',
  async (_, hash) => {
    const head: Head = { ...headOf(5, hash), exchange: stateOfV3([]) };
    const others = [{ hash: 'block of a branch', time: head.time + 1 }];
    const beaconBlock = async () => {
      const other = others.shift();
      return { ...head, ...other, trades: async () => ({ trades: [], isComplete: other === undefined }) };
    };
    const node = { name: 'node', client: { beaconBlock } };
    const nodes = {
      ofChain: () => [node],
      readFrom: (order: (typeof node)[], read: (from: unknown) => unknown) => read(order[0]),
    } as unknown as Nodes;
    const watcher = { ...UNWATCHED(), past: UNWATCHED(), undecodable() {}, mismatched() {} };
    const trades = createHeadTrades({ nodes, served: () => [], maxBlocks: 5, retryMs: RETRY_MS, watcher });
    expect(await trades.of(head)).toMatchObject({ isComplete: true });
    expect(others).toEqual([]);
  },
);

/** The trades of a node that responds to the first `missing` calls that it does not have the block. */
function tradesOfNode({ served = [] }: { readonly served?: readonly Head[] } = {}) {
  const shown = { calls: 0, time: headOf(5).time, splitAt: 1_000, missing: 0 };
  const beaconBlock = async (height: number) => {
    shown.calls += 1;
    if (shown.calls <= shown.missing) throw new UpstreamRpcError(-2003, {});
    return { ...headOf(height), ...shown, height, trades: async () => NO_TRADES };
  };
  const node = { name: 'node', client: { beaconBlock }, record: () => shown };
  const nodes = {
    ofChain: () => [node],
    readFrom: (order: (typeof node)[], read: (from: unknown) => unknown) => read(order[0]),
  } as unknown as Nodes;
  const watcher = { ...UNWATCHED(), past: UNWATCHED(), undecodable() {}, mismatched() {} };
  const trades = createHeadTrades({ nodes, served: () => served, maxBlocks: 5, retryMs: RETRY_MS, watcher });
  return { shown, trades };
}

test('a past block is not read from a node that may have it on a branch', async () => {
  const { shown, trades } = tradesOfNode();
  shown.splitAt = 50;
  await expect(trades.readPast(5, headOf(60), () => {})).rejects.toThrow(UpstreamBadShapeError);
  expect(shown.calls).toBe(0);
  shown.splitAt = 100;
  await trades.readPast(5, headOf(60), () => {});
  expect(shown.calls).toBe(1);
});

test('a past block is refused if its time is 0 or less, or later than that of the head', async () => {
  const { shown, trades } = tradesOfNode();
  const head = headOf(60);
  for (const time of [0, -40_000, head.time + 1]) {
    shown.time = time;
    await expect(trades.readPast(5, head, () => {})).rejects.toThrow(UpstreamBadShapeError);
  }
  shown.time = head.time;
  expect(await trades.readPast(5, head, () => {})).toMatchObject({ beaconHeight: 5, time: head.time });
});

test.each([
  ['far above the served one', 1_001],
  ['below it', 20],
])('the trades of a pushed block are kept for its head, however many blocks %s are pushed', async (_, others) => {
  const { shown, trades } = tradesOfNode({ served: [headOf(49)] });
  const readTrades = async () => NO_TRADES;
  trades.received({ height: 50, hash: 'block 50', trades: readTrades });
  for (let height = others; height < others + 8; height++)
    trades.received({ height, hash: 'another', trades: readTrades });
  expect(await trades.of({ ...headOf(50), exchange: stateOfV3([]) })).toBe(NO_TRADES);
  expect(shown.calls).toBe(0);
});

test('a block that the node does not have yet is requested again, at most 20 times at once and twice a minute', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { shown, trades } = tradesOfNode();
  const callsFor = async (height: number, missing: number) => {
    Object.assign(shown, { calls: 0, missing });
    const read = trades.of({ ...headOf(height), exchange: stateOfV3([]) }).catch((error: Error) => error);
    await vi.advanceTimersByTimeAsync(4 * 250);
    return [shown.calls, await read];
  };
  const error = expect.any(UpstreamRpcError);
  expect(await callsFor(1, 2)).toEqual([3, NO_TRADES]);
  expect(await callsFor(2, 9)).toEqual([5, error]);
  for (let height = 3; height < 8; height++) await callsFor(height, 9);
  expect(await callsFor(8, 9)).toEqual([1, error]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await callsFor(9, 2)).toEqual([3, NO_TRADES]);
});
