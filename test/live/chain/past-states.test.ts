import { describe, expect, onTestFinished, test } from 'vitest';
import type { ExchangeState } from '../../../src/domain/exchange.ts';
import type { PoolOrder } from '../../../src/domain/pool-order.ts';
import { UpstreamRpcError, UpstreamTimeoutError } from '../../../src/errors.ts';
import type { Head } from '../../../src/live/chain/head.ts';
import { createPastStates } from '../../../src/live/chain/past-states.ts';
import { createSandboxHosts } from '../../../src/sandbox/sandbox.ts';
import type { NodeClient } from '../../../src/upstream/node/client.ts';
import { A, B, poolOfV3, stateOfV3 } from '../../domain/v3-pools.ts';
import { nodeAt, nodesOf, onlyV1, roomyBulkhead, SOMEONE, UNWATCHED, uncounted } from '../../upstream/connect.ts';
import { failureOf } from '../../upstream/failure.ts';
import { blockNotFound, chainInfoOf, exchangeOf, headOf, scriptedNode, stateUnreadable } from './heads.ts';

/** A node of which only states are calls, each reading failing with the next of these errors as long as there are any. */
function nodeOf(...errors: Error[]): NodeClient & { readonly calls: number[] } {
  return nodeWith(exchangeOf, errors);
}

function nodeWith(stateAt: (height: number) => ExchangeState, errors: Error[] = []) {
  const calls: number[] = [];
  const earlierStateV1 = async (height: number) => {
    calls.push(height);
    const error = errors.shift();
    if (error !== undefined) throw error;
    return stateAt(height);
  };
  return { ...scriptedNode({ tips: [], heights: [] }), calls, earlierStateV1, chainInfo: async () => chainInfoOf(1) };
}

/** Past states of one node, from which all heads are read. */
function statesOf(client: NodeClient, watch = UNWATCHED, served: readonly Head[] = []) {
  const nodes = nodesOf([client], { watch });
  const poolCounts = uncounted();
  const states = createPastStates({
    nodes,
    versions: onlyV1(),
    bulkhead: roomyBulkhead('NODE'),
    poolCounts,
    served: () => served,
  });
  const [node] = nodes.all;
  const headAt = (height: number, hash?: string): Head => headOf(height, hash, node);
  return { states, headAt, node };
}

describe('how often a state is read', () => {
  test('once for all simultaneous and all later requests', async () => {
    const node = nodeOf();
    const { states, headAt } = statesOf(node);
    const head = headAt(100);
    const readings = await Promise.all(Array.from({ length: 50 }, () => states.read(97, head, SOMEONE)));
    expect(new Set(readings)).toEqual(new Set([exchangeOf(97)]));
    expect(await states.read(97, headAt(101), SOMEONE)).toBe(readings[0]);
    expect(node.calls).toEqual([97]);
  });

  test('again under each new head if the state can still be replaced together with the tip', async () => {
    const node = nodeOf();
    const { states, headAt } = statesOf(node);
    const [one, other] = [headAt(100), headAt(100, 'another block')];
    for (const head of [one, one, other, other, one]) await states.read(99, head, SOMEONE);
    expect(node.calls.length).toBe(2);
    await states.read(99, headAt(101), SOMEONE);
    expect(node.calls.length).toBe(3);
    for (const tip of [102, 103, 102]) await states.read(99, headAt(tip), SOMEONE);
    expect(node.calls).toEqual([99, 99, 99, 99]);
  });

  test.each([50, 99])('again after it has failed, final or not: height %i under 100', async (height) => {
    const node = nodeOf(new UpstreamTimeoutError('NODE', 5, {}));
    const { states, headAt } = statesOf(node);
    const head = headAt(100);
    expect(await failureOf(states.read(height, head, SOMEONE))).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    expect(await states.read(height, head, SOMEONE)).toEqual(exchangeOf(height));
    expect(await states.read(height, head, SOMEONE)).toEqual(exchangeOf(height));
    expect(node.calls).toEqual([height, height]);
  });

  test('64 are kept, and the least recently requested are dropped first', async () => {
    const node = nodeOf();
    const { states, headAt } = statesOf(node);
    const head = headAt(1_000);
    const readAll = async (from: number, to: number) => {
      for (let height = from; height <= to; height++) await states.read(height, head, SOMEONE);
    };
    await readAll(1, 64);
    await readAll(1, 64);
    expect(node.calls.length).toBe(64);

    await states.read(1, head, SOMEONE);
    await states.read(65, head, SOMEONE);
    expect(node.calls.length).toBe(65);
    await states.read(1, head, SOMEONE);
    expect(node.calls.length).toBe(65);
    await states.read(2, head, SOMEONE);
    expect(node.calls.slice(64)).toEqual([65, 2]);
  });

  test('fewer are kept if they are large: a state of V3 can have a hundred thousand orders', async () => {
    const order: PoolOrder = { id: 'a', sells: 1, rate1: 1n, rate2: 1n, balance1: 1n, balance2: 1n };
    const orders = Array<PoolOrder>(100_000).fill(order);
    const state = stateOfV3([poolOfV3([A, B], [1n, 1n], { orders })]);
    const node = nodeWith((beaconHeight) => ({ ...state, beaconHeight }));
    const { states, headAt } = statesOf(node);
    const heights = Array.from({ length: 10 }, (_, index) => 1 + index);
    for (const height of [...heights, ...heights.toReversed()]) await states.read(height, headAt(1_000), SOMEONE);
    expect(node.calls).toEqual([...heights, 5, 4, 3, 2, 1]);
  });
});

