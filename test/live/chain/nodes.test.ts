import { describe, expect, onTestFinished, test } from 'vitest';
import { UpstreamUnreachableError } from '../../../src/errors.ts';
import type { Head } from '../../../src/live/chain/head.ts';
import { createHeadFollower, type HeadFollower } from '../../../src/live/chain/head-follower.ts';
import type { Node } from '../../../src/live/chain/node.ts';
import type { Nodes } from '../../../src/live/chain/nodes.ts';
import { createPastStates } from '../../../src/live/chain/past-states.ts';
import { createRecentHeads } from '../../../src/live/chain/recent-heads.ts';
import { createSandboxHosts } from '../../../src/sandbox/sandbox.ts';
import type { NodeClient } from '../../../src/upstream/node/client.ts';
import { toAsyncValues } from '../../support/async-values.ts';
import { NEVER_MS } from '../../support/gateway.ts';
import { nodeAt, nodesOf, onlyV1, roomyBulkhead, SOMEONE, UNWATCHED, uncounted } from '../../upstream/connect.ts';
import { failureOf } from '../../upstream/failure.ts';
import { blockNotFound, chainInfoOf, exchangeOf, headOf, scriptedNode, statePruned } from './heads.ts';

/** The timeout of a test in which a node hangs. On a busy machine, real requests to the other nodes need a part of it. */
const SHORT_MS = 4_000;

/** Three nodes of one chain, polled only when a test says so. */
async function threeNodes(timeoutMs = NEVER_MS) {
  const sandbox = await createSandboxHosts({ seed: 7, startTime: 1_795_176_000, history: 10, nodes: 3 });
  onTestFinished(sandbox.close);
  const clients = sandbox.nodes.map(({ url }) => nodeAt(url, { timeoutMs: NEVER_MS }).client);
  const notified: unknown[] = [];
  const { nodes } = nodesForTest(clients, notified, { timeoutMs });
  const [first, second, third] = sandbox.nodes;
  if (first === undefined || second === undefined || third === undefined) throw new Error('three are needed');
  const indexOf = ({ client }: Node) => clients.indexOf(client);
  return { sandbox, first, second, third, clients, nodes, notified, indexOf, tip: sandbox.chain.tip.height };
}

function nodesForTest(
  clients: readonly NodeClient[],
  notified: unknown[] = [],
  { maxPauseMs = 1, timeoutMs = NEVER_MS } = {},
): { nodes: Nodes } {
  const [first, ...others] = clients;
  if (first === undefined) throw new Error('one is needed');
  const nodes = nodesOf([first, ...others], {
    timeoutMs,
    graceMs: NEVER_MS,
    maxPauseMs,
    watch: (node) => ({
      ...UNWATCHED(),
      failed: () => notified.push(['failed', clients.indexOf(node)]),
      recovered: () => notified.push(['recovered', clients.indexOf(node)]),
    }),
  });
  return { nodes };
}

/** Follows nodes with a poll every few milliseconds. */
function follow(
  nodes: Nodes,
  timeoutMs = NEVER_MS,
): { head: HeadFollower; next(): Promise<Head>; failures: unknown[] } {
  const failures: unknown[] = [];
  const watcher = {
    failed: (error: unknown) => failures.push(error),
    recovered() {},
    fellFarBehind() {},
    caughtUp() {},
  };
  const head = createHeadFollower({
    nodes,
    versions: onlyV1(),
    pollMs: 5,
    timeoutMs,
    maxBlockAgeMs: Number.POSITIVE_INFINITY,
    poolCounts: uncounted(),
    recent: createRecentHeads(10),
    now: Date.now,
    watcher,
  });
  onTestFinished(head.stop);
  const heads = toAsyncValues(head.subscribe);
  return {
    head,
    failures,
    async next() {
      const result = await heads.next();
      if (result.done) throw new Error('the heads have ended');
      return result.value;
    },
  };
}

