import { describe, expect, onTestFinished, test } from 'vitest';
import type { ChainInfo } from '../../../src/domain/chain.ts';
import { UpstreamRpcError, UpstreamUnreachableError } from '../../../src/errors.ts';
import type { Head } from '../../../src/live/chain/head.ts';
import { createHeadFollower, type HeadFollower, type HeadWatcher } from '../../../src/live/chain/head-follower.ts';
import type { Node } from '../../../src/live/chain/node.ts';
import { createPoolCounts, type LostPools } from '../../../src/live/chain/pool-counts.ts';
import { createRecentHeads } from '../../../src/live/chain/recent-heads.ts';
import { createSandboxHosts, type SandboxHosts } from '../../../src/sandbox/sandbox.ts';
import type { NodeClient } from '../../../src/upstream/node/client.ts';
import { exchangeStateOf, poolOf, tokenId } from '../../domain/pools.ts';
import { toAsyncValues } from '../../support/async-values.ts';
import { nodeAt, nodesOf, onlyV1, UNWATCHED, uncounted } from '../../upstream/connect.ts';
import { failureOf } from '../../upstream/failure.ts';
import { chainInfoOf, exchangeOf, headOf, scriptedNode } from './heads.ts';

const START = Date.UTC(2026, 0, 1);
const TIP = 1_640_000;

function followNode(
  client: NodeClient,
  clock = { now: START },
  poolCounts = uncounted(),
): { head: HeadFollower; source: Node | undefined; notified: unknown[] } {
  const notified: unknown[] = [];
  const watcher: HeadWatcher = {
    failed: (error) => notified.push(error instanceof Error ? error.message : error),
    recovered: () => notified.push('recovered'),
    fellFarBehind: (...heights) => notified.push(['far behind', ...heights]),
    caughtUp: (tip) => notified.push(['caught up', tip]),
  };
  const nodes = nodesOf([client], { watch: UNWATCHED });
  const head = createHeadFollower({
    nodes,
    versions: onlyV1(),
    pollMs: 5,
    timeoutMs: 5_000,
    maxBlockAgeMs: 600_000,
    poolCounts,
    recent: createRecentHeads(10),
    now: () => clock.now,
    watcher,
  });
  onTestFinished(head.stop);
  return { head, source: nodes.all[0], notified };
}

/** Follows a sandbox from its first head on. */
async function followSandbox() {
  const sandbox: SandboxHosts = await createSandboxHosts({ seed: 7, startTime: START / 1_000, history: 10 });
  onTestFinished(sandbox.close);
  const { client } = nodeAt(sandbox.nodeUrl);
  const clock = { now: START };
  const { head, source, notified } = followNode(client, clock);
  const heads = toAsyncValues(head.subscribe);

  async function next(): Promise<Head> {
    const result = await heads.next();
    if (result.done) throw new Error('the heads have ended');
    return result.value;
  }

  /** Waits until the tip was looked at a few more times. */
  async function polls(): Promise<void> {
    const until = sandbox.node.calls('getblockchaininfo') + 4;
    await expect.poll(() => sandbox.node.calls('getblockchaininfo')).toBeGreaterThanOrEqual(until);
  }

  const first = await next();
  return { sandbox, node: sandbox.node, client, source, clock, head, notified, next, polls, first };
}

const callsOf = ({ node }: SandboxHosts) => ({
  getbeaconbeststatedetail: node.calls('getbeaconbeststatedetail'),
  getpdestate: node.calls('getpdestate'),
});

