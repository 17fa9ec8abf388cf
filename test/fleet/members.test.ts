import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createMembers } from '../../src/fleet/members.ts';
import { HistoryDatabaseError } from '../../src/history/store.ts';
import { createMemoryStore } from '../history/memory-store.ts';
import { startFleet, startReplica } from '../support/fleet.ts';
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

  test('have no recorder that cannot record: another one takes over, and it can be the recorder again', async () => {
    const able = [true, true];
    const start = async (_: boolean, index: number) => {
      const members = createMembers(await connectPatiently(server), () => {});
      members.recordIf(() => able[index] === true);
      onTestFinished(members.leave);
      return members;
    };
    const both = await Promise.all(able.map(start));
    server.cli('pexpire', '{test}:recorder', '1');
    const recorders = () => both.flatMap(({ isRecorder }, index) => (isRecorder() ? [index] : []));
    await expect.poll(recorders).toHaveLength(1);
    const [first = 0] = recorders();

    able[first] = false;
    await expect.poll(recorders).toEqual([1 - first]);
    able.fill(false);
    await expect.poll(recorders).toEqual([]);
    expect(server.cli('exists', '{test}:recorder').trim()).toBe('0');
    able[first] = true;
    await expect.poll(recorders).toEqual([first]);
  });

  test('can record with a history, as long as it can read it', async () => {
    const prefix = 'history';
    const { sandbox, first } = await startFleet(server, { prefix, replicas: 1 });
    const store = createMemoryStore();
    const second = await startReplica(server, { prefix, of: sandbox, store });
    const recorders = () => [first, second].map(({ app }) => app.fleet?.isRecorder());
    await expect.poll(recorders).toEqual([false, true]);
    store.failure = new HistoryDatabaseError('no connection');
    // A head makes the recorder use the database.
    sandbox.advance();
    await expect.poll(recorders).toEqual([false, false]);
    store.failure = undefined;
    await expect.poll(recorders).toEqual([false, true]);
  });
});
