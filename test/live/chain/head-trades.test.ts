import { expect, onTestFinished, test, vi } from 'vitest';
import { UNKNOWN_HASH } from '../../../src/domain/chain.ts';
import type { BlockTrades } from '../../../src/domain/trade.ts';
import {
  UpstreamBadShapeError,
  UpstreamBusyError,
  UpstreamRpcError,
  UpstreamUnreachableError,
} from '../../../src/errors.ts';
import type { Head } from '../../../src/live/chain/head.ts';
import { createHeadTrades } from '../../../src/live/chain/head-trades.ts';
import type { Nodes } from '../../../src/live/chain/nodes.ts';
import { createBulkhead } from '../../../src/turns/bulkhead.ts';
import { stateOfV3 } from '../../domain/v3-pools.ts';
import { NEVER_MS } from '../../support/gateway.ts';
import { roomyBulkhead, SOMEONE, UNWATCHED } from '../../upstream/connect.ts';
import { headOf } from './heads.ts';

type HeadTradesOptions = Parameters<typeof createHeadTrades>[0];

const RETRY_MS = 10_000;

const NO_TRADES: BlockTrades = { trades: [], isComplete: true, poolsWithLiquidityChanges: new Set() };

/** Trades of at most five blocks in memory, with room for all calls, or as the options say. */
function tradesWith(options: Pick<HeadTradesOptions, 'nodes'> & Partial<HeadTradesOptions>) {
  const watcher = { ...UNWATCHED(), past: UNWATCHED(), undecodable() {}, mismatched() {} };
  const bulkhead = roomyBulkhead('NODE');
  return createHeadTrades({ bulkhead, served: () => [], maxBlocks: 5, retryMs: RETRY_MS, watcher, ...options });
}

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
  const trades = tradesWith({ nodes });
  const head: Head = { ...headOf(5), exchange: stateOfV3([]) };

  const read = () => trades.of(head, SOMEONE);
  await expect(read()).rejects.toThrow(UpstreamUnreachableError);
  clock.mockReturnValue(1_000 + RETRY_MS);
  await expect(read()).rejects.toThrow(UpstreamUnreachableError);
  expect(calls).toBe(1);
  clock.mockReturnValue(1_001 + RETRY_MS);
  // The cache reads its clock once in a millisecond.
  await expect.poll(() => read().catch(() => calls)).toBe(2);
});

test('blocks wait for clients, in turn: that of a new head does not, and one that was refused is read at the next request', async () => {
  const heights: number[] = [];
  const pending: PromiseWithResolvers<BlockTrades>[] = [];
  const readFrom = ([height = 0]: number[]) => {
    const read = Promise.withResolvers<BlockTrades>();
    heights.push(height);
    pending.push(read);
    return read.promise;
  };
  const nodes = { ofChain: ({ beaconHeight }: Head) => [beaconHeight], readFrom } as unknown as Nodes;
  const bulkhead = createBulkhead({
    busy: () => new UpstreamBusyError('NODE'),
    maxConcurrent: 1,
    maxQueued: 3,
    maxWaitMs: NEVER_MS,
  });
  const failures: unknown[] = [];
  const watcher = { ...UNWATCHED(), failed: (error: unknown) => void failures.push(error) };
  const trades = tradesWith({
    nodes,
    bulkhead,
    watcher: { ...watcher, past: UNWATCHED(), undecodable() {}, mismatched() {} },
  });
  const headAt = (height: number): Head => ({ ...headOf(height), exchange: stateOfV3([]) });

  const [one, other] = [{ client: 'one' }, { client: 'other' }];
  const reads = [5, 6, 7, 8].map((height) => trades.of(headAt(height), one));
  const shared = trades.of(headAt(5), other);
  const last = trades.of(headAt(9), other);
  await expect(reads[3]).rejects.toThrow(UpstreamBusyError);
  trades.published(headAt(10));
  for (const order of [
    [5, 10],
    [5, 10, 6],
    [5, 10, 6, 9],
    [5, 10, 6, 9, 7],
  ]) {
    await expect.poll(() => heights).toEqual(order);
    const at = heights.length === 2 ? 0 : heights.length - 1;
    pending[at]?.resolve(NO_TRADES);
  }
  expect(await Promise.all([...reads.slice(0, 3), shared, last])).toEqual(Array(5).fill(NO_TRADES));

  const again = trades.of(headAt(8), one);
  expect(heights).toEqual([5, 10, 6, 9, 7, 8]);
  pending.at(-1)?.resolve(NO_TRADES);
  expect(await again).toBe(NO_TRADES);
  expect(failures).toEqual([]);
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
    const trades = tradesWith({ nodes });
    expect(await trades.of(head, SOMEONE)).toMatchObject({ isComplete: true });
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
  const trades = tradesWith({ nodes, served: () => served });
  return { shown, trades };
}

test('a past block is not read from a node that may have it on a branch', async () => {
  const { shown, trades } = tradesOfNode();
  shown.splitAt = 50;
  const message =
    'The node can be on another branch of the chain at beacon height 5, so its data of this height is not used.';
  await expect(trades.readPast(5, headOf(60), () => {})).rejects.toThrow(message);
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
  expect(await trades.of({ ...headOf(50), exchange: stateOfV3([]) }, SOMEONE)).toBe(NO_TRADES);
  expect(shown.calls).toBe(0);
});

test('a block that the node does not have yet is requested again, up to 20 errors at once and two a minute', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { shown, trades } = tradesOfNode();
  const callsFor = async (height: number, missing: number) => {
    Object.assign(shown, { calls: 0, missing });
    const read = trades.of({ ...headOf(height), exchange: stateOfV3([]) }, SOMEONE).catch((error: Error) => error);
    await vi.advanceTimersByTimeAsync(4 * 250);
    return [shown.calls, await read];
  };
  const error = expect.any(UpstreamRpcError);
  expect(await callsFor(1, 2)).toEqual([3, NO_TRADES]);
  expect(await callsFor(2, 9)).toEqual([5, error]);
  for (let height = 3; height < 8; height++) await callsFor(height, 9);
  expect(await callsFor(8, 9)).toEqual([1, error]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await callsFor(9, 1)).toEqual([2, NO_TRADES]);
});
