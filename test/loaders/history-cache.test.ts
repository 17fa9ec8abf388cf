import { expect, onTestFinished, test, vi } from 'vitest';
import { HistoryUnavailableError } from '../../src/errors.ts';
import { createHistoryCache } from '../../src/loaders/history-cache.ts';
import { createBulkhead } from '../../src/turns/bulkhead.ts';
import { headOf } from '../live/chain/heads.ts';

test('a client that has waited too long for the volumes of a head fails alone', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const queue = createBulkhead({
    busy: () => new HistoryUnavailableError({ isBusy: true }),
    maxConcurrent: 1,
    maxQueued: 10,
    maxWaitMs: 1_000,
  });
  const before = Promise.withResolvers<void>();
  const inTheWay = queue.queue(() => before.promise).wait({ client: 'a' });
  const unused = () => Promise.reject(new Error('not read'));
  const history = { blocksAt: unused, firstBlock: unused, stateAt: unused, version: () => 0, tradesVersion: () => 0 };
  const { volumesAt } = createHistoryCache(history, queue);
  const volumes = { since: 0, isComplete: true, volumes: new Map() };
  let reads = 0;
  const head = headOf(9);
  const ask = async (client: string) =>
    volumesAt(head, 24, { client }, (readHistory) =>
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