describe('what is a head', () => {
  test('one height, read completely and as documented', async () => {
    const { sandbox, client, source, first } = await followSandbox();
    expect(first).toEqual({
      beaconHeight: TIP,
      previousHeight: undefined,
      hash: sandbox.chain.tip.hash,
      previousHash: sandbox.chain.block(TIP - 1)?.hash,
      time: START,
      chainInfo: await client.chainInfo(),
      exchange: await client.newestStateV1(TIP),
      source,
      observedAt: START,
    });
    const order = sandbox.node.requests.slice(0, 3).map(({ name }) => name);
    expect(order).toEqual(['getblockchaininfo', 'getbeaconbeststatedetail', 'getpdestate']);
  });

  test('a new block makes a new head with the previous height', async () => {
    const { sandbox, clock, next, first } = await followSandbox();
    clock.now += 40_000;
    sandbox.advance();
    const second = await next();
    expect(second).toMatchObject({
      beaconHeight: TIP + 1,
      previousHeight: TIP,
      hash: sandbox.chain.tip.hash,
      time: START + 40_000,
      observedAt: START + 40_000,
    });
    expect(second.exchange.beaconHeight).toBe(TIP + 1);
    expect(second.exchange).not.toEqual(first.exchange);
    expect(callsOf(sandbox)).toEqual({ getbeaconbeststatedetail: 2, getpdestate: 2 });
  });

  test('blocks that came between two polls are skipped', async () => {
    const { sandbox, next } = await followSandbox();
    sandbox.advance(5);
    expect(await next()).toMatchObject({ beaconHeight: TIP + 5, previousHeight: TIP });
  });

  test('another block at the same height is read, and its previous height is the same', async () => {
    const { sandbox, next, first } = await followSandbox();
    sandbox.replaceTip();
    const second = await next();
    expect(second).toMatchObject({ beaconHeight: TIP, previousHeight: TIP, hash: sandbox.chain.tip.hash });
    expect(second.hash).not.toBe(first.hash);
    expect(second.exchange).not.toEqual(first.exchange);
  });
});

describe('the cost of following', () => {
  test('one small call for each poll while nothing changes', async () => {
    const { sandbox, polls } = await followSandbox();
    sandbox.node.resetCalls();
    await polls();
    expect(callsOf(sandbox)).toEqual({ getbeaconbeststatedetail: 0, getpdestate: 0 });
    expect(sandbox.node.calls()).toBe(sandbox.node.calls('getblockchaininfo'));
  });

  test('the same while the node shows an older tip', async () => {
    const { sandbox, node, polls } = await followSandbox();
    node.faults.set({ kind: 'lag', blocks: 3 });
    node.resetCalls();
    await polls();
    expect(callsOf(sandbox)).toEqual({ getbeaconbeststatedetail: 0, getpdestate: 0 });
  });
});

describe('heights never go back', () => {
  test('if the node lags, the head stays until the node is ahead of it', async () => {
    const { sandbox, node, head, next, polls, first, notified } = await followSandbox();
    node.faults.set({ kind: 'lag', blocks: 3 });
    await polls();
    expect(head.current()).toBe(first);
    sandbox.advance(2);
    await polls();
    expect(head.current()).toBe(first);
    sandbox.advance(3);
    expect(await next()).toMatchObject({ beaconHeight: TIP + 2, previousHeight: TIP });
    expect(notified).toEqual([]);
  });

  test('also behind a load balancer, if one node has the tip and the next does not', async () => {
    const { sandbox, node, next, notified } = await followSandbox();
    const heights: number[] = [];
    for (let block = 1; block <= 5; block++) {
      node.faults.set({ kind: 'lag', blocks: 2, times: 1 });
      sandbox.advance();
      const { beaconHeight } = await next();
      heights.push(beaconHeight);
    }
    expect(heights).toEqual(heights.toSorted((a, b) => a - b));
    expect(heights.at(-1)).toBe(TIP + 5);
    expect(notified).toEqual([]);
  });
});

describe('a node that does not have the state of its tip yet', () => {
  test('is called again after a short pause', async () => {
    const { sandbox, node, next, notified } = await followSandbox();
    node.faults.set({ kind: 'state-missing', times: 1 });
    sandbox.advance();
    expect(await next()).toMatchObject({ beaconHeight: TIP + 1, previousHeight: TIP });
    expect(notified).toEqual([]);
    expect(node.calls('getpdestate')).toBe(3);
  });

  test('is called at most five times, then the read has failed, and the next poll begins again', async () => {
    const { sandbox, node, head, next, notified } = await followSandbox();
    node.faults.set({ kind: 'state-missing', times: 5 });
    sandbox.advance();
    expect(await next()).toMatchObject({ beaconHeight: TIP + 1, previousHeight: TIP });
    expect(notified).toEqual(['The node responded with error -8000.', 'recovered']);
    expect(node.calls('getpdestate')).toBe(7);
    expect(head.isFailing()).toBe(false);
  });
});

