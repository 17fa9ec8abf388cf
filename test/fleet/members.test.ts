import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createMembers } from '../../src/fleet/members.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { connectPatiently } from './connected.ts';

describe.skipIf(!hasRedis)('the replicas of a fleet', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.close());

  test('have one recorder, which reports until it leaves: then another one takes over', async () => {
    const start = async () => {
      const members = createMembers(await connectPatiently(server), () => {});
      onTestFinished(members.leave);
      return members;
    };
    const all = await Promise.all([start(), start(), start()]);
    const recorder = () => {
      const [one, ...others] = all.filter(({ isRecorder }) => isRecorder());
      return others.length === 0 ? one : undefined;
    };
    await until(() => all.every(({ count }) => count() === 3));
    await expect.poll(recorder).toBeDefined();

    // The next report of the recorder sets again when it would be gone.
    server.cli('persist', '{test}:recorder');
    await expect.poll(() => Number(server.cli('pttl', '{test}:recorder'))).toBeGreaterThan(0);
    await expect.poll(recorder).toBeDefined();

    const left = recorder();
    left?.leave();
    server.cli('pexpire', '{test}:recorder', '1');
    await expect.poll(() => ![undefined, left].includes(recorder())).toBe(true);
  });
});