describe('a state that the node does not have', () => {
  test('is pruned if it is final: the error says so after one call', async () => {
    const sandbox = await createSandboxHosts({ seed: 7, startTime: 1_795_176_000, history: 10 });
    onTestFinished(sandbox.close);
    const { client: node } = nodeAt(sandbox.nodeUrl);
    const { states, headAt } = statesOf(node);
    const { height, time } = sandbox.chain.tip;
    const head = { ...headAt(height), chainInfo: chainInfoOf(height, undefined, time * 1_000) };
    expect((await states.read(sandbox.chain.oldestHeight, head, SOMEONE)).beaconHeight).toBe(
      sandbox.chain.oldestHeight,
    );

    sandbox.node.resetCalls();
    const pruned = sandbox.chain.oldestHeight - 1;
    expect(await failureOf(states.read(pruned, head, SOMEONE))).toEqual({
      code: 'HEIGHT_NOT_AVAILABLE',
      retryable: false,
      message: `The node no longer has the state at beacon height ${pruned}.`,
      extensions: { beaconHeight: sandbox.chain.tip.height },
    });
    expect(sandbox.node.calls('getpdestate')).toBe(1);
  });

  test('is requested again after a short pause if it is near the tip', async () => {
    const node = nodeOf(blockNotFound(99));
    const { states, headAt } = statesOf(node);
    expect(await states.read(99, headAt(100), SOMEONE)).toEqual(exchangeOf(99));
    expect(node.calls).toEqual([99, 99]);
  });

  test('is an error of the node if the node failed to read it, and the next request reads it', async () => {
    const node = nodeOf(stateUnreadable());
    const failures: unknown[] = [];
    let recovered = 0;
    const pastStates = {
      failed: (error: unknown) => void failures.push(error),
      recovered() {
        recovered += 1;
      },
    };
    const { states, headAt } = statesOf(node, () => ({ ...UNWATCHED(), pastStates }));
    const head = headAt(100);
    expect(await failureOf(states.read(50, head, SOMEONE))).toEqual({
      code: 'UPSTREAM_RPC_ERROR',
      retryable: true,
      message: 'The node responded with error -8000.',
      extensions: { upstream: 'NODE' },
    });
    expect([failures, recovered]).toEqual([[stateUnreadable()], 0]);
    expect(await states.read(50, head, SOMEONE)).toEqual(exchangeOf(50));
    expect([failures.length, recovered, node.calls]).toEqual([1, 1, [50, 50]]);
  });

  test('is any other error of the node', async () => {
    const node = nodeOf(new UpstreamRpcError(-1003, {}), new UpstreamRpcError(undefined, {}));
    const { states, headAt } = statesOf(node);
    for (const height of [50, 99]) {
      expect(await failureOf(states.read(height, headAt(100), SOMEONE))).toMatchObject({ code: 'UPSTREAM_RPC_ERROR' });
    }
    expect(node.calls).toEqual([50, 99]);
  });
});