describe('which node is read', () => {
  test('the highest, and among equals the preferred one, else the first of the list', async () => {
    const { nodes, first, third, indexOf } = await threeNodes();
    const order = async (preferred?: Node) => (await nodes.poll(preferred)).map(({ node }) => indexOf(node));
    expect(await order()).toEqual([0, 1, 2]);
    expect(await order(nodes.all[2])).toEqual([2, 0, 1]);
    first.faults.set({ kind: 'lag', blocks: 1 });
    third.faults.set({ kind: 'lag', blocks: 2 });
    expect(await order(nodes.all[2])).toEqual([1, 0, 2]);
  });

  test('one that fails is left out until it responds again, and its watcher is notified once', async () => {
    const { nodes, second, indexOf, notified, tip } = await threeNodes();
    const order = async () => (await nodes.poll()).map(({ node }) => indexOf(node));
    second.faults.set({ kind: 'status', status: 503 });
    expect([await order(), await order()]).toEqual([
      [0, 2],
      [0, 2],
    ]);
    expect(nodes.status().map((status) => status.tip?.height)).toEqual([tip, undefined, tip]);
    expect(notified).toEqual([['failed', 1]]);
    second.faults.clear();
    await expect.poll(order).toEqual([0, 1, 2]);
    expect(notified).toEqual([
      ['failed', 1],
      ['recovered', 1],
    ]);
  });

  test('the watcher of one that fails is notified of each other reason', async () => {
    const { nodes, second, notified } = await threeNodes();
    for (const status of [503, 503, 404, 404, 503]) {
      second.faults.clear();
      second.faults.set({ kind: 'status', status });
      await nodes.poll();
    }
    expect(notified).toEqual(Array(3).fill(['failed', 1]));
  });

  test('one that hangs is waited for once, for a moment, and not called again meanwhile', async () => {
    const { nodes, first, second, indexOf } = await threeNodes(SHORT_MS);
    first.faults.set({ kind: 'hang' });
    const polls = [await nodes.poll(), await nodes.poll(), await nodes.poll()];
    expect(polls.map((seen) => seen.map(({ node }) => indexOf(node)))).toEqual(Array(3).fill([1, 2]));
    expect([first.calls(), second.calls()]).toEqual([1, 3]);
  });

  test('if none responds, the error of the first is thrown', async () => {
    const { nodes, first, second, third } = await threeNodes();
    first.faults.set({ kind: 'html', status: 403 });
    second.faults.set({ kind: 'reset' });
    await third.stop();
    expect(await failureOf(nodes.poll())).toMatchObject({ code: 'UPSTREAM_FILTERED' });
  });

  test('if none responds, an error that can end is thrown rather than one that cannot', async () => {
    const { nodes, first, second, third } = await threeNodes();
    first.faults.set({ kind: 'status', status: 404 });
    second.faults.set({ kind: 'status', status: 503 });
    await third.stop();
    await expect(nodes.poll()).rejects.toMatchObject({ code: 'UPSTREAM_BAD_STATUS', status: 503 });
  });

  test('one of another chain is never read', async () => {
    const { nodes, second, indexOf } = await threeNodes();
    second.faults.set({ kind: 'shape', path: ['Result', 'ChainName'], value: 'another' });
    expect((await nodes.poll()).map(({ node }) => indexOf(node))).toEqual([0, 2]);
  });
});

