import { expect, test } from 'vitest';
import { UpstreamTimeoutError } from '../../src/errors.ts';
import { createFiller, QUICK } from '../../src/history/filler.ts';
import { HistoryDatabaseError } from '../../src/history/store.ts';
import { headOf } from '../live/chain/heads.ts';

test('what was read is recorded once the database can be written again, and not read again', async () => {
  const read: number[] = [];
  const attempts: (readonly number[])[] = [];
  const recorded = Promise.withResolvers<void>();
  const filler = createFiller<number>({
    missing: async () => [9, 8, 7].filter((height) => !attempts.slice(2).flat().includes(height)),
    lowest: () => 1,
    waitMs: () => 0,
    async read(height) {
      read.push(height);
      return height;
    },
    async record(heights) {
      attempts.push([...heights]);
      if (attempts.length < 3) throw new HistoryDatabaseError('database or disk is full');
      recorded.resolve();
      return [];
    },
    mustEnd: () => false,
    rate: { ...QUICK, firstRetryMs: 1 },
    leftOutForMs: 600_000,
  });
  filler.wake(headOf(12));
  await recorded.promise;
  filler.stop();
  expect(attempts).toEqual([
    [9, 8, 7],
    [9, 8, 7],
    [9, 8, 7],
  ]);
  expect(read).toEqual([9, 8, 7]);
});

test('a height is left out after reads below three heads have failed, and not after any number below one', async () => {
  const read: number[] = [];
  const recorded = Promise.withResolvers<readonly number[]>();
  const filler = createFiller<number>({
    missing: async () => [9, 8],
    lowest: () => 1,
    waitMs: () => 0,
    async read(height) {
      read.push(height);
      // The node is down for ten reads. Then the chain goes on, and only the height 9 fails.
      if (read.length >= 10) filler.wake(headOf(12 + read.length));
      if (height === 9) throw new UpstreamTimeoutError('NODE', 10_000, {});
      return height;
    },
    async record(heights) {
      recorded.resolve(heights);
      return [];
    },
    mustEnd: () => false,
    rate: { atOnce: 1, pauseMs: 0, lookEveryMs: 1, firstRetryMs: 0 },
    leftOutForMs: 600_000,
  });
  filler.wake(headOf(12));
  expect(await recorded.promise).toEqual([8]);
  filler.stop();
  expect(read).toEqual([...Array(12).fill(9), 8]);
});