describe('a state that can be of a branch', () => {
  /** Heads 99 and 100, of which the upper one names the lower one unless the hash is another. */
  const served = (previousHash = 'block 99'): Head[] => [headOf(99), { ...headOf(100), previousHash }];
  /** What is read at a height under head 100, from a URL whose states have these times, the last for ever. */
  function readFrom(height: number, times: readonly (number | undefined)[], { heads = served(), shown = [''] } = {}) {
    const node = nodeOf();
    const left = [...times];
    const earlierStateV1: NodeClient['earlierStateV1'] = async (height) => {
      const state = await node.earlierStateV1(height);
      return { ...state, time: left.length > 1 ? left.shift() : left[0] };
    };
    const tips = shown.map((hash) => chainInfoOf(98, hash));
    const chainInfo = async () => tips.shift() ?? node.chainInfo();
    const { states, node: source } = statesOf({ ...node, earlierStateV1, chainInfo }, UNWATCHED, heads);
    const head = { ...(heads.at(-1) ?? headOf(100)), source: source ?? headOf(1).source };
    async function readAfterPolls() {
      for (const _ of shown) await source?.pollTip();
      return states.read(height, head, SOMEONE);
    }
    return { node, state: readAfterPolls() };
  }
  const TIME = headOf(99).time;
  const IN_TURN = ['b', 'c', 'b'];
  const refused = { code: 'UPSTREAM_BAD_SHAPE', retryable: true };

  test('is requested again until it has the time of the block from which the head descends', async () => {
    const { node, state } = readFrom(99, [5, 5, TIME]);
    expect(await state).toMatchObject({ beaconHeight: 99, time: TIME });
    expect(node.calls).toEqual([99, 99, 99]);
  });

  test('at most four times: then it is an error', async () => {
    const { node, state } = readFrom(99, [5]);
    expect(await failureOf(state)).toMatchObject(refused);
    expect(node.calls).toEqual([99, 99, 99, 99]);
  });

  test('also if it is final, and the URL has not shown two blocks yet', async () => {
    const heads = Array.from({ length: 6 }, (_, n) => ({ ...headOf(95 + n), previousHash: `block ${94 + n}` }));
    const { node, state } = readFrom(95, [5, headOf(95).time], { heads });
    expect(await state).toMatchObject({ beaconHeight: 95, time: headOf(95).time });
    expect(node.calls).toEqual([95, 95]);
  });

  test.each([[99], [95], [35]])(
    'if the URL has shown two in turn and no hash leads to its block, it is an error: %i',
    async (height) => {
      const { node, state } = readFrom(height, [TIME], { heads: served('another'), shown: IN_TURN });
      expect(await failureOf(state)).toMatchObject(refused);
      expect(node.calls).toEqual([]);
    },
  );

  test('if the URL has shown two in turn and states have no time, it is an error', async () => {
    expect(await failureOf(readFrom(99, [undefined], { shown: IN_TURN }).state)).toMatchObject(refused);
  });

  test('64 blocks below two that were shown in turn, it is read', async () => {
    const { state } = readFrom(34, [7], { heads: served('another'), shown: IN_TURN });
    expect(await state).toMatchObject({ beaconHeight: 34, time: 7 });
  });
});