describe('a head of several nodes', () => {
  test('is read completely from one node: the others are only polled', async () => {
    const { nodes, first, second, third } = await threeNodes();
    const { head } = follow(nodes);
    expect((await head.get()).source).toBe(nodes.all[0]);
    expect([first, second, third].map((node) => node.calls('getpdestate'))).toEqual([1, 0, 0]);
    expect([first, second, third].map((node) => node.calls('getbeaconbeststatedetail'))).toEqual([1, 0, 0]);
  });

  test('is read from the highest; a node that lags or goes back never lowers it', async () => {
    const { sandbox, nodes, first, tip } = await threeNodes();
    const { head, next } = follow(nodes);
    expect(await next()).toMatchObject({ beaconHeight: tip });
    first.faults.set({ kind: 'lag', blocks: 3 });
    sandbox.advance(2);
    const second = await next();
    expect([second.beaconHeight, second.source]).toEqual([tip + 2, nodes.all[1]]);
    expect(head.isStale()).toBe(false);
    first.faults.clear();
    sandbox.advance();
    expect(await next()).toMatchObject({ beaconHeight: tip + 3, source: nodes.all[1] });
  });

  test('is read from the next node if the first shows the tip but cannot give its state', async () => {
    const { nodes, first, tip } = await threeNodes();
    first.faults.set({ kind: 'reset-in-body', on: 'getpdestate' });
    const { head } = follow(nodes);
    expect(await head.get()).toMatchObject({ beaconHeight: tip, source: nodes.all[1] });
  });

  test('is read from the next node within one timeout if the first hangs at its state', async () => {
    const { nodes, first, tip } = await threeNodes(SHORT_MS);
    first.faults.set({ kind: 'hang', on: 'getpdestate' });
    const { head } = follow(nodes, SHORT_MS);
    expect(await head.get()).toMatchObject({ beaconHeight: tip, source: nodes.all[1] });
  });

  test('is read from one node after another, and again from those that recover', async () => {
    const { sandbox, nodes, first, second, third, indexOf, tip } = await threeNodes();
    const { next } = follow(nodes);
    await next();
    const outages = [
      { down: first, up: undefined },
      { down: second, up: first },
      { down: third, up: second },
      { down: first, up: third },
    ];
    for (const [i, { down, up }] of outages.entries()) {
      await up?.start();
      await down.stop();
      sandbox.advance();
      const { beaconHeight, source } = await next();
      expect(beaconHeight).toBe(tip + 1 + i);
      expect(sandbox.nodes[indexOf(source)]).not.toBe(down);
    }
    await first.start();
    sandbox.advance();
    expect(await next()).toMatchObject({ beaconHeight: tip + 5 });
  });

  test('stays while its own node responds, also if another node shows another block at its height', async () => {
    const script = (hash: string) => scriptedNode({ tips: [chainInfoOf(10, hash)], heights: [10] });
    const [own, other] = [script('own'), script('other')];
    let isOwnWell = true;
    const chainInfo: NodeClient['chainInfo'] = () =>
      isOwnWell ? own.chainInfo() : Promise.reject(new UpstreamUnreachableError('NODE', {}, undefined));
    const { nodes } = nodesForTest([{ ...own, chainInfo }, other]);
    const { head, next } = follow(nodes);
    expect(await next()).toMatchObject({ beaconHeight: 10, hash: 'own' });
    const polls = other.calls.length;
    await expect.poll(() => other.calls.length).toBeGreaterThan(polls + 3);
    expect(head.current()?.hash).toBe('own');

    isOwnWell = false;
    expect(await next()).toMatchObject({
      beaconHeight: 10,
      previousHeight: 10,
      hash: 'other',
      source: { client: other },
    });
    isOwnWell = true;
    const more = own.calls.length;
    await expect.poll(() => own.calls.length).toBeGreaterThan(more + 3);
    expect(head.current()?.hash).toBe('other');
  });
});