describe('a block that arrives between two calls', () => {
  test.each([
    [
      'the tip is read again if it is the lower one',
      { tips: [chainInfoOf(10), chainInfoOf(11)], heights: [11] },
      ['chainInfo', 'beaconTip', 'chainInfo', 'newestStateV1 11'],
    ],
    [
      'the height is read again if it is the lower one',
      { tips: [chainInfoOf(11)], heights: [10, 11] },
      ['chainInfo', 'beaconTip', 'beaconTip', 'newestStateV1 11'],
    ],
  ])('%s', async (_, script, calls) => {
    const node = scriptedNode(script);
    const { head, source, notified } = followNode(node);
    expect(await head.get()).toEqual({ ...headOf(11), source, observedAt: START });
    expect(node.calls.slice(0, calls.length)).toEqual(calls);
    expect(notified).toEqual([]);
  });

  test('once: then the block of the chain info is read', async () => {
    for (const [tip, height] of [
      [10, 11],
      [11, 10],
    ] as const) {
      const node = scriptedNode({ tips: [chainInfoOf(tip)], heights: [height] });
      const { head, source, notified } = followNode(node);
      expect(await head.get()).toEqual({ ...headOf(tip), source, observedAt: START });
      const again = tip < height ? 'chainInfo' : 'beaconTip';
      const calls = ['chainInfo', 'beaconTip', again, `newestStateV1 ${tip}`, 'chainInfo'];
      expect(node.calls.slice(0, calls.length)).toEqual(calls);
      expect(notified).toEqual([]);
    }
  });

  test('a tip without a state is not published: the head stays, and the node is read again later', async () => {
    const node = scriptedNode({ tips: [chainInfoOf(10), chainInfoOf(10), chainInfoOf(1_000_000)], heights: [10] });
    let isBack = false;
    const newestStateV1: NodeClient['newestStateV1'] = async (height) => {
      if (height > 11) throw new UpstreamRpcError(-8000, {});
      return exchangeOf(height);
    };
    const chainInfo: NodeClient['chainInfo'] = async () => (isBack ? chainInfoOf(11) : node.chainInfo());
    const { head, notified } = followNode({ ...node, newestStateV1, chainInfo });
    const heads = toAsyncValues(head.subscribe);
    expect(await heads.next()).toMatchObject({ value: { beaconHeight: 10 } });
    await expect.poll(() => notified).toEqual(['The node responded with error -8000.']);
    expect([head.current()?.chainInfo.beacon.height, head.isStale()]).toEqual([10, true]);
    isBack = true;
    expect(await heads.next()).toMatchObject({ value: { beaconHeight: 11, previousHeight: 10 } });
    expect(notified.at(-1)).toBe('recovered');
  });
});

describe('a block that is replaced while it is read', () => {
  test('is read again, and no head has the hash of one block and the pools of another', async () => {
    const tips = ['old', 'new', 'new', 'new'].map((hash) => chainInfoOf(10, hash));
    const node = scriptedNode({ tips, heights: [10] });
    const { head, source } = followNode(node);
    expect(await head.get()).toEqual({ ...headOf(10, 'new'), source, observedAt: START });
    const reading = ['beaconTip', 'newestStateV1 10', 'chainInfo'];
    expect(node.calls.slice(0, 7)).toEqual(['chainInfo', ...reading, ...reading]);
  });

  test('if the chain has moved on, the time of the state shows it', async () => {
    const node = scriptedNode({ tips: [chainInfoOf(10), chainInfoOf(11)], heights: [10, 11] });
    const times: (number | undefined)[] = [];
    const newestStateV1: NodeClient['newestStateV1'] = async (height) => {
      const time = times.length === 0 ? 10 * 40_000 + 1 : height * 40_000;
      times.push(time);
      return { ...exchangeOf(height), time };
    };
    const { head } = followNode({ ...node, newestStateV1 });
    expect(await head.get()).toMatchObject({ beaconHeight: 11, previousHeight: undefined });
    expect(times).toEqual([400_001, 440_000]);
  });

  test('if it is replaced each time, there is no head, and the error is that of the node', async () => {
    let blocks = 0;
    const node = scriptedNode({ tips: [], heights: [10] });
    const { head, notified } = followNode({ ...node, chainInfo: async () => chainInfoOf(10, `block ${blocks++}`) });
    const replaced = 'the newest block changed each time the gateway read it';
    const failure = { code: 'UPSTREAM_BAD_SHAPE', message: `The node sent an invalid response: ${replaced}.` };
    expect(await failureOf(head.get())).toMatchObject(failure);
    expect(notified).toEqual([failure.message]);
  });
});

