import { describe, expect, onTestFinished, test } from 'vitest';
import { collect, dataOf } from '../support/events.ts';
import { startFleet, startReplica, type TestFleet, untilAlone, untilConnected } from '../support/fleet.ts';
import { startSandbox } from '../support/gateway.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { startRedisForTests } from './connected.ts';

describe.skipIf(!hasRedis)('when Redis fails', () => {
  const redis = startRedisForTests();
  let fleets = 0;

  const start = (replicas?: number) =>
    startFleet(redis, { prefix: `faults-${++fleets}`, ...(replicas && { replicas }) });

  const untilAllAlone = (fleet: TestFleet) => Promise.all(fleet.all.map(untilAlone));

  type Received = readonly (readonly number[])[];

  /** Collects the heights that subscribers of `prices` get, one at each replica. Each has got the first one. */
  async function subscribeTo({ all }: TestFleet): Promise<Received> {
    const received = all.map((replica) => {
      const updates = replica.subscribe('subscription { prices { beaconHeight } }');
      return collect(updates, ({ prices }): number => prices.beaconHeight);
    });
    await until(() => received.every((heights) => heights.length > 0));
    return received;
  }

  /** Waits until they have got the tip, and requires that they have got each height below it. */
  async function expectAllHeights({ sandbox }: TestFleet, received: Received): Promise<void> {
    await until(() => received.every((heights) => heights.at(-1) === sandbox.chain.tip.height));
    const isConsecutive = (heights: readonly number[]) =>
      heights.every((height, n) => n === 0 || height === (heights[n - 1] ?? 0) + 1);
    for (const heights of received) expect(heights).toSatisfy(isConsecutive);
  }

  /** Makes blocks after a fault, of which no subscriber loses one, until the replicas read together again. */
  async function expectRecovery(fleet: TestFleet, received: Received): Promise<void> {
    fleet.sandbox.advance();
    await expectAllHeights(fleet, received);
    await fleet.settled();
    await fleet.advance();
    await expectAllHeights(fleet, received);
  }

  test('it is killed and comes back without keys: each replica works alone, then they read together again', async () => {
    const fleet = await start();
    const received = await subscribeTo(fleet);
    await redis.kill();
    await untilAllAlone(fleet);
    await fleet.advance();
    await expectAllHeights(fleet, received);
    await redis.restart();
    await fleet.settled();
    await fleet.advance();
    await expectAllHeights(fleet, received);
    // A replica that starts now can resume subscribers: what a replica remembers is published again.
    await until(() => Number(redis.cli('zcard', `{faults-${fleets}}:head-3:values`)) > 1);
  });

  test.each([
    ['comes back without keys', () => redis.restart()],
    ['is wiped', () => redis.flush()],
  ])('it %s, and no block follows: a replica that starts then serves all heads', async (_, lose) => {
    const fleet = await start();
    await fleet.advance();
    await lose();
    const prefix = `faults-${fleets}`;
    await until(() => Number(redis.cli('zcard', `{${prefix}}:head-3:values`)) > 1);
    await fleet.settled();
    const started = await startReplica(redis, { prefix, of: fleet.sandbox });
    await started.untilReady();
    const { height } = fleet.sandbox.chain.tip;
    const resumed = dataOf(started.subscribe(`subscription { prices(afterHeight: ${height - 1}) { beaconHeight } }`));
    expect((await resumed.next()).value).toEqual({ prices: { beaconHeight: height } });
    await resumed.return(undefined);
  });

  test('it is stopped without closing connections: nobody waits for it', async () => {
    const fleet = await start();
    const received = await subscribeTo(fleet);
    redis.pause();
    await untilAllAlone(fleet);
    await fleet.advance();
    // Another gateway can have served the first of two blocks, and its clients can resume here.
    await fleet.advance(2);
    await expectAllHeights(fleet, received);
    for (const replica of fleet.all)
      expect((await replica.ask('{ beaconHeight }')).data.beaconHeight).toBe(fleet.sandbox.chain.tip.height);
    redis.resume();
    await fleet.settled();
    await fleet.advance();
  });

  test('it is slow for one replica: that one works alone, and reads together again afterwards', async () => {
    const fleet = await start();
    const { second } = fleet;
    second.link.delay(700);
    await untilAlone(second);
    await fleet.advance();
    await untilAlone(second);
    second.link.delay(0);
    await untilConnected(second);
  });

  test('it is wiped: no height is lost', async () => {
    const fleet = await start();
    const received = await subscribeTo(fleet);
    redis.flush();
    await expectRecovery(fleet, received);
  });

  test('it has failed over to a replica of its own', async () => {
    const second = await startRedis(['--replicaof', '127.0.0.1', String(redis.port)]);
    onTestFinished(second.close);
    const fleet = await start();
    const received = await subscribeTo(fleet);
    await until(() => second.cli('exists', `{faults-${fleets}}:head-3:values`) === '1');
    second.cli('replicaof', 'no', 'one');
    for (const replica of fleet.all) replica.link.lead(second);
    await expectRecovery(fleet, received);
  });

  test('it is not there from the start: each replica works alone, and they read together when it is', async () => {
    const late = await startRedis();
    onTestFinished(late.close);
    await late.kill();
    const sandbox = await startSandbox();
    onTestFinished(sandbox.close);
    const replicas = [0, 1].map(() => startReplica(late, { prefix: 'late', of: sandbox }));
    const all = await Promise.all(replicas);
    await Promise.all(all.map((replica) => replica.untilReady()));
    expect(all.map(({ status }) => status().isConnected)).toEqual([false, false]);
    await late.restart();
    await until(() => all.every(({ status }) => status().isConnected && status().replicas === 2));
    sandbox.advance();
    await Promise.all(all.map((replica) => replica.untilHeight(sandbox.chain.tip.height)));
  });
});
