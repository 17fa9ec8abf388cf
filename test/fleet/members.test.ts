import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startRecording } from '../../src/compose/history.ts';
import { createMembers } from '../../src/fleet/members.ts';
import type { Redis } from '../../src/fleet/redis.ts';
import { HistoryDatabaseError } from '../../src/history/store.ts';
import type { Head } from '../../src/live/chain/head.ts';
import type { Sources } from '../../src/loaders/sources.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import type { Config } from '../../src/settings/settings.ts';
import { endlessBlock, FIRST_HEIGHT } from '../history/endless-chain.ts';
import { createMemoryStore } from '../history/memory-store.ts';
import { headOf } from '../live/chain/heads.ts';
import { startFleet, startReplica } from '../support/fleet.ts';
import { createKeptLog } from '../support/log.ts';
import { hasRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { connectPatiently, startRedisForTests } from './connected.ts';

/** A replica that is the recorder, of a fleet of this size. Redis takes 400 ms to reply to its first report, and never to another one. */
async function startRecorder(replicas: number) {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  let isAvailable = true;
  const first = Promise.withResolvers<readonly number[]>();
  const replies = [first.promise];
  const redis: Partial<Redis> = {
    fleetKey: (name) => name,
    isAvailable: () => isAvailable,
    ready: async () => true,
    onChange() {},
    run: () => replies.shift() ?? new Promise(() => {}),
  };
  const members = createMembers(redis as Redis, () => {});
  vi.advanceTimersByTime(400);
  first.resolve([replicas, 1]);
  await new Promise(setImmediate);
  return {
    members,
    lose() {
      isAvailable = false;
    },
  };
}

test('a recorder that cannot report is no longer the recorder after three seconds, when another one can be it', async () => {
  const { members } = await startRecorder(2);
  vi.advanceTimersByTime(2_599);
  expect(members.isRecorder()).toBe(true);
  vi.advanceTimersByTime(1);
  expect(members.isRecorder()).toBe(false);
});

test.each([
  ['who leaves does not record', 2, false],
  ['who is the last one records until its end', 1, true],
])('%s', async (_, replicas, isRecorder) => {
  const { members } = await startRecorder(replicas);
  members.leave();
  expect(members.isRecorder()).toBe(isRecorder);
  expect(vi.getTimerCount()).toBe(0);
});

test('a replica that cannot use Redis is alone, and records', async () => {
  const { members, lose } = await startRecorder(3);
  expect(members.count()).toBe(3);
  vi.advanceTimersByTime(3_000);
  lose();
  expect([members.count(), members.isRecorder()]).toEqual([1, true]);
});

test('a replica whose nodes do not respond when it starts knows of no other chain', async () => {
  const { members } = await startRecorder(1);
  expect(await members.otherChain({ poll: () => Promise.reject(new Error('no node')) })).toBeUndefined();
});

/** What a replica records, and the heights that it reads from its node: those below its first head are missing. */
function recordingOf({ isRecorder = true, database = { kind: 'memory' }, ...state }: RecordingState) {
  const store = createMemoryStore();
  const calls: number[] = [];
  const heads = Array.from({ length: 6 }, (_, n) => recordedHead(FIRST_HEIGHT + 10 + n, !state.isLimited));
  const recording = startRecording({
    config: { ...readFleetConfig(), historyDatabase: database },
    isSandbox: true,
    log: createKeptLog().log,
    createStore: () => store,
    readTimeoutMs: undefined,
    sources: {
      head: { isStale: () => state.isStale === true, current: () => heads.at(-1) },
      pastStates: {
        isBusy: () => state.isBusy === true,
        isComplete: () => true,
        async readInBackground(height: number) {
          calls.push(height);
          return endlessBlock(height).exchange;
        },
      },
      trades: { of: () => undefined },
    } as unknown as Sources,
    fleet: { isRecorder: () => isRecorder, recordIf() {} },
  });
  onTestFinished(recording.close);
  for (const head of heads) recording.add(head);
  return { store, calls, hasRecorded: () => store.order.length > 0 && calls.length > 0 };
}

type RecordingState = {
  readonly isRecorder?: boolean;
  readonly database?: Config['historyDatabase'];
  readonly isStale?: boolean;
  readonly isBusy?: boolean;
  readonly isLimited?: boolean;
};

const readFleetConfig = () =>
  readConfig([], {
    FULLNODE_URL: 'http://127.0.0.1:1',
    HISTORY_BACKFILL_HOURS: '1',
    TRADES_BACKFILL_HOURS: '0',
  }) as Config;

function recordedHead(height: number, isAtRest: boolean): Head {
  const { hash = '', time, exchange } = endlessBlock(height);
  const head = headOf(height, hash);
  const source = { ...head.source, isAtRest: () => isAtRest };
  return { ...head, time, exchange, source, previousHash: endlessBlock(height - 1).hash };
}

test.each([
  ['with PostgreSQL, only the recorder writes', { kind: 'postgresql', url: 'postgresql://a/b' }, false],
  ['with a database of its own, each replica writes', { kind: 'sqlite', path: 'history.db' }, true],
] as const)('%s, and only the recorder reads older heights', async (_, database, writes) => {
  const other = recordingOf({ database, isRecorder: false });
  const recorder = recordingOf({ database });
  await until(recorder.hasRecorded);
  if (writes) await until(() => other.store.order.length > 0);
  expect([other.store.order.length > 0, other.calls]).toEqual([writes, []]);
});

test('the recorder reads no older heights while its node is stale, busy or limited', async () => {
  const paused = [{ isStale: true }, { isBusy: true }, { isLimited: true }].map(recordingOf);
  await until(recordingOf({}).hasRecorded);
  expect(paused.map(({ calls }) => calls)).toEqual([[], [], []]);
});

describe.skipIf(!hasRedis)('the replicas of a fleet', () => {
  const server = startRedisForTests();

  test('have one recorder, which reports until it leaves: then another one takes over', async () => {
    const start = async () => {
      const members = createMembers(await connectPatiently(server), () => {});
      onTestFinished(members.leave);
      return members;
    };
    // One that was there before the clock of Redis was set back.
    server.cli('zadd', '{test}:replicas', '9e15', 'gone');
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