describe('a pool that the next head does not have', () => {
  const pools = ['b', 'c'].map((end) => poolOf(1n, 1n, { token2Id: tokenId(end) }));

  test.each([
    ['is not lost if it was only on a block that another one replaces', { height: 10, hash: 'b', parent: 'z' }, []],
    ['is not lost if the block above names another one below it', { height: 11, hash: 'c', parent: 'b' }, []],
    ['is not lost if the height between was skipped', { height: 12, hash: 'c', parent: 'b' }, []],
    [
      'is lost if the block above names its block',
      { height: 11, hash: 'c', parent: 'a' },
      [
        { height: 11, pools: 1, before: 2 },
        { height: 12, pools: 1, before: 2 },
      ],
    ],
  ])('%s', async (_, next, expected) => {
    let block = { height: 10, hash: 'a', parent: 'z', pools: 2 };
    const client: NodeClient = {
      ...scriptedNode({ tips: [], heights: [] }),
      chainInfo: async () => chainInfoOf(block.height, block.hash),
      beaconTip: async () => ({ ...block, previousHash: block.parent }),
      newestStateV1: async (height) => exchangeStateOf(height, pools.slice(0, block.pools)),
    };
    const lost: LostPools[] = [];
    const counts = createPoolCounts((each) => lost.push(each));
    const heads = toAsyncValues(followNode(client, { now: START }, counts).head.subscribe);
    expect(await heads.next()).toMatchObject({ value: { hash: 'a' } });
    // The lowest block that may still be replaced with this one has both pools too.
    counts.check(exchangeStateOf(8, pools));
    for (block of [
      { ...next, pools: 1 },
      { height: next.height + 1, hash: 'd', parent: next.hash, pools: 1 },
    ])
      expect(await heads.next()).toMatchObject({ value: { hash: block.hash } });
    expect(lost).toEqual(expected);
  });
});

