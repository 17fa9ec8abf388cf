import { describe, expect, test } from 'vitest';
import type { PoolOrder } from '../../../src/domain/pool-order.ts';
import type { PoolPair } from '../../../src/domain/pool-pair.ts';
import { UpstreamBusyError, UpstreamRpcError, UpstreamTimeoutError } from '../../../src/errors.ts';
import { createPoolOrders } from '../../../src/live/chain/pool-orders.ts';
import { createBulkhead } from '../../../src/turns/bulkhead.ts';
import type { NodeClient } from '../../../src/upstream/node/client.ts';
import { nodesOf, roomyBulkhead, SOMEONE } from '../../upstream/connect.ts';
import { failureOf } from '../../upstream/failure.ts';
import { chainInfoOf, headOf, scriptedNode } from './heads.ts';

const ORDERS: readonly PoolOrder[] = [{ id: 'a', sells: 1, rate1: 1n, rate2: 2n, balance1: 3n, balance2: 4n }];

/** A pool of V3 at that height, whose state has no orders. */
function poolAt(beaconHeight: number, hash = 'a'): PoolPair {
  const [token1Id, token2Id] = ['1'.repeat(64), '2'.repeat(64)];
  const v3 = {
    poolId: `${token1Id}-${token2Id}-${hash.repeat(64)}`,
    value1: 1n,
    value2: 1n,
    amplifier: 10_000,
    shareAmount: 1n,
    feeRateBps: 25,
    orders: undefined,
  };
  return { beaconHeight, time: beaconHeight * 40_000, token1Id, token2Id, reserve1: 1n, reserve2: 1n, v3 };
}

type Answer = { readonly time?: number | undefined; readonly orders: readonly PoolOrder[] } | Error;

/** A node that shows this tip and responds so, in turn and the last for ever; by default with the orders at the right time. */
function nodeOf(tip = chainInfoOf(100), ...answers: Answer[]): NodeClient & { readonly asked: number[] } {
  const asked: number[] = [];
  return {
    ...scriptedNode({ tips: [tip], heights: [] }),
    asked,
    async poolOrders(height) {
      asked.push(height);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error) throw answer;
      return { time: height * 40_000, orders: ORDERS, ...answer };
    },
  };
}

/** The orders of these nodes, of which the first is the source of the heads. */
async function ordersOf(clients: readonly [NodeClient, ...NodeClient[]], bulkhead = roomyBulkhead('NODE')) {
  const nodes = nodesOf(clients);
  await nodes.poll();
  const { read } = createPoolOrders({ nodes, bulkhead, served: () => [] });
  const headAt = (height: number, hash?: string) => headOf(height, hash, nodes.all[0]);
  return { read, headAt };
}