describe('the newest blocks are replaced while one of them is read', () => {
  test('it is an error: the block may have other ancestors than the head', async () => {
    const node = { ...nodeOf(), chainInfo: async () => chainInfoOf(100, 'another block') };
    const { states, headAt } = statesOf(node);
    expect(await failureOf(states.read(99, headAt(100), SOMEONE))).toMatchObject({
      code: 'UPSTREAM_BAD_SHAPE',
      retryable: true,
    });
    expect(await states.read(99, headAt(100, 'another block'), SOMEONE)).toEqual(exchangeOf(99));
    expect(await states.read(50, headAt(100), SOMEONE)).toEqual(exchangeOf(50));
  });
});

describe('the node of the head cannot read a state', () => {
  /** Reads a height under heads 98 to 100 of a node that fails, and that has shown block 97 before. The other one shows a block. */
  async function readWith(shown: ReturnType<typeof chainInfoOf>, height: number) {
    const broken = { ...nodeOf(), earlierStateV1: () => Promise.reject(stateUnreadable()) };
    const other = { ...nodeOf(), chainInfo: async () => shown };
    const tips = [97, 100].values();
    const nodes = nodesOf([{ ...broken, chainInfo: async () => chainInfoOf(tips.next().value ?? 100) }, other]);
    await nodes.poll();
    await nodes.poll();
    const [source] = nodes.all;
    const heads = [98, 99, 100].map((n) => ({ ...headOf(n, undefined, source), previousHash: `block ${n - 1}` }));
    const [head = headOf(100)] = heads.slice(-1);
    const options = { versions: onlyV1(), bulkhead: roomyBulkhead('NODE'), poolCounts: uncounted() };
    const states = createPastStates({ nodes, ...options, served: () => heads });
    return states.read(height, head, SOMEONE);
  }

  test.each([
    [98, 99],
    [99, 99],
    [96, 99],
    [95, 98],
    [94, 97],
  ])('one that has shown a block from which the head descends is read: height %i, its tip %i', async (height, tip) => {
    expect(await readWith(chainInfoOf(tip), height)).toEqual(exchangeOf(height));
  });

  test.each([
    ['a block of another branch', chainInfoOf(99, 'another block'), 98],
    ['a block below that height', chainInfoOf(98), 99],
    ['a block that both have shown, and by which the height is not final', chainInfoOf(97), 95],
  ])('one that has only shown %s is not', async (_, shown, height) => {
    expect(await failureOf(readWith(shown, height))).toMatchObject({ code: 'UPSTREAM_RPC_ERROR' });
  });
});

test('a block that names itself as the one below it has no ancestors', async () => {
  const head = { ...headOf(100), previousHash: 'block 100' };
  const { states, node } = statesOf(nodeOf(), UNWATCHED, [head]);
  expect(await states.read(99, { ...head, source: node ?? head.source }, SOMEONE)).toEqual(exchangeOf(99));
});

test.each([
  ['one of the first two cannot be read: the rest is read', 1, [30, 10, 20]],
  ['neither of the first two can be read: the rest is not read', 2, [30, 10]],
])('of several heights, %s', async (_, failures, calls) => {
  const node = nodeOf(...Array.from({ length: failures }, stateUnreadable));
  const { states, headAt } = statesOf(node);
  await states.readAll([10, 20, 30], headAt(100), SOMEONE);
  expect(node.calls).toEqual(calls);
});

test('more heights than are kept are each read once, however many requests there are at the same time', async () => {
  const reading = Promise.withResolvers<void>();
  const node = nodeOf();
  const earlierStateV1: NodeClient['earlierStateV1'] = async (height) => {
    const state = await node.earlierStateV1(height);
    await reading.promise;
    return state;
  };
  const { states, headAt } = statesOf({ ...node, earlierStateV1 });
  const head = headAt(1_000);
  const heights = Array.from({ length: 90 }, (_, n) => n + 1);
  const readers = Array.from({ length: 5 }, () => heights.map((height) => states.read(height, head, SOMEONE)));
  reading.resolve();
  await Promise.all(readers.flat());
  expect(node.calls).toEqual(heights);
});