describe('a state of another block than the tip, as behind a load balancer', () => {
  /** A node whose states have these times, in turn and the last for ever. */
  function nodeOf(tips: readonly ChainInfo[], times: readonly number[], heights = [10]) {
    const node = scriptedNode({ tips, heights });
    const left = [...times];
    const newestStateV1: NodeClient['newestStateV1'] = async (height) => {
      const [time] = left.length > 1 ? left.splice(0, 1) : left;
      return { ...(await node.newestStateV1(height)), time };
    };
    return { ...node, newestStateV1 };
  }
  const [a, b] = [chainInfoOf(10, 'a', 1_000), chainInfoOf(10, 'b', 2_000)];

  test('if it has the time of the tip, the tip is not requested again', async () => {
    const node = nodeOf([a], [1_000]);
    expect(await followNode(node).head.get()).toMatchObject({ hash: 'a', time: 1_000, exchange: { time: 1_000 } });
    expect(node.calls.slice(0, 3)).toEqual(['chainInfo', 'beaconTip', 'newestStateV1 10']);
  });

  test('the tip is requested again until one has the time of the state', async () => {
    const node = nodeOf([a, a, a, b], [2_000]);
    expect(await followNode(node).head.get()).toMatchObject({ hash: 'b', time: 2_000, exchange: { time: 2_000 } });
    const tips = ['chainInfo', 'chainInfo', 'chainInfo'];
    expect(node.calls.slice(0, 6)).toEqual(['chainInfo', 'beaconTip', 'newestStateV1 10', ...tips]);
  });

  test('the state is requested again if its block is gone, and may belong to a tip that was shown before', async () => {
    const node = nodeOf([a, b, b, b, b], [500, 1_000]);
    expect(await followNode(node).head.get()).toMatchObject({ hash: 'a', time: 1_000, exchange: { time: 1_000 } });
    expect(node.calls.filter((call) => call === 'newestStateV1 10').length).toBe(2);
  });

  test('if the chain has moved on, the newest block is read', async () => {
    const node = nodeOf([a, chainInfoOf(11, 'c', 3_000)], [2_000, 3_000], [10, 11]);
    expect(await followNode(node).head.get()).toMatchObject({ beaconHeight: 11, hash: 'c', exchange: { time: 3_000 } });
  });

  test('if no block has its time, there is no head, and the error says so', async () => {
    const { head } = followNode(nodeOf([a], [2_000]));
    expect(await failureOf(head.get())).toMatchObject({
      code: 'UPSTREAM_BAD_SHAPE',
      message: 'The node sent an invalid response: none of its blocks has the time of its exchange state.',
    });
  });

  test('the head stays while its block is still shown, and heights do not go back', async () => {
    const tips = [a, b, a, b, b, a, chainInfoOf(9, 'z', 500), b, a];
    const node = nodeOf([...tips, b], [1_000, 2_000]);
    const heads = toAsyncValues(followNode(node).head.subscribe);
    expect((await heads.next()).value).toMatchObject({ hash: 'a' });
    expect((await heads.next()).value).toMatchObject({ beaconHeight: 10, previousHeight: 10, hash: 'b' });
    expect(node.calls.filter((call) => call === 'chainInfo').length).toBeGreaterThanOrEqual(tips.length + 16);
  });
});

describe('a tip that falls far below the head, as of a node that lost its database', () => {
  test('the head stays; the fall is reported once, and once when the tip is near again', async () => {
    const sandbox = await createSandboxHosts({ seed: 7, startTime: START / 1_000, history: 120 });
    onTestFinished(sandbox.close);
    const { head, notified } = followNode(nodeAt(sandbox.nodeUrl).client);
    const polls = async () => {
      const until = sandbox.node.calls('getblockchaininfo') + 4;
      await expect.poll(() => sandbox.node.calls('getblockchaininfo')).toBeGreaterThanOrEqual(until);
    };
    const first = await head.get();
    const clearFault = sandbox.node.faults.set({ kind: 'lag', blocks: 100 });
    await polls();
    expect([notified, head.problems()]).toEqual([[], []]);

    sandbox.node.faults.set({ kind: 'lag', blocks: 1 });
    await polls();
    expect(notified).toEqual([['far behind', TIP - 101, TIP]]);
    expect(head.problems()).toEqual([
      {
        code: 'NODE_FAR_BEHIND',
        message: `the node reports beacon height ${TIP - 101}, far below the served height ${TIP}: it may have lost its database`,
      },
    ]);
    expect([await head.get(), head.isStale()]).toEqual([first, false]);

    clearFault();
    await polls();
    expect([notified.slice(1), head.problems()]).toEqual([[['caught up', TIP - 1]], []]);
  });
});

