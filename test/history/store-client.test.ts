import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createSqliteStore } from '../../src/history/sqlite-store.ts';
import type { HistoryStore } from '../../src/history/store.ts';
import { createHistoryStore, type HistoryStoreOptions } from '../../src/history/store-client.ts';
import { blockOf, POOL_IDS, START, storedOf } from './chains.ts';

async function createStore(options: Partial<HistoryStoreOptions> = {}): Promise<HistoryStore> {
  const store = createHistoryStore({ database: { kind: 'memory' }, rawDays: 7, ...options });
  onTestFinished(() => store.close());
  await store.useChain('test');
  return store;
}

/** The threads that the test starts. */
function startedThreads(): readonly Worker[] {
  const workers: Worker[] = [];
  const add = (worker: Worker) => void workers.push(worker);
  process.on('worker', add);
  onTestFinished(() => void process.off('worker', add));
  return workers;
}

const chain = [1, 2, 3].map((height) =>
  blockOf(
    height,
    START + height * 40_000,
    new Map(Array.from({ length: height }, (_, pool) => [pool, [BigInt(height), 2n ** 64n - 1n]])),
  ),
);

/** The states of the chain as stores return them. */
const states = chain.map(({ exchange }) => storedOf(exchange));

test('the client of the thread gives back the states that it recorded', async () => {
  const store = await createStore();
  await store.record(chain.toReversed());
  const [, second, third] = states;
  expect(await store.stateAt(2)).toEqual(second);
  expect(await store.stateAt(9)).toEqual(third);
  expect(await store.stateAt(0)).toBeUndefined();
  expect(third?.reserves.length).toBe(6);

  const { value } = await store.candles({ poolIds: POOL_IDS, interval: 'ONE_DAY', upTo: 9, last: 10 });
  expect(value.get(POOL_IDS[0] ?? '')?.[0]?.close).toEqual({ beaconHeight: 3, reserve1: 3n, reserve2: 2n ** 64n - 1n });
});

test('the client of the thread deletes heights from the top', async () => {
  const store = await createStore();
  await store.record(chain);
  const [block] = await store.recentBlocks({ upTo: 2, last: 1 });
  if (block === undefined) throw new Error('nothing is recorded');
  expect(await store.deleteFrom(block)).toEqual([2, 3]);
  expect(await store.coverage(1)).toMatchObject({ heights: 1, last: { beaconHeight: 1 } });
});

test('the thread is nicer than the process, however nice that is', async ({ skip }) => {
  if (process.platform !== 'linux') skip('only Linux has a niceness of threads');
  const threads = () => readdirSync('/proc/self/task');
  const before = threads();
  await createStore();
  const added = threads().filter((id) => !before.includes(id));
  // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: the 17th field after the name.
  const niceOf = (id: string) =>
    readFileSync(`/proc/self/task/${id}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')[16];
  expect(added.map(niceOf)).toContain(String(Math.min(getPriority() + 5, 19)));
});

test('a read comes between the transactions of a deletion', async () => {
  // In this thread: another one may have deleted everything when it receives the read.
  const store = createSqliteStore(undefined, { rawDays: 7 });
  onTestFinished(() => store.close());
  await store.useChain('test');
  const ended: string[] = [];
  const deletion = store.prune(START).then(() => ended.push('deletion'));
  await nextTurn();
  await store.coverage(0).then(() => ended.push('read'));
  await deletion;
  expect(ended).toEqual(['read', 'deletion']);
});

test('two stores in one process do not disturb each other, and closed ones fail', async () => {
  const [one, other] = [await createStore(), await createStore()];
  await one.record(chain);
  expect(await other.coverage(1)).toBeUndefined();
  expect((await one.coverage(1))?.heights).toBe(3);
  await one.close();
  await expect(one.coverage(1)).rejects.toMatchObject({ name: 'HistoryDatabaseError', isPermanent: false });
  expect(await other.coverage(1)).toBeUndefined();
});

test('nothing can be read before the chain is known, and one store is of one chain', async () => {
  const store = createHistoryStore({ database: { kind: 'memory' }, rawDays: 7 });
  onTestFinished(() => store.close());
  await expect(store.coverage(1)).rejects.toMatchObject({ name: 'HistoryDatabaseError', isPermanent: false });
  await store.useChain('test');
  expect(await store.coverage(1)).toBeUndefined();
  await expect(store.useChain('other')).rejects.toMatchObject({ name: 'HistoryDatabaseError', isPermanent: true });
});

test('after the thread has failed, calls fail for a moment, and then it starts again', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'pdex-client-')), 'history.sqlite');
  onTestFinished(() => rmSync(dirname(path), { recursive: true }));
  const workers = startedThreads();

  const store = await createStore({ database: { kind: 'sqlite', path } });
  await store.record(chain);
  const reading = store.coverage(0);
  await workers[0]?.terminate();
  await expect(reading.then(() => store.coverage(0))).rejects.toMatchObject({
    name: 'HistoryDatabaseError',
    isPermanent: false,
  });
  await expect.poll(() => store.coverage(0).catch(() => undefined)).toMatchObject({ heights: 3 });
  expect(workers.length).toBe(2);
  expect(await store.stateAt(2)).toEqual(states[1]);
});

test('the pause after a failure of the thread is longer only if no call has succeeded since the one before', async () => {
  const workers = startedThreads();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => clock.mockRestore());
  const store = await createStore();
  for (const [failures, now] of [
    [1, 1_000],
    [2, 2_000],
  ] as const) {
    await workers.at(-1)?.terminate();
    clock.mockReturnValue(now - 1);
    await expect(store.coverage(0)).rejects.toThrow('has failed');
    clock.mockReturnValue(now);
    expect(await store.coverage(0)).toBeUndefined();
    expect(workers).toHaveLength(failures + 1);
  }
});

test('a store that was never used, or is closed twice, leaves no thread', async () => {
  const workers = startedThreads();
  await createHistoryStore({ database: { kind: 'memory' }, rawDays: 7 }).close();
  expect(workers).toEqual([]);
  const store = await createStore();
  await Promise.all([store.record(chain), store.close(), store.close()]);
  expect(workers.map(({ threadId }) => threadId)).toEqual([-1]);
});

test('a store whose thread fails while it is closed does not keep the process running', async () => {
  const workers = startedThreads();
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const store = await createStore();
  const before = timers();
  const closing = store.close();
  workers[0]?.emit('error', new Error('out of memory'));
  await closing;
  expect(timers()).toBeLessThanOrEqual(before);
});

test('a store whose thread does not respond is closed after a while', async () => {
  const workers = startedThreads();
  const store = await createStore();
  for (const worker of workers) {
    vi.spyOn(worker, 'postMessage').mockImplementation(() => {});
    onTestFinished(() => void worker.terminate());
  }
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const closing = store.close();
  // `docs/operating.md` says how long a stop takes.
  vi.advanceTimersByTime(1_000);
  expect(vi.getTimerCount()).toBe(0);
  await closing;
  expect(workers.map(({ threadId }) => threadId)).toEqual([-1]);
});
