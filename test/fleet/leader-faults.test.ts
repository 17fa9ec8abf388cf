import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Replica, startFleet, startReplica, untilRole } from '../support/fleet.ts';
import { startSandbox } from '../support/gateway.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

describe.skipIf(!hasRedis)('when replicas fail', () => {
  let redis: RedisServer;
  let fleets = 0;
  let prefix = '';
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.close());

  /** Two replicas, each in front of a node of its own. */
  async function start(options: { readonly leaseMs?: number } = {}) {
    let node = 0;
    prefix = `replicas-${++fleets}`;
    const fleet = await startFleet(redis, {
      ...options,
      prefix,
      sandbox: { nodes: 2 },
      configOf: ({ nodeUrls }) => ({ fullnodeUrls: [new URL(nodeUrls[node++] ?? '')] }),
    });
    const leader = fleet.leader();
    const [follower] = fleet.followers();
    const nodeOf = (replica: Replica) => {
      const found = fleet.sandbox.nodes[fleet.all.indexOf(replica)];
      if (found === undefined) throw new Error('a replica without a node');
      return found;
    };
    if (follower === undefined) throw new Error('nobody follows');
    return { fleet, leader, follower, nodeOf };
  }

  const heightOf = async (replica: Replica) => (await replica.ask('{ beaconHeight }')).data.beaconHeight;

  test('a leader that has lost its lease publishes nothing over its successor, and serves what that publishes', async () => {
    const { fleet, leader } = await start();
    // As after a pause of the process: another replica has the lease, and this one does not know it yet.
    redis.cli('set', `{${prefix}}:lease`, '9999999999999:another', 'px', '3600000');
    const before = redis.cli('xlen', `{${prefix}}:heads`);
    fleet.sandbox.advance();
    await until(() => leader.role() !== 'LEADER');
    expect(redis.cli('xlen', `{${prefix}}:heads`)).toBe(before);
    redis.cli('del', `{${prefix}}:lease`);
    await fleet.settled();
    await fleet.advance();
    expect(await heightOf(leader)).toBe(fleet.sandbox.chain.tip.height);
  });

  test('a leader that is cut off from the nodes makes room for a replica that is not, and serves on', async () => {
    const { fleet, leader, follower, nodeOf } = await start({ leaseMs: 1_500 });
    nodeOf(leader).faults.set({ kind: 'status', status: 503 });
    await untilRole(follower, 'LEADER');
    await untilRole(leader, 'FOLLOWER');
    await fleet.advance();
    const query = '{ beaconHeight service { head { stale } upstreams { upstream healthy } } }';
    const answer = async () => (await leader.ask(query)).data;
    await expect.poll(answer).toEqual({
      beaconHeight: fleet.sandbox.chain.tip.height,
      service: {
        head: { stale: false },
        upstreams: [
          { upstream: 'NODE', healthy: true },
          { upstream: 'MARKET_DATA', healthy: true },
        ],
      },
    });
  });

  test('while no replica can read its node, all say so with the error of the leader, and recover', async () => {
    const { fleet, follower } = await start();
    for (const node of fleet.sandbox.nodes) node.faults.set({ kind: 'status', status: 503 });
    const status = async () => (await follower.ask('{ service { head { stale } } }')).data.service.head.stale;
    await expect.poll(status).toBe(true);
    for (const node of fleet.sandbox.nodes) node.faults.clear();
    await fleet.advance();
    await expect.poll(status).toBe(false);
  });

  test('a replica that is cut off from Redis and not from its node works alone, and never serves a lower height', async () => {
    const { fleet, follower } = await start();
    follower.link.cut();
    await untilRole(follower, 'ALONE');
    await fleet.advance(2);
    expect(await heightOf(follower)).toBe(fleet.sandbox.chain.tip.height);
    follower.link.restore();
    await untilRole(follower, 'FOLLOWER');
    await fleet.advance();
    expect(await heightOf(follower)).toBe(fleet.sandbox.chain.tip.height);
  });

  test('a replica of another chain is refused', async () => {
    redis.cli('set', '{strangers}:chain', 'another-chain');
    const sandbox = await startSandbox();
    onTestFinished(sandbox.close);
    const stranger = await startReplica(redis, { prefix: 'strangers', of: sandbox });
    await stranger.untilReady();
    await until(() => stranger.lines.some(({ chain }) => chain === 'another-chain'));
    expect(stranger.role()).toBe('ALONE');
    expect(await heightOf(stranger)).toBe(sandbox.chain.tip.height);
    expect(redis.cli('exists', '{strangers}:lease')).toBe('0');
  });

  test.each([
    ['of another version', 'ff000000000000', 'version'],
    ['damaged', '0100000000010000', 'damaged'],
    ['empty', '', 'damaged'],
  ])(
    'a message that is %s is ignored, and the follower works alone until it can read the next',
    async (_, hex, reason) => {
      const { fleet, follower } = await start();
      const escaped = hex.replace(/../g, (byte) => `\\${String(Number.parseInt(byte, 16)).padStart(3, '0')}`);
      redis.cli('eval', `return redis.call('XADD', KEYS[1], '*', 'm', "${escaped}")`, '1', `{${prefix}}:heads`);
      await untilRole(follower, 'ALONE');
      const refused = expect.objectContaining({ level: 40, stream: 'heads', reason });
      await expect.poll(() => follower.lines).toContainEqual(refused);
      await fleet.advance();
      await untilRole(follower, 'FOLLOWER');
      await fleet.advance();
      expect(follower.app.fleet?.status().refused.get(reason as 'damaged')).toBeGreaterThan(0);
    },
  );
});
