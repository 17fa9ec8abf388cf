import { isDeepStrictEqual } from 'node:util';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/settings/settings.ts';
import { createMemoryStore } from '../history/memory-store.ts';
import { dataOf } from '../support/events.ts';
import { type Replica, startFleet, startReplica, timesAlone, untilAlone, untilConnected } from '../support/fleet.ts';
import { startGatewayForTest } from '../support/gateway.ts';
import { WARN } from '../support/log.ts';
import { hasRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { startRedisForTests } from './connected.ts';

const EVERYTHING = `{
  beaconHeight
  chainInfo { chainName beacon { hash validationDataRaw totalTxs } bestBlocks { hash height time } }
  poolPairs(first: 100) { nodes { id token1PoolValue token2PoolValue price } }
  pairs { poolId base target }
  tickers { poolId lastPrice baseVolume targetVolume }
}`;

/** A script that lists the keys that Redis has for ever. */
const KEYS_WITHOUT_EXPIRY = `
local endless = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  if redis.call('PTTL', key) == -1 then table.insert(endless, key) end
end
return endless
`;

async function get(replica: Replica, path: string): Promise<string> {
  const { body } = await request(new URL(path, await replica.app.listen(0, '127.0.0.1')), { reset: true });
  return body.text();
}

describe.skipIf(!hasRedis)('a fleet', () => {
  const redis = startRedisForTests();
  let fleets = 0;

  /** Replicas of a fleet of their own, each in front of a node of its own. */
  const start = (replicas = 2, config: Partial<Config> = {}) => {
    let node = 0;
    return startFleet(redis, {
      prefix: `fleet-${++fleets}`,
      replicas,
      sandbox: { nodes: replicas },
      configOf: ({ nodeUrls }) => ({ ...config, fullnodeUrl: [new URL(nodeUrls[node++] ?? '')] }),
    });
  };

  /** How many heads Redis has of heights from one to another. */
  const headsInRedis = (from: number | '-inf', to: number | '+inf') =>
    Number(redis.cli('zcount', `{fleet-${fleets}}:head-3:values`, String(from), String(to)));

  test('serves the same at each replica, and reads each block once', async () => {
    const fleet = await start(3);
    const reads = () => fleet.sandbox.nodes.reduce((sum, node) => sum + node.calls('getpdestate'), 0);
    let before: number;
    let calls: number;
    do {
      await fleet.settled();
      before = timesAlone(fleet.all);
      calls = reads();
      await fleet.advance();
      await fleet.advance();
    } while (timesAlone(fleet.all) !== before);
    expect(reads() - calls).toBe(2);
    const answer = await fleet.first.ask(EVERYTHING);
    expect(answer.errors).toBeUndefined();
    expect(answer.data.beaconHeight).toBe(fleet.sandbox.chain.tip.height);
    // The lists of the market follow at the next poll.
    const differing = async () => {
      const [first, ...rest] = await Promise.all(fleet.all.map((replica) => replica.ask(EVERYTHING)));
      return rest.find((answer) => !isDeepStrictEqual(answer, first));
    };
    await expect.poll(differing).toBeUndefined();
    // Redis forgets a fleet that has ended.
    expect(redis.cli('eval', KEYS_WITHOUT_EXPIRY, '0')).toBe('');
  });

  test('reads no states between the heads of a node that catches up', async () => {
    const fleet = await start();
    const reads = () => fleet.sandbox.nodes.reduce((sum, node) => sum + node.calls('getpdestate'), 0);
    // Its newest block is from an hour ago.
    for (const { clock } of fleet.all) clock.now += 3_600_000;
    let before: readonly number[];
    do {
      for (const replica of fleet.all) await untilConnected(replica);
      before = [timesAlone(fleet.all), reads()];
      await fleet.advance(5);
      await fleet.advance(5);
    } while (timesAlone(fleet.all) !== before[0]);
    expect(reads() - (before[1] ?? 0)).toBe(2);
  });

  test('sends the same updates at each replica, one for each height', async () => {
    const fleet = await start();
    const streams = fleet.all.map((replica) =>
      dataOf(replica.subscribe('subscription { prices { beaconHeight poolPairs { id price } } }')),
    );
    const next = () => Promise.all(streams.map(async (stream) => (await stream.next()).value));
    const updates = [await next()];
    for (let blocks = 0; blocks < 3; blocks++) {
      fleet.sandbox.advance();
      updates.push(await next());
    }
    const { height } = fleet.sandbox.chain.tip;
    expect(updates.map(([first]) => first.prices.beaconHeight)).toEqual([height - 3, height - 2, height - 1, height]);
    for (const [first, second] of updates) expect(second).toEqual(first);
    await Promise.all(streams.map((stream) => stream.return(undefined)));
  });

  /** What a subscriber who resumes gets up to the tip. */
  async function resumeAt(replica: Replica, afterHeight: number, tip: number): Promise<unknown[]> {
    const received: unknown[] = [];
    const query = `subscription { prices(afterHeight: ${afterHeight}) { beaconHeight previousHeight } }`;
    for await (const { prices } of dataOf(replica.subscribe(query))) {
      received.push(prices);
      if (prices.beaconHeight === tip) break;
    }
    return received;
  }

  const updatesOf = (heights: readonly number[]) =>
    heights.map((beaconHeight) => ({ beaconHeight, previousHeight: beaconHeight - 1 }));

  test('lets a subscriber resume at a replica that has just started', async () => {
    const fleet = await start();
    for (let blocks = 0; blocks < 4; blocks++) await fleet.advance();
    const { height } = fleet.sandbox.chain.tip;
    const prefix = `fleet-${fleets}`;
    // On a busy machine, Redis may not reply in time. Then a replica starts alone, and has only its own heads.
    const resume = async () => resumeAt(await startReplica(redis, { prefix, of: fleet.sandbox }), height - 3, height);
    await expect.poll(resume).toEqual(updatesOf([height - 2, height - 1, height]));
  });

  test('stores as many heads in Redis as a subscriber can resume after', async () => {
    const fleet = await start(2, { maxResumedHeights: 3 });
    for (let blocks = 0; blocks < 5; blocks++) await fleet.advance();
    await expect.poll(() => headsInRedis('-inf', '+inf')).toBe(3);
  });

  test('stores the block that has replaced another one, and not both', async () => {
    const fleet = await start();
    await fleet.advance();
    fleet.sandbox.replaceTip();
    const { height, hash } = fleet.sandbox.chain.tip;
    await until(() => fleet.all.every(({ app }) => app.service.sources.head.newest()?.hash === hash));
    await expect.poll(() => headsInRedis(height, height)).toBe(1);
  });

  test('has no lag at a replica that has just started: the head that it receives can be as old as the block', async () => {
    const fleet = await start();
    const started = await startReplica(redis, { prefix: `fleet-${fleets}`, of: fleet.sandbox });
    await untilConnected(started);
    await started.untilReady();
    const lag = async () => Number(/^pdex_fleet_lag_seconds (.*)$/m.exec(await get(started, '/metrics'))?.[1]);
    expect(await lag()).toBe(0);
    // It can be the one that reads.
    const advance = async () => {
      await fleet.advance();
      await started.untilHeight(fleet.sandbox.chain.tip.height);
      return lag();
    };
    await expect.poll(advance).toBeGreaterThan(0);
  });

  test('lets a subscriber resume at a replica that was alone when it started', async () => {
    const fleet = await start();
    for (let blocks = 0; blocks < 4; blocks++) await fleet.advance();
    const { height } = fleet.sandbox.chain.tip;
    const prefix = `fleet-${fleets}`;
    const started = await startReplica(redis, { prefix, of: fleet.sandbox, isCut: true });
    await started.untilReady();
    await untilAlone(started);
    started.link.restore();
    await untilConnected(started);
    // On a busy machine, it can be alone again for a moment.
    const resume = () => resumeAt(started, height - 3, height);
    await expect.poll(resume).toEqual(updatesOf([height - 2, height - 1, height]));
  });

  test('has all that was published before when a subscriber resumes, also at a replica that is behind', async () => {
    const fleet = await start();
    const { first, second } = fleet;
    await fleet.advance();
    const { height } = fleet.sandbox.chain.tip;
    const { head } = second.app.service.sources;
    const tip = () => fleet.sandbox.chain.tip.height;
    // It gets each head with a few replies, and has two seconds for all of them.
    second.link.delay(30);
    let alone: number;
    do {
      await untilConnected(second);
      alone = timesAlone([second]);
      // A busy machine may take longer than the link: then the follower is not behind, and another block is made.
      do {
        fleet.sandbox.advance();
        await first.untilHeight(tip());
      } while (tip() < height + 3 || head.newest()?.beaconHeight === tip());
      await head.subscribeAfter(height);
    } while (timesAlone([second]) !== alone);
    expect(head.newest()?.beaconHeight).toBe(tip());
    const missed = Array.from({ length: tip() - height }, (_, n) => height + 1 + n);
    expect(await resumeAt(second, height, tip())).toEqual(updatesOf(missed));
  });

  test('shows the fleet to operators and clients', async () => {
    const fleet = await start();
    await fleet.advance();
    const query = '{ service { fleet { replicas connected } } }';
    // On a busy machine, it can be alone for a moment at any time.
    const fleetAt = async (replica: Replica) => (await replica.ask(query)).data.service.fleet;
    for (const replica of fleet.all)
      await expect.poll(() => fleetAt(replica)).toEqual({ replicas: 2, connected: true });
    await expect
      .poll(async () => JSON.parse(await get(fleet.second, '/ready')))
      .toEqual({ status: 'ready', replicas: 2, sandbox: true, exchangeVersion: 'V1' });
    const metrics = expect.poll(() => get(fleet.second, '/metrics'));
    await metrics.toContain('pdex_fleet_replicas 2');
    await metrics.toContain('pdex_fleet_connected 1');
    const bytes = async () => (await Promise.all(fleet.all.map((replica) => get(replica, '/metrics')))).join('\n');
    await expect.poll(bytes).toMatch(/^pdex_fleet_bytes_total{kind="head",direction="in"} [1-9]/m);
    await expect.poll(bytes).toMatch(/^pdex_fleet_bytes_total{kind="head",direction="out"} [1-9]/m);
    await expect.poll(bytes).toMatch(/^pdex_fleet_lag_seconds [\d.e-]+$/m);
  });

  test('measures ages without comparing the clocks of two replicas', async () => {
    const fleet = await start();
    const { second } = fleet;
    second.clock.now += 5 * 60_000;
    await fleet.advance();
    const FRESHNESS = '{ service { head { ageMs stale } marketData { ageMs stale } } }';
    // The lists of the market follow at the next poll.
    await expect.poll(async () => (await second.ask(FRESHNESS)).data.service.marketData.stale).toBe(false);
    const { head, marketData } = (await second.ask(FRESHNESS)).data.service;
    expect(head.stale).toBe(false);
    expect(head.ageMs).toBeLessThan(60_000);
    expect(marketData.ageMs).toBeLessThan(60_000);
  });

  test('loses no height when a replica is closed', async () => {
    const fleet = await start();
    const { first, second } = fleet;
    await fleet.settled();
    const stream = dataOf(second.subscribe('subscription { prices { beaconHeight } }'));
    const next = async (): Promise<number> => (await stream.next()).value.prices.beaconHeight;
    const before = await next();
    await first.close();
    fleet.sandbox.advance(3);
    const heights: number[] = [];
    while (heights.at(-1) !== fleet.sandbox.chain.tip.height) heights.push(await next());
    expect(heights).toEqual([1, 2, 3].map((n) => before + n));
    await until(() => second.status().replicas === 1);
    await stream.return(undefined);
  });

  test('whose replicas record in SQLite warns that each of them has its own history', async () => {
    const historyDatabase = { kind: 'sqlite', path: 'the one of the store' } as const;
    const gateway = { store: createMemoryStore(), config: { historyDatabase, redisUrl: [redis.url] } };
    const { lines } = await startGatewayForTest(gateway);
    const warning = { level: WARN, msg: expect.stringContaining('each replica of the fleet has its own history') };
    expect(lines).toContainEqual(expect.objectContaining(warning));
  });
});