describe('a node that cannot give the state of its tip', () => {
  /** A node whose blocks a test shows, and whose states a test can take away. */
  function puppet(height: number) {
    const control = { height, isHanging: false, isEmpty: false, states: 0 };
    const node: NodeClient = {
      ...scriptedNode({ tips: [], heights: [] }),
      chainInfo: async () => chainInfoOf(control.height),
      spaceMs: () => 0,
      beaconTip: async () => ({ height: control.height, hash: undefined, previousHash: undefined }),
      async newestStateV1(height, signal) {
        control.states += 1;
        if (control.isEmpty) throw blockNotFound(height);
        if (!control.isHanging) return exchangeOf(height);
        return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
      },
    };
    return { node, control };
  }

  test('is not read for a while if it hangs: the others are waited for', async () => {
    const [hanging, slower] = [puppet(10), puppet(10)];
    const { nodes } = nodesForTest([hanging.node, slower.node], [], { timeoutMs: 1_000 });
    const { head, next } = follow(nodes, 1_000);
    expect(await next()).toMatchObject({ beaconHeight: 10, source: { client: hanging.node } });
    hanging.control.isHanging = true;
    for (const height of [11, 12, 13]) {
      hanging.control.height = height;
      await expect.poll(() => nodes.status().map((status) => status.tip?.height)).toEqual([height, height - 1]);
      slower.control.height = height;
      expect(await next()).toMatchObject({ beaconHeight: height, source: { client: slower.node } });
      expect(head.isStale()).toBe(false);
    }
    expect(hanging.control.states).toBeLessThanOrEqual(3);
  });

  test('does not make the others stale if it claims a tip that it does not have', async () => {
    const [liar, honest] = [puppet(10), puppet(10)];
    const { nodes } = nodesForTest([honest.node, liar.node]);
    const { next, failures } = follow(nodes);
    await next();
    Object.assign(liar.control, { height: 1_000_000, isEmpty: true });
    await expect.poll(() => liar.control.states).toBeGreaterThan(0);
    for (const height of [11, 12]) {
      honest.control.height = height;
      expect(await next()).toMatchObject({ beaconHeight: height, source: { client: honest.node } });
    }
    expect(failures).toEqual([]);
  });

  test('is only polled during its pause, also if there is no other', async () => {
    const { node, control } = puppet(10);
    const { nodes } = nodesForTest([node], [], { maxPauseMs: NEVER_MS });
    const { head, next } = follow(nodes);
    await next();
    Object.assign(control, { height: 11, isEmpty: true });
    await expect.poll(head.isStale).toBe(true);
    const { states } = control;
    let polls = 0;
    node.chainInfo = async () => {
      polls += 1;
      return chainInfoOf(control.height);
    };
    await expect.poll(() => polls).toBeGreaterThan(3);
    expect(control.states).toBe(states);
  });

  test('is read again if there is no other', async () => {
    const [first, second] = [puppet(10), puppet(10)];
    const { nodes } = nodesForTest([first.node, second.node]);
    const { next } = follow(nodes);
    await next();
    first.control.isEmpty = true;
    for (const { control } of [first, second]) control.height = 11;
    expect(await next()).toMatchObject({ beaconHeight: 11, source: { client: second.node } });
    first.control.isEmpty = false;
    second.node.chainInfo = () => Promise.reject(new UpstreamUnreachableError('NODE', {}, undefined));
    first.control.height = 12;
    expect(await next()).toMatchObject({ beaconHeight: 12, source: { client: first.node } });
  });
});

