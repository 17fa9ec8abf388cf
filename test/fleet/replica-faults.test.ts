import { describe, expect, onTestFinished, test } from 'vitest';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { type Replica, startFleet, startReplica, timesAlone, untilAlone, untilConnected } from '../support/fleet.ts';
import { startSandbox } from '../support/gateway.ts';
import { hasRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { startRedisForTests } from './connected.ts';

describe.skipIf(!hasRedis)('when replicas fail', () => {
  const redis = startRedisForTests();
  let fleets = 0;
  let prefix = '';

  /** Two replicas, each in front of a node of its own. */
  async function start(config: { readonly headPollMs?: number } = {}) {
    let node = 0;
    prefix = `replicas-${++fleets}`;
    const fleet = await startFleet(redis, {
      prefix,
      sandbox: { nodes: 2 },
      configOf: ({ nodeUrls }) => ({ ...config, fullnodeUrl: [new URL(nodeUrls[node++] ?? '')] }),
    });
    const { first, second } = fleet;
    const nodeOf = (replica: Replica) => {
      const found = fleet.sandbox.nodes[fleet.all.indexOf(replica)];
      if (found === undefined) throw new Error('a replica without a node');
      return found;
    };
    return { fleet, first, second, nodeOf };
  }

  const heightOf = async (replica: Replica) => (await replica.ask('{ beaconHeight }')).data.beaconHeight;

  test('a replica publishes nothing over what another has published since its read began, and serves that', async () => {
    const { fleet } = await start();
    await fleet.advance();
    // As if another replica had published while each of these was paused.
    const version = redis.cli('get', `{${prefix}}:head-3:version`);
    redis.cli('set', `{${prefix}}:head-3:version`, 'another');
    fleet.sandbox.advance();
    await Promise.all(fleet.all.map((replica) => replica.untilHeight(fleet.sandbox.chain.tip.height)));
    expect(redis.cli('get', `{${prefix}}:head-3:version`)).not.toBe(version);
    const newest = () => redis.cli('zrange', `{${prefix}}:head-3:values`, '-1', '-1', 'withscores').split('\n').at(-1);
    // Replicas for which Redis was slow have read alone, and publish at the next poll.
    await expect.poll(() => Number(newest())).toBe(fleet.sandbox.chain.tip.height);
  });

  test('a replica that is cut off from its node serves what the other reads, and is not stale', async () => {
    const { fleet, first, nodeOf } = await start();
    nodeOf(first).faults.set({ kind: 'status', status: 503 });
    await until(() => first.app.service.upstreams()[0]?.lastErrorAt !== undefined);
    await fleet.advance();
    await fleet.advance();
    const query = '{ beaconHeight service { head { stale } } }';
    await expect
      .poll(async () => (await first.ask(query)).data)
      .toEqual({ beaconHeight: fleet.sandbox.chain.tip.height, service: { head: { stale: false } } });
  });

  test('a replica does not take the blocks of another node for those of its own', async () => {
    const { fleet, first, second, nodeOf } = await start();
    nodeOf(first).faults.set({ kind: 'lag', blocks: 20 });
    await fleet.advance();
    const shown = async () => {
      const metrics = await (await fetch(new URL('/metrics', await first.app.listen(0, '127.0.0.1')))).text();
      return Number(/^pdex_node_beacon_height\{.*\} (\d+)$/m.exec(metrics)?.[1]);
    };
    for (let n = 0; n < 3; n++) {
      await fleet.advance();
      expect(await heightOf(second)).toBe(fleet.sandbox.chain.tip.height);
      expect(await shown()).not.toBe(fleet.sandbox.chain.tip.height);
    }
  });

  test('a replica whose node lags leaves the next read to another one, within the same interval', async () => {
    // The test makes the polls: an interval lasts until it frees the slot.
    const { fleet, first, second, nodeOf } = await start({ headPollMs: 3_600_000 });
    await fleet.settled();
    nodeOf(first).faults.set({ kind: 'lag', blocks: 20 });
    const [lagging, other] = [first.app.service.sources.head, second.app.service.sources.head];
    const slot = `{${prefix}}:head-3:slot`;
    // Not while a replica reads: then its read would not count.
    const free = () => redis.cli('get', slot) === 'idle' && redis.cli('del', slot);
    // Who has read alone, because Redis was slow to reply, publishes at the next poll, and so ends the interval of the test.
    for (const head of [lagging, other, other, lagging, lagging, lagging]) await until(() => head.readNow());
    for (let n = 0; n < 3; n++) {
      fleet.sandbox.advance();
      const { height } = fleet.sandbox.chain.tip;
      free();
      const calls = nodeOf(first).calls('getblockchaininfo');
      await until(() => lagging.readNow());
      // It leaves the reads to the other one after the first time.
      while (n === 0 && nodeOf(first).calls('getblockchaininfo') === calls) {
        free();
        await until(() => lagging.readNow());
      }
      // A replica that has read alone, because Redis was slow to reply, publishes at its next poll.
      await until(() => {
        for (const head of [lagging, other]) head.readNow();
        return [lagging, other].every((head) => head.newest()?.beaconHeight === height);
      });
    }
  });

  test('replicas whose nodes are on two branches keep the block of a height', async () => {
    const { fleet, second, nodeOf } = await start();
    const polls = () => fleet.all.map((replica) => nodeOf(replica).calls('getblockchaininfo'));
    nodeOf(second).faults.set({ kind: 'fork', from: fleet.sandbox.chain.tip.height - 1 });
    const hashes = new Map<number, Set<string>>();
    let alone: number;
    // A replica that is alone for a moment serves the block of its own node.
    do {
      await fleet.settled();
      alone = timesAlone(fleet.all);
      hashes.clear();
      for (let blocks = 0; blocks < 2; blocks++) {
        await fleet.advance();
        const before = polls();
        await until(() => {
          for (const { app } of fleet.all) {
            const { beaconHeight = 0, hash = '' } = app.service.sources.head.newest() ?? {};
            hashes.set(beaconHeight, (hashes.get(beaconHeight) ?? new Set()).add(hash));
          }
          return polls().every((calls, n) => calls - (before[n] ?? 0) >= 5);
        });
      }
    } while (timesAlone(fleet.all) !== alone);
    expect([...hashes.values()].map(({ size }) => size)).toEqual([1, 1]);
  });

  test('while no replica can read its node, all say so, and recover', async () => {
    const { fleet } = await start();
    for (const node of fleet.sandbox.nodes) node.faults.set({ kind: 'status', status: 503 });
    const staleAt = async (replica: Replica) =>
      (await replica.ask('{ service { head { stale } } }')).data.service.head.stale;
    for (const replica of fleet.all) await expect.poll(() => staleAt(replica)).toBe(true);
    for (const node of fleet.sandbox.nodes) node.faults.clear();
    await fleet.advance();
    for (const replica of fleet.all) await expect.poll(() => staleAt(replica)).toBe(false);
  });

  test('a replica that is cut off from Redis and not from its node works alone, and never serves a lower height', async () => {
    const { fleet, second } = await start();
    second.link.cut();
    await untilAlone(second);
    await fleet.advance(2);
    expect(await heightOf(second)).toBe(fleet.sandbox.chain.tip.height);
    second.link.restore();
    await untilConnected(second);
    await fleet.advance();
    expect(await heightOf(second)).toBe(fleet.sandbox.chain.tip.height);
  });

  test('a replica of another chain is refused', async () => {
    redis.cli('set', '{strangers}:chain', 'another-chain');
    const sandbox = await startSandbox();
    onTestFinished(sandbox.close);
    const stranger = await startReplica(redis, { prefix: 'strangers', of: sandbox });
    await stranger.untilReady();
    await until(() => stranger.lines.some(({ chain }) => chain === 'another-chain'));
    expect(stranger.status().isConnected).toBe(false);
    expect(await heightOf(stranger)).toBe(sandbox.chain.tip.height);
    expect(redis.cli('exists', '{strangers}:head-3:version')).toBe('0');
  });

  /** A replica that joins the fleet of another chain, and what its node does at first. */
  async function startStranger(...faults: readonly Parameters<SandboxHosts['node']['faults']['set']>[0][]) {
    const { fleet } = await start();
    const sandbox = await startSandbox({ startHeight: fleet.sandbox.chain.tip.height - 100_000 });
    onTestFinished(sandbox.close);
    for (const fault of faults) sandbox.node.faults.set(fault);
    return { sandbox, stranger: await startReplica(redis, { prefix, of: sandbox }) };
  }

  const TESTNET = { kind: 'shape', path: ['Result', 'ChainName'], value: 'testnet', on: 'getblockchaininfo' } as const;

  test('a replica of another chain whose node is slow never serves the chain of the fleet', async () => {
    const { sandbox, stranger } = await startStranger(TESTNET, { kind: 'delay', ms: 500, on: 'getblockchaininfo' });
    expect(await stranger.ask('{ beaconHeight chainInfo { chainName } }')).toEqual({
      data: { beaconHeight: sandbox.chain.tip.height, chainInfo: { chainName: 'testnet' } },
    });
    // It can also be alone because Redis is slow.
    await until(() => stranger.lines.some(({ chain }) => chain !== undefined));
    expect(stranger.lines.filter(({ chain }) => chain !== undefined)).toMatchObject([{ chain: 'sandbox' }]);
  });

  test('a replica whose node turns out to follow another chain than the fleet leaves it, and is stale', async () => {
    const { sandbox, stranger } = await startStranger({ kind: 'status', status: 503 });
    await stranger.untilReady();
    sandbox.node.faults.clear();
    sandbox.node.faults.set(TESTNET);
    const isStale = async () => (await stranger.ask('{ service { head { stale } } }')).data.service.head.stale;
    await until(() => stranger.lines.some(({ chain }) => chain !== undefined));
    await until(isStale);
    expect(stranger.lines.filter(({ chain }) => chain !== undefined)).toMatchObject([{ chain: 'sandbox' }]);
  });

  test.each([
    ['damaged', 'damaged'],
    ['empty', ''],
  ])('values that are %s are ignored, and replaced', async (_, text) => {
    const { fleet } = await start();
    redis.cli('del', `{${prefix}}:head-3:values`);
    const height = String(fleet.sandbox.chain.tip.height + 1);
    redis.cli('zadd', `{${prefix}}:head-3:values`, height, text);
    redis.cli('set', `{${prefix}}:head-3:version`, 'another');
    await fleet.advance();
    await fleet.advance();
    const started = await startReplica(redis, { prefix, of: fleet.sandbox });
    await started.untilReady();
    expect(await heightOf(started)).toBe(fleet.sandbox.chain.tip.height);
    const atHeight = () => redis.cli('zrangebyscore', `{${prefix}}:head-3:values`, height, height);
    await expect.poll(atHeight).not.toBe(text);
  });
});
