import { expect, onTestFinished, test, vi } from 'vitest';
import { toPoolDirectory } from '../../src/domain/exchange.ts';
import { HistoryUnavailableError } from '../../src/errors.ts';
import type { Head } from '../../src/live/chain/head.ts';
import { createHistoryCache } from '../../src/loaders/history-cache.ts';
import { createBulkhead } from '../../src/turns/bulkhead.ts';
import { tokenId } from '../domain/pools.ts';
import { headOf } from '../live/chain/heads.ts';

/** A cache of a history, and the queue of its reads, of which one is made at a time. */
function openCache(known: Partial<Parameters<typeof createHistoryCache>[0]> = {}) {
  const queue = createBulkhead({
    busy: () => new HistoryUnavailableError({ isBusy: true }),
    maxConcurrent: 1,
    maxQueued: 10,
    maxWaitMs: 1_000,
  });
  const unused = () => Promise.reject(new Error('not read'));
  const reads = { blocksAt: unused, firstBlock: unused, stateAt: unused };
  return { queue, ...createHistoryCache({ ...reads, version: () => 0, tradesVersion: () => 0, ...known }, queue) };
}

const volumes = { since: 0, isComplete: true, volumes: new Map() };
const head = headOf(9);

test('a client that has waited too long for the volumes of a head fails alone', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { queue, volumesAt } = openCache();
  const before = Promise.withResolvers<void>();
  const inTheWay = queue.queue(() => before.promise).wait({ client: 'a' });
  let reads = 0;
  const ask = async (client: string) =>
    volumesAt(head, { client }, (readHistory) =>
      readHistory(async () => {
        reads += 1;
        return volumes;
      }),
    );

  const first = expect(ask('a')).rejects.toThrow(HistoryUnavailableError);
  await vi.advanceTimersByTimeAsync(600);
  const second = ask('b');
  await vi.advanceTimersByTimeAsync(600);
  await first;
  before.resolve();
  expect(await second).toBe(volumes);
  await inTheWay;
  expect(await ask('c')).toBe(volumes);
  expect(reads).toBe(1);
});

test('the volumes of some heads are in memory, and those of no more', async () => {
  const { reads, volumesAt } = openCache();
  const heads = Array.from({ length: 20 }, (_, n) => headOf(n + 1));
  const ask = async (at = head) => volumesAt(at, { client: 'a' }, (readHistory) => readHistory(async () => volumes));
  for (const at of heads) await ask(at);
  await ask(heads[19]);
  expect(reads()).toBe(20);
  await ask(heads[0]);
  expect(reads()).toBe(21);
});

test('the last trades of two heads are in memory, and those of no more', async () => {
  const { reads, lastTradesAt } = openCache();
  const heads = [headOf(7), headOf(8), headOf(9)] as const;
  const ask = async (at: Head) =>
    lastTradesAt(at, { client: 'a' }, (readHistory) => readHistory(async () => new Map()));
  for (const at of heads) await ask(at);
  await ask(heads[1]);
  expect(reads()).toBe(3);
  await ask(heads[0]);
  expect(reads()).toBe(4);
});

test('volumes that could not be read are read again', async () => {
  const { volumesAt } = openCache();
  const ask = async (read: () => Promise<typeof volumes>) =>
    volumesAt(head, { client: 'a' }, (readHistory) => readHistory(read));
  await expect(ask(() => Promise.reject(new HistoryUnavailableError()))).rejects.toThrow(HistoryUnavailableError);
  expect(await ask(async () => volumes)).toBe(volumes);
});

test('the states at the starts of windows share the directory of their pools', async () => {
  const ids = [1, 2].map((height) => `${tokenId('0')}-${tokenId(String(height))}`);
  const { startAt } = openCache({
    blocksAt: async ([time = 0]) => [{ block: { beaconHeight: time, hash: undefined, time }, next: undefined }],
    // A database returns other strings and arrays at each read.
    stateAt: async (beaconHeight) => ({
      ...{ beaconHeight, time: beaconHeight, reserves: new BigUint64Array(4) },
      directory: { ids: ids.map((id) => Buffer.from(id).toString()) },
    }),
  });
  const [one, other] = [await startAt(1, 'V1', { client: 'a' }), await startAt(2, 'V1', { client: 'a' })];
  expect([one?.beaconHeight, other?.beaconHeight]).toEqual([1, 2]);
  expect(one?.exchange.directory).toEqual(toPoolDirectory(ids));
  expect(other?.exchange.directory).toBe(one?.exchange.directory);
});