describe('the orders of a pool', () => {
  test('are read once for all requests at a height', async () => {
    const node = nodeOf();
    const { read, headAt } = await ordersOf([node]);
    const reads = Array.from({ length: 20 }, () => read(poolAt(100), headAt(100), SOMEONE));
    expect(new Set(await Promise.all(reads))).toEqual(new Set([ORDERS]));
    await read(poolAt(100), headAt(100), SOMEONE);
    expect(node.asked).toEqual([100]);
    await read(poolAt(100, 'b'), headAt(100), SOMEONE);
    await read(poolAt(101), headAt(101), SOMEONE);
    expect(node.asked).toEqual([100, 100, 101]);
  });

  test('are kept for fewer pools if the pools have many', async () => {
    const [order] = ORDERS;
    const node = nodeOf(undefined, { orders: Array<PoolOrder>(100_000).fill(order as PoolOrder) });
    const { read, headAt } = await ordersOf([node]);
    const heights = Array.from({ length: 10 }, (_, index) => 1 + index);
    for (const height of [...heights, ...heights.toReversed()]) await read(poolAt(height), headAt(100), SOMEONE);
    expect(node.asked).toEqual([...heights, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test('are read again for another block of the height, unless it is final', async () => {
    const node = nodeOf();
    const { read, headAt } = await ordersOf([node]);
    await read(poolAt(100), headAt(100), SOMEONE);
    await read(poolAt(100), headAt(100, 'another'), SOMEONE);
    for (const tip of [200, 201]) await read(poolAt(50), headAt(tip), SOMEONE);
    expect(node.asked).toEqual([100, 100, 50]);
  });

  test('are those of the block of the pool: others are read again, and refused if they stay others', async () => {
    const other = { time: 7, orders: [] };
    const node = nodeOf(undefined, other, other, { orders: ORDERS });
    const { read, headAt } = await ordersOf([node]);
    expect(await read(poolAt(100), headAt(100), SOMEONE)).toBe(ORDERS);
    expect(node.asked).toHaveLength(3);
    const never = nodeOf(undefined, other);
    const orders = await ordersOf([never]);
    expect(await failureOf(orders.read(poolAt(100), orders.headAt(100), SOMEONE))).toMatchObject({
      code: 'UPSTREAM_BAD_SHAPE',
    });
    expect(never.asked).toHaveLength(4);
  });

  test('are read from another node that has the block if one fails, and not from one that does not have it', async () => {
    const failing = nodeOf(undefined, new UpstreamTimeoutError('NODE', 5, {}));
    const elsewhere = nodeOf(chainInfoOf(100, 'another block'));
    const good = nodeOf();
    const { read, headAt } = await ordersOf([failing, elsewhere, good]);
    expect(await read(poolAt(100), headAt(100), SOMEONE)).toBe(ORDERS);
    expect([failing, elsewhere, good].map(({ asked }) => asked.length)).toEqual([1, 0, 1]);
  });

  test('that cannot be read are an error for all who wait, and the next request reads them', async () => {
    const node = nodeOf(undefined, new UpstreamTimeoutError('NODE', 5, {}), { orders: ORDERS });
    const { read, headAt } = await ordersOf([node]);
    const reads = [1, 2].map(() => failureOf(read(poolAt(100), headAt(100), SOMEONE)));
    for (const failure of await Promise.all(reads)) expect(failure).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    expect(await read(poolAt(100), headAt(100), SOMEONE)).toBe(ORDERS);
    expect(node.asked).toHaveLength(2);
  });

  test('of a height that was pruned meanwhile are not available', async () => {
    const pruned = new UpstreamRpcError(-14_001, { because: '-14001: -14001: missing trie node ab (path )' });
    const { read, headAt } = await ordersOf([nodeOf(undefined, pruned)]);
    expect(await failureOf(read(poolAt(50), headAt(100), SOMEONE))).toMatchObject({ code: 'HEIGHT_NOT_AVAILABLE' });
  });

  test('are not read when the node has responded with too many errors, or the queue is full', async () => {
    const broken = new UpstreamRpcError(-14_001, { because: '-14001: -14001: too many open files' });
    const node = nodeOf(undefined, broken);
    const { read, headAt } = await ordersOf([node]);
    for (let reads = 0; reads < 30; reads++) await failureOf(read(poolAt(100), headAt(100), SOMEONE));
    expect(node.asked).toHaveLength(20);
    expect(await failureOf(read(poolAt(100), headAt(100), SOMEONE))).toMatchObject({ code: 'UPSTREAM_BUSY' });

    const bulkhead = createBulkhead({
      busy: () => new UpstreamBusyError('NODE'),
      maxConcurrent: 1,
      maxQueued: 0,
      maxWaitMs: 10_000,
    });
    const full = await ordersOf([nodeOf()], bulkhead);
    const [first, second] = [poolAt(100), poolAt(100, 'b')].map((pool) => full.read(pool, full.headAt(100), SOMEONE));
    expect(await failureOf(second ?? Promise.resolve())).toMatchObject({ code: 'UPSTREAM_BUSY' });
    expect(await first).toBe(ORDERS);
  });
});
