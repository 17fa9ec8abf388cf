import { describe, expect, test } from 'vitest';
import { createNode, type Node } from '../../../src/live/chain/node.ts';
import type { NodeClient } from '../../../src/upstream/node/client.ts';
import { NEVER_MS } from '../../support/gateway.ts';
import { onlyV1, UNWATCHED } from '../../upstream/connect.ts';
import { failureOf } from '../../upstream/failure.ts';
import { chainInfoOf, exchangeOf, scriptedNode, statePruned, stateUnreadable } from './heads.ts';

function nodeOf(client: NodeClient, { maxPauseMs = 1 } = {}): Node {
  return createNode(client, {
    versions: onlyV1(),
    isRightChain: () => true,
    graceMs: 1,
    maxPauseMs,
    watcher: UNWATCHED(),
  });
}

/** A node that has the heights from one on, with these times, the last for ever. It counts its calls, and how many there are at once. */
function nodeFrom(oldest: number, times: readonly (number | undefined)[] = [undefined]) {
  const left = [...times];
  const control = { underWay: 0, most: 0, calls: 0, isBroken: false };
  const node: NodeClient = {
    ...scriptedNode({ tips: [], heights: [] }),
    async earlierStateV1(height) {
      control.calls += 1;
      control.underWay += 1;
      control.most = Math.max(control.most, control.underWay);
      await new Promise((resolve) => setImmediate(resolve));
      control.underWay -= 1;
      if (control.isBroken) throw stateUnreadable();
      if (height < oldest) throw statePruned();
      return { ...exchangeOf(height), time: left.length > 1 ? left.shift() : left[0] };
    },
  };
  const { readPastState } = nodeOf(node);
  const { signal } = new AbortController();
  const headBlock = chainInfoOf(1_000).beacon;
  return { control, read: (height: number) => readPastState({ height, headBlock, block: undefined }, signal) };
}

const heights = (from: number, length: number) => Array.from({ length }, (_, n) => from + n);

describe('the number of calls at one node at a time', () => {
  test('four, until one shows that the node has all the heights', async () => {
    const { control, read } = nodeFrom(1);
    const readings = heights(500, 30).map(read);
    expect(control.calls).toBe(4);
    expect(await Promise.all(readings)).toEqual(heights(500, 30).map(exchangeOf));
    expect([control.calls, control.most]).toEqual([30, 29]);
  });

  test('four if the heights are pruned: the others need no call after these', async () => {
    const { control, read } = nodeFrom(900);
    const outcomes = await Promise.all(heights(500, 30).map((height) => failureOf(read(height))));
    expect(outcomes).toEqual(outcomes.map(() => expect.objectContaining({ code: 'UPSTREAM_RPC_ERROR' })));
    expect(control.most).toBe(4);
    expect(control.calls).toBeLessThan(15);
  });

  test('any number if the node is known to have them', async () => {
    const { control, read } = nodeFrom(1);
    await read(400);
    await Promise.all(heights(500, 30).map(read));
    expect(control.most).toBe(30);
  });

  test('four again after many failures, until one call succeeds; the others wait and are not refused', async () => {
    const { control, read } = nodeFrom(1);
    await read(400);
    control.isBroken = true;
    for (const height of heights(500, 10)) expect(await failureOf(read(height))).toMatchObject({ retryable: true });
    control.isBroken = false;
    control.calls = 0;
    control.most = 0;
    const readings = heights(600, 30).map(read);
    expect(control.calls).toBe(4);
    expect(await Promise.all(readings)).toEqual(heights(600, 30).map(exchangeOf));
    expect([control.calls, control.most]).toEqual([30, 28]);
  });

  test('none when it has failed so often that no error is left', async () => {
    const { control, read } = nodeFrom(1);
    await read(400);
    control.isBroken = true;
    for (const height of heights(500, 20)) await failureOf(read(height));
    control.calls = 0;
    expect(await failureOf(read(600))).toMatchObject({ code: 'UPSTREAM_BUSY', retryable: true });
    expect(control.calls).toBe(0);
  });
});

describe('a read that fails', () => {
  const reads = {
    'the newest block': ({ readBlock }: Node, signal: AbortSignal) => readBlock(chainInfoOf(10), signal),
    'an earlier state': ({ readPastState }: Node, signal: AbortSignal) =>
      readPastState({ height: 5, headBlock: chainInfoOf(10).beacon, block: undefined }, signal),
  };

  test.each([
    ['the newest block', 'is needed', new AbortController().signal, false],
    ['the newest block', 'is not needed any more', AbortSignal.abort(), true],
    ['an earlier state', 'is needed', new AbortController().signal, false],
    ['an earlier state', 'is not needed any more', AbortSignal.abort(), true],
  ] as const)('of %s that %s: whether the node still counts as well', async (what, _, signal, isWell) => {
    const fail = () => Promise.reject(stateUnreadable());
    const client = { ...scriptedNode({ tips: [], heights: [10] }), newestStateV1: fail, earlierStateV1: fail };
    const node = nodeOf(client, { maxPauseMs: NEVER_MS });
    expect(node.isAtRest()).toBe(true);
    await failureOf(reads[what](node, signal));
    expect(node.isAtRest()).toBe(isWell);
  });
});

test('a node whose tip cannot be polled shows why, until another gateway of the fleet has polled it', async () => {
  const error = stateUnreadable();
  const node = nodeOf({ ...scriptedNode({ tips: [], heights: [] }), chainInfo: () => Promise.reject(error) });
  await failureOf(node.pollTip());
  expect(node.status()).toMatchObject({ tip: undefined, failure: error });
  const block = chainInfoOf(10).beacon;
  node.receiveTip(block);
  expect(node.status()).toMatchObject({ tip: block, failure: undefined });
});

describe('a state whose time is 0 or less, or later than that of the head', () => {
  const headTime = chainInfoOf(1_000).beacon.time;

  test.each([[500], [998]])('is read again, final or not: height %i under 1,000', async (height) => {
    const { control, read } = nodeFrom(1, [0, -40_000, headTime + 1, headTime]);
    expect(await read(height)).toEqual({ ...exchangeOf(height), time: headTime });
    expect(control.calls).toBe(4);
  });

  test('is an error after four reads', async () => {
    const { control, read } = nodeFrom(1, [0]);
    expect(await failureOf(read(500))).toMatchObject({ code: 'UPSTREAM_BAD_SHAPE', retryable: true });
    expect(control.calls).toBe(4);
  });
});