describe('a past state is read', () => {
  /** A node that has the states from a height on. */
  function nodeFrom(oldest: number, tip = chainInfoOf(100)): NodeClient & { readonly states: number[] } {
    const states: number[] = [];
    return {
      ...scriptedNode({ tips: [tip], heights: [tip.beacon.height] }),
      states,
      async earlierStateV1(height) {
        states.push(height);
        if (height < oldest) throw statePruned();
        return exchangeOf(height);
      },
    };
  }

  const down: NodeClient['earlierStateV1'] = () => Promise.reject(new UpstreamUnreachableError('NODE', {}, undefined));

  function pastStatesOf(nodes: Nodes) {
    const options = { versions: onlyV1(), bulkhead: roomyBulkhead('NODE'), poolCounts: uncounted() };
    return createPastStates({ nodes, ...options, served: () => [] });
  }

  async function statesOf(clients: readonly NodeClient[], timeoutMs = NEVER_MS) {
    const { nodes } = nodesForTest(clients, [], { maxPauseMs: NEVER_MS, timeoutMs });
    const { head } = follow(nodes, timeoutMs);
    const newest = await head.get();
    const states = pastStatesOf(nodes);
    return (height: number) => states.read(height, newest, SOMEONE);
  }

  test('from the head’s own node; a final one that it has pruned, from any that still has it', async () => {
    const [pruned, archive] = [nodeFrom(90), nodeFrom(1)];
    const read = await statesOf([pruned, archive]);
    expect(await read(95)).toEqual(exchangeOf(95));
    expect(await read(50)).toEqual(exchangeOf(50));
    expect(pruned.states).toEqual([95, 50]);
    expect(archive.states).toEqual([50]);
  });

  test('with one call to each node if none has it, however often it is requested', async () => {
    const [one, other] = [nodeFrom(90), nodeFrom(90)];
    const read = await statesOf([one, other]);
    for (let reader = 0; reader < 5; reader++)
      expect(await failureOf(read(50))).toMatchObject({ code: 'HEIGHT_NOT_AVAILABLE' });
    expect([one.states, other.states]).toEqual([[50], [50]]);
  });

  test('with one delay for a node that hangs: then it is called after the others', async () => {
    const hanging = nodeFrom(1);
    const earlierStateV1: NodeClient['earlierStateV1'] = async (height, signal) => {
      hanging.states.push(height);
      return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    };
    const other = nodeFrom(1);
    const read = await statesOf([{ ...hanging, earlierStateV1 }, other], 1_000);
    for (const height of [50, 51, 52]) expect(await read(height)).toEqual(exchangeOf(height));
    expect([hanging.states, other.states]).toEqual([[50], [50, 51, 52]]);
  });

  test('and does not count as pruned while another node that may have it is down', async () => {
    const [pruned, archive] = [nodeFrom(90), { ...nodeFrom(1), earlierStateV1: down }];
    const read = await statesOf([pruned, archive]);
    expect(await failureOf(read(50))).toMatchObject({ code: 'UPSTREAM_UNREACHABLE' });
  });

  test('never from a node of another chain or of a dead fork, however old the height is', async () => {
    const strangers = [
      nodeFrom(1, chainInfoOf(100, 'another block')),
      nodeFrom(1, { ...chainInfoOf(90, 'mainnet block'), chainName: 'mainnet' }),
    ];
    const pruned = nodeFrom(90);
    const read = await statesOf([pruned, ...strangers]);
    expect(await failureOf(read(50))).toMatchObject({ code: 'HEIGHT_NOT_AVAILABLE' });
    expect(strangers.map(({ states }) => states)).toEqual([[], []]);
  });

  test('never from a node whose newest block was published and then left by the chain', async () => {
    const [forked, main] = [nodeFrom(1, chainInfoOf(101, 'forked')), nodeFrom(1, chainInfoOf(100))];
    let tip = chainInfoOf(100);
    const chainInfo: NodeClient['chainInfo'] = async () => tip;
    const source = { ...main, chainInfo, beaconHeight: async () => tip.beacon.height, earlierStateV1: down };
    const { nodes } = nodesForTest([source, forked]);
    const { next } = follow(nodes);
    expect(await next()).toMatchObject({ beaconHeight: 101, hash: 'forked' });
    tip = chainInfoOf(110);
    const head = await next();
    expect(head).toMatchObject({ beaconHeight: 110, source: { client: source } });
    const states = pastStatesOf(nodes);
    expect(await failureOf(states.read(101, head, SOMEONE))).toMatchObject({ code: 'UPSTREAM_UNREACHABLE' });
    expect(forked.states).toEqual([]);
  });

  test('near the tip never from a node that shows another block, which may have other ancestors', async () => {
    const own = { ...nodeFrom(1), earlierStateV1: down };
    const [stranger, friend] = [nodeFrom(1, chainInfoOf(100, 'another block')), nodeFrom(1)];
    const readOfTwo = await statesOf([own, stranger]);
    expect(await failureOf(readOfTwo(99))).toMatchObject({ code: 'UPSTREAM_UNREACHABLE' });
    expect(stranger.states).toEqual([]);

    const readOfThree = await statesOf([own, stranger, friend]);
    expect(await readOfThree(99)).toEqual(exchangeOf(99));
    expect([stranger.states, friend.states]).toEqual([[], [99]]);
  });

  test('near the tip also from a node that came to the head’s block after its last poll', async () => {
    const own = { ...nodeFrom(1), earlierStateV1: down };
    let tip = chainInfoOf(99);
    const late = { ...nodeFrom(1), chainInfo: async () => tip };
    const read = await statesOf([own, late]);
    expect(await failureOf(read(99))).toMatchObject({ code: 'UPSTREAM_UNREACHABLE' });
    expect(late.states).toEqual([]);
    tip = chainInfoOf(100);
    expect(await read(99)).toEqual(exchangeOf(99));
    expect(late.states).toEqual([99]);
  });

  test('if it is final, also from a node that came to a block above it after its last poll', async () => {
    const own = { ...nodeFrom(1), earlierStateV1: down };
    let tip = chainInfoOf(99);
    const late = { ...nodeFrom(1), chainInfo: async () => tip };
    const { nodes } = nodesForTest([own, late]);
    await nodes.poll();
    const states = pastStatesOf(nodes);
    const read = () => states.read(97, headOf(100, undefined, nodes.all[0]), SOMEONE);
    expect(await failureOf(read())).toMatchObject({ code: 'UPSTREAM_UNREACHABLE' });
    expect(late.states).toEqual([]);
    tip = chainInfoOf(100);
    expect(await read()).toEqual(exchangeOf(97));
    expect(late.states).toEqual([97]);
  });
});
