import { describe, expect, test } from 'vitest';
import type { BalancerOrder } from '../../src/sandbox/balancer.ts';
import type { Block } from '../../src/sandbox/chain/block.ts';
import { keepEvents } from '../support/events.ts';
import { startGatewayForTest } from '../support/gateway.ts';

const WHOLE = `{
  beaconHeight
  bestBlock { height hash time }
  poolPairs(first: 100) { nodes { token1PoolValue token2PoolValue } }
}`;
const HEADS = 'subscription { head { beaconHeight hash time stale } }';
const PRICES = `subscription {
  prices { beaconHeight blockTime poolPairs { token1PoolValue token2PoolValue } }
}`;

const timeOf = (block: Block | undefined) => block && new Date(block.time * 1_000).toISOString();

type Pool = { readonly token1PoolValue: string; readonly token2PoolValue: string };

type Published = { readonly beaconHeight: number; readonly blockTime: string; readonly poolPairs: readonly Pool[] };

type Update = Readonly<Record<'head' | 'prices', Published>>;

/** A gateway in front of two nodes behind one URL, of which the second is on a branch from the tip of the start on. */
async function openForked(order: BalancerOrder) {
  const gateway = await startGatewayForTest({ sandbox: { nodes: 2, balanced: { order }, history: 100 } });
  const { sandbox, ask } = gateway;
  const { chain, nodes } = sandbox;
  await ask('{ beaconHeight }');
  const from = chain.tip.height + 1;
  const endBranch = nodes[1]?.faults.set({ kind: 'fork', from }) ?? (() => {});

  /** The blocks of a height: the chain's, and the branch's. */
  const blocksAt = (height: number) =>
    [chain.block(height), chain.branchBlock(from, height)].filter((block) => !!block);
  const reservesOf = ({ reserves }: Block) =>
    chain.pools.map(({ index }) => `${reserves[index * 2]}/${reserves[index * 2 + 1]}`).toSorted();
  const shown = (pools: readonly Pool[]) =>
    pools.map(({ token1PoolValue, token2PoolValue }) => `${token1PoolValue}/${token2PoolValue}`).toSorted();

  /** The block that the pools are of; by its hash or time where both blocks of a height have the same pools. */
  function blockOf(height: number, pools: readonly Pool[], isMeant: (block: Block) => boolean): Block | undefined {
    return blocksAt(height).find((block) => isMeant(block) && reservesOf(block).join() === shown(pools).join());
  }

  /** Waits until the gateway has polled the tip a few times. Until the next block, it does that often. */
  async function untilPolled(times: number): Promise<void> {
    const calls = () => nodes.reduce((sum, node) => sum + node.calls('getblockchaininfo'), 0);
    const until = calls() + times;
    await expect.poll(calls).toBeGreaterThanOrEqual(until);
  }

  return { ...gateway, from, blockOf, endBranch, untilPolled };
}

const POOLS_AT =
  'query ($at: BeaconHeight!) { bestBlock { hash } poolPairs(first: 100, at: $at) { nodes { token1PoolValue token2PoolValue } } }';

describe('two nodes behind one URL with different tips', () => {
  test.each(['alternate', 'random'] as const)(
    'each answer is of one block whole, and each height is published, in %s order',
    async (order) => {
      const { sandbox, ask, subscribe, advance, blockOf, from, lines, app } = await openForked(order);
      const heads = keepEvents(subscribe(HEADS));
      const prices = keepEvents(subscribe(PRICES));
      await expect.poll(() => [heads.answers.length, prices.answers.length]).toEqual([1, 1]);
      const hashes = new Set<string>();
      for (let blocks = 0; blocks < 12; blocks++) {
        await advance();
        for (let times = 0; times < 4; times++) {
          const { data, errors } = await ask(WHOLE);
          expect(errors).toBeUndefined();
          const { height, hash, time } = data.bestBlock;
          expect(height).toBe(sandbox.chain.tip.height);
          const block = blockOf(height, data.poolPairs.nodes, (each) => each.hash === hash);
          expect(time).toBe(timeOf(block));
          hashes.add(hash);
        }
      }
      const tip = sandbox.chain.tip.height;
      const heights = Array.from({ length: tip - from + 1 }, (_, n) => from + n);
      await expect.poll(() => prices.answers.at(-1)?.data?.['prices']).toMatchObject({ beaconHeight: tip });
      await expect.poll(() => heads.answers.at(-1)?.data?.['head']).toMatchObject({ beaconHeight: tip });
      const published = heads.answers.map(({ data }) => (data as Update).head.beaconHeight);
      expect([...new Set(published)].slice(1)).toEqual(heights);
      for (const { data, errors } of prices.answers) {
        expect(errors).toBeUndefined();
        const { beaconHeight, blockTime, poolPairs } = (data as Update).prices;
        expect(blockOf(beaconHeight, poolPairs, (block) => timeOf(block) === blockTime)).toBeDefined();
      }
      // At most one block of a height takes the place of the other: the head does not change with every look.
      for (const height of heights) expect(published.filter((each) => each === height).length).toBeLessThanOrEqual(2);
      expect(lines).toEqual([]);
      expect(app.service.sources.head.isStale()).toBe(false);
      expect(hashes.size).toBeGreaterThanOrEqual(12);
    },
  );

  test('an earlier state is never that of the other branch', async () => {
    const { sandbox, ask, advance, blockOf, from, endBranch, untilPolled } = await openForked('random');
    const { chain } = sandbox;
    const answered: number[] = [];
    for (let blocks = 0; blocks < 12; blocks++) {
      if (blocks === 6) endBranch();
      await advance();
      await untilPolled(8);
      for (let below = 1; below <= 5; below++) {
        const at = chain.tip.height - below;
        const { data, errors } = await ask(POOLS_AT, { at });
        const isOfChain = data.bestBlock.hash === chain.tip.hash;
        const own = isOfChain || at < from ? chain.block(at) : chain.branchBlock(from, at);
        if (errors === undefined) expect(blockOf(at, data.poolPairs.nodes, (block) => block === own)).toBe(own);
        else expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_BAD_SHAPE' } }]);
        if (errors === undefined) answered.push(at);
      }
    }
    // Hashes lead from each head to those below it that were served since the branch ended.
    expect(answered).toEqual(expect.arrayContaining([from + 8, from + 9, from + 10]));
  });

  test('states of the last 64 blocks are read again when no two blocks were shown in turn for so long', async () => {
    const { sandbox, ask, advance, blockOf, from, endBranch, untilPolled } = await openForked('alternate');
    const { chain } = sandbox;
    for (let blocks = 0; blocks < 6; blocks++) {
      await advance();
      await untilPolled(8);
    }
    // It was not shown since the gateway has started, so no hash leads to it.
    const at = from - 3;
    const refused = await ask(POOLS_AT, { at });
    expect(refused.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_BAD_SHAPE' } }]);
    const older = await ask(POOLS_AT, { at: from - 65 });
    expect(blockOf(from - 65, older.data.poolPairs.nodes, (block) => block === chain.block(from - 65))).toBeDefined();

    endBranch();
    sandbox.advance(63);
    await advance();
    await untilPolled(8);
    const { data, errors } = await ask(POOLS_AT, { at });
    expect(errors).toBeUndefined();
    expect(blockOf(at, data.poolPairs.nodes, (block) => block === chain.block(at))).toBeDefined();
  });
});