describe('when a head is stale', () => {
  test('when no block has come for five of the usual intervals', async () => {
    const { sandbox, clock, head, next } = await followSandbox();
    clock.now = START + 200_000;
    expect(head.isStale()).toBe(false);
    clock.now = START + 200_001;
    expect(head.isStale()).toBe(true);

    clock.now = START + 300_000;
    sandbox.advance();
    await next();
    expect(head.isStale()).toBe(false);
    clock.now = START + 310_000;
    sandbox.advance();
    await next();
    clock.now = START + 320_000;
    sandbox.advance();
    await next();
    clock.now = START + 370_000;
    expect(head.isStale()).toBe(false);
    clock.now = START + 370_001;
    expect(head.isStale()).toBe(true);
  });

  test('when its block was made too long ago, however fast new heights come', async () => {
    const { sandbox, clock, head, next } = await followSandbox();
    const codes = () => head.problems().map(({ code }) => code);
    clock.now = START - 3_600_000;
    expect([head.isStale(), codes()]).toEqual([false, []]);
    // Ten hours: each new height is as old.
    clock.now = START + 36_000_000;
    for (let blocks = 0; blocks < 3; blocks++) {
      sandbox.advance();
      await next();
      expect([head.isStale(), codes()]).toEqual([true, ['BLOCK_TOO_OLD']]);
    }
    const [block, gateway] = [sandbox.chain.tip.time * 1_000, clock.now].map((time) => new Date(time).toISOString());
    expect(head.problems()[0]?.message).toBe(
      `the newest block, produced at ${block}, is older than MAX_BLOCK_AGE_MS (600000 ms) by the clock of the gateway, ${gateway}: the node is behind, or this clock is wrong`,
    );
    clock.now = (sandbox.chain.tip.time + 600) * 1_000;
    sandbox.advance();
    await next();
    expect([head.isStale(), codes()]).toEqual([false, []]);
  });

  test('another block at the same height does not count as progress', async () => {
    const { sandbox, clock, head, next } = await followSandbox();
    clock.now = START + 200_001;
    sandbox.replaceTip();
    await next();
    expect(head.isStale()).toBe(true);
  });

  test('while the node cannot be read; the last good head stays until the node is back', async () => {
    const { sandbox, node, head, notified, next, polls, first } = await followSandbox();
    node.faults.set({ kind: 'status', status: 503 });
    await polls();
    expect([head.isFailing(), head.isStale()]).toEqual([true, true]);
    expect(await head.get()).toBe(first);
    expect(notified).toEqual(['The node responded with HTTP status 503.']);

    node.faults.clear();
    await polls();
    expect([head.isFailing(), head.isStale(), head.current()]).toEqual([false, false, first]);
    expect(notified).toEqual(['The node responded with HTTP status 503.', 'recovered']);
    sandbox.advance();
    expect(await next()).toMatchObject({ beaconHeight: TIP + 1, previousHeight: TIP });
  });
});

/** A node that shows a height, and gives states or owes them. */
function nodeThatShows(height: number) {
  const now = { height, isThere: true, isSlow: false };
  const client: NodeClient = {
    ...scriptedNode({ tips: [], heights: [] }),
    async chainInfo() {
      if (!now.isThere) throw new UpstreamUnreachableError('NODE', {}, new Error('gone'));
      return chainInfoOf(now.height);
    },
    beaconTip: async () => ({ height: now.height, hash: undefined, previousHash: undefined }),
    newestStateV1: (at, signal) =>
      now.isSlow
        ? new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
        : Promise.resolve(exchangeOf(at)),
  };
  return { now, client };
}

describe('a node that was slower than another', () => {
  test('is read at once when the other is gone, also during its pause', async () => {
    const [slow, quick] = [nodeThatShows(1), nodeThatShows(1)];
    const watcher: HeadWatcher = { failed() {}, recovered() {}, fellFarBehind() {}, caughtUp() {} };
    const nodes = nodesOf([slow.client, quick.client], { timeoutMs: 100, graceMs: 10, maxPauseMs: 3_600_000 });
    const head = createHeadFollower({
      nodes,
      versions: onlyV1(),
      pollMs: 5,
      timeoutMs: 100,
      maxBlockAgeMs: Number.POSITIVE_INFINITY,
      poolCounts: uncounted(),
      recent: createRecentHeads(10),
      now: () => START,
      watcher,
    });
    onTestFinished(head.stop);
    const heads = toAsyncValues(head.subscribe);
    expect((await heads.next()).value).toMatchObject({ beaconHeight: 1, source: { client: slow.client } });

    slow.now.isSlow = true;
    slow.now.height = quick.now.height = 2;
    expect((await heads.next()).value).toMatchObject({ beaconHeight: 2, source: { client: quick.client } });

    quick.now.isThere = false;
    slow.now.isSlow = false;
    slow.now.height = 3;
    expect((await heads.next()).value).toMatchObject({ beaconHeight: 3, source: { client: slow.client } });
  });
});
