import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { msUntilAvailable, type RateLimit } from '../../src/domain/token-bucket.ts';
import type { Redis } from '../../src/fleet/redis.ts';
import { createSharedAccounts } from '../../src/fleet/shared-accounts.ts';
import { createSettledBuckets } from '../../src/server/clients/settled-buckets.ts';
import { hasRedis, linkRedis, type RedisServer, startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { connectForTest } from './connected.ts';

/** So slow that no test regains a point. */
const RATE: RateLimit = { pointsPerSecond: 1, burst: 1_000 };

/** One replica, which charges points as long as the client has them. */
function replicaOf(redis: Redis, rate = RATE) {
  let settlements = 0;
  let replicas: number | undefined;
  const accounts = createSharedAccounts(redis, (count) => {
    settlements += 1;
    replicas = count;
  });
  const buckets = createSettledBuckets({ rate, accounts, now: Date.now });
  onTestFinished(buckets.close);
  return {
    settlements: () => settlements,
    replicas: () => replicas,
    /** @returns whether the client had the points */
    charge(client: string, points: number): boolean {
      const bucket = buckets.of(client);
      const isEnough = msUntilAvailable(bucket.level(), rate, points) === 0;
      if (isEnough) bucket.take(points);
      return isEnough;
    },
  };
}

describe.skipIf(!hasRedis && process.env['CI'] === undefined)('the accounts of clients', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.close());
  beforeEach(() => server.flush());

  async function startReplicas(count: number) {
    const connections = await Promise.all(Array.from({ length: count }, () => connectForTest(server)));
    const replicas = connections.map((redis) => replicaOf(redis));
    await until(() => replicas.every((replica) => replica.replicas() === count));
    return replicas;
  }

  /**
   * Charges a point at each replica, a few in each turn of the event loop, until the client has had its burst, and on until
   * all have refused for a while.
   */
  async function hammer(replicas: readonly ReturnType<typeof replicaOf>[], client: string): Promise<number> {
    let granted = 0;
    let grantedAt = performance.now();
    while (granted < RATE.burst || performance.now() - grantedAt < 200) {
      for (let n = 0; n < 10; n++)
        for (const replica of replicas) {
          if (!replica.charge(client, 1)) continue;
          granted += 1;
          grantedAt = performance.now();
        }
      await new Promise(setImmediate);
    }
    return granted;
  }

  test.each([1, 2, 4])('give a client its burst across %i replicas', async (count) => {
    const replicas = await startReplicas(count);
    expect(await hammer(replicas, '203.0.113.1')).toBeLessThanOrEqual(1_300);
  });

  test('give a client its whole burst at any of the replicas', async () => {
    const [one, ...others] = await startReplicas(4);
    await hammer(one ? [one] : [], '203.0.113.1');
    for (const other of others) other.charge('203.0.113.1', 1);
    await until(() => others.every((other) => !other.charge('203.0.113.1', 1)));
  });

  test('have a debt if all replicas gave too much, and regain the rate and no more', async () => {
    const rate = { pointsPerSecond: 1_000, burst: 100 };
    const connections = await Promise.all(Array.from({ length: 4 }, () => connectForTest(server)));
    const replicas = connections.map((redis) => replicaOf(redis, rate));
    await until(() => replicas.every((replica) => replica.replicas() === 4));
    const startedAt = performance.now();
    let granted = 0;
    while (performance.now() - startedAt < 1_500) {
      for (const replica of replicas) if (replica.charge('a', 1)) granted += 1;
      await new Promise(setImmediate);
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    expect(granted).toBeLessThanOrEqual(1_000 * seconds + 130);
  });

  test('settle thousands of charges in a few exchanges', async () => {
    const [one] = await startReplicas(1);
    const before = one?.settlements() ?? 0;
    const calls = () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(server.cli('info', 'commandstats'))?.[1]);
    const callsBefore = calls();
    const startedAt = performance.now();
    for (let turn = 0; turn < 100; turn++) {
      for (let n = 0; n < 100; n++) one?.charge(`client ${n}`, 1);
      await new Promise(setImmediate);
    }
    const exchanges = 2 + (performance.now() - startedAt) / 100;
    expect((one?.settlements() ?? 0) - before).toBeLessThanOrEqual(exchanges);
    expect(calls() - callsBefore).toBeLessThanOrEqual(exchanges);
  });

  test('are under a hash, and expire when they are full again', async () => {
    const [one] = await startReplicas(1);
    one?.charge('203.0.113.1', 10);
    const accounts = () => server.cli('--scan', '--pattern', '{test}:account:*').split('\n');
    await until(() => accounts()[0] !== '');
    const [key = ''] = accounts();
    expect(key).toMatch(/^\{test\}:account:1:1000:[\w-]{22}$/);
    expect(server.cli('get', key)).toMatch(/^99\d{4} \d{13}$/);
    const ttl = Number(server.cli('pttl', key));
    expect(ttl).toBeGreaterThan(5_000);
    expect(ttl).toBeLessThanOrEqual(10_000);
    expect(server.cli('--scan', '--pattern', '*203*')).toBe('');
  });

  test('work on whatever is stored in place of one', async () => {
    const [one] = await startReplicas(2);
    const keys = () => server.cli('--scan', '--pattern', '{test}:account:*').split('\n').filter(Boolean);
    const far = '9'.repeat(15);
    const damages: readonly ((key: string) => void)[] = [
      (key) => void server.cli('set', key, 'damaged'),
      (key) => void server.cli('eval', "redis.call('DEL', KEYS[1]) redis.call('LPUSH', KEYS[1], 'x')", '1', key),
      (key) => void server.cli('set', key, `${far}${far} 0`),
      (key) => void server.cli('set', key, `500000 ${far}`),
      (key) => void server.cli('set', key, `-${far}${far} ${far}`),
      () => server.flush(),
    ];
    for (const [index, damage] of damages.entries()) {
      const before = new Set(keys());
      const added = () => keys().find((each) => !before.has(each));
      one?.charge(`client ${index}`, 100);
      await until(() => added() !== undefined);
      const key = added() ?? '';
      damage(key);
      one?.charge(`client ${index}`, 100);
      const isAccount = () => {
        const [, left, at] = /^(-?\d+) (\d{13})$/.exec(server.cli('get', key)) ?? [];
        // What the replica has counted itself is not forgotten.
        return at !== undefined && Number(left) <= 801_000;
      };
      await until(isAccount);
    }
  });

  test('count alone while Redis is cut off, and together again afterwards', async () => {
    const link = await linkRedis(server);
    onTestFinished(link.close);
    const one = replicaOf(await connectForTest(link));
    const other = replicaOf(await connectForTest(server));
    await until(() => one.replicas() === 2 && other.replicas() === 2);
    link.cut();
    await until(() => one.replicas() === undefined);
    let alone = 0;
    while (one.charge('a', 100)) alone += 1;
    expect(alone).toBe(10);
    link.restore();
    await until(() => one.replicas() === 2);
    expect(one.charge('b', 900)).toBe(true);
    await until(() => {
      other.charge('b', 1);
      return !other.charge('b', 150);
    });
  });
});
