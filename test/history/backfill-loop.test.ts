import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { isReplacedBy } from '../../src/domain/chain.ts';
import { HeightNotAvailableError, UpstreamTimeoutError } from '../../src/errors.ts';
import { createBackfillLoop, QUICK } from '../../src/history/backfill-loop.ts';
import { HistoryDatabaseError } from '../../src/history/store.ts';
import { headOf } from '../live/chain/heads.ts';

type Read = { readonly beaconHeight: number; readonly time: number };

const OPTIONS = {
  lowest: () => 1,
  waitMs: () => 0,
  deletedBefore: async () => 0,
  isDoubtful: isReplacedBy,
  mustEnd: () => false,
  rate: { ...QUICK, firstRetryMs: 1 },
  leftOutForMs: 600_000,
};

const blockAt = (beaconHeight: number): Read => ({ beaconHeight, time: beaconHeight * 40_000 });

const heightsOf = (values: readonly Read[]) => values.map(({ beaconHeight }) => beaconHeight);

test('what was read is recorded once the database can be written again, and not read again', async () => {
  const read: number[] = [];
  const attempts: (readonly number[])[] = [];
  const recorded = Promise.withResolvers<void>();
  const loop = createBackfillLoop<Read>({
    missing: async () => [9, 8, 7].filter((height) => !attempts.slice(2).flat().includes(height)),
    ...OPTIONS,
    async read(height) {
      read.push(height);
      return blockAt(height);
    },
    async record(values) {
      attempts.push(heightsOf(values));
      if (attempts.length < 3) throw new HistoryDatabaseError('database or disk is full');
      recorded.resolve();
      return [];
    },
  });
  loop.wake(headOf(12));
  await recorded.promise;
  loop.stop();
  expect(attempts).toEqual([
    [9, 8, 7],
    [9, 8, 7],
    [9, 8, 7],
  ]);
  expect(read).toEqual([9, 8, 7]);
});

test.each([
  ['a block that replaces the newest one', { ...headOf(100), hash: 'B' }],
  ['a block of another branch', { ...headOf(101), previousHash: 'B' }],
  ['a later block with an earlier time', { ...headOf(103), time: headOf(99).time }],
])('after %s, what was read and may be of a branch is read again', async (_, head) => {
  const read: number[] = [];
  const recorded = Promise.withResolvers<readonly number[]>();
  let isFull = true;
  const loop = createBackfillLoop<Read>({
    missing: async () => [97, 20],
    ...OPTIONS,
    async read(height) {
      read.push(height);
      return blockAt(height);
    },
    async record(values) {
      if (!isFull) {
        recorded.resolve(heightsOf(values));
        return [];
      }
      isFull = false;
      loop.wake(head);
      throw new HistoryDatabaseError('database or disk is full');
    },
  });
  loop.wake(headOf(100));
  // Deeper than any branch, 20 is not read again.
  expect(await recorded.promise).toEqual([20]);
  loop.stop();
  expect(read.slice(0, 2)).toEqual([97, 20]);
});

test.each([
  ['that are not doubted, all missed heights are recorded, and each is read once', {}, 0],
  [
    'that are doubted, all missed heights are recorded, and at most two are read again for each head',
    { isDoubtful: () => true, isSame: (before: Read, again: Read) => before.beaconHeight === again.beaconHeight },
    2,
  ],
])('where each head skips heights %s', async (_, rule, rereads) => {
  const missed = Array.from({ length: 60 }, (_, n) => 1_001 + 2 * n);
  const read: number[] = [];
  const recorded: number[] = [];
  const areRecorded = Promise.withResolvers<void>();
  let tip = 1_008;
  let heads = 0;
  const loop = createBackfillLoop<Read>({
    missing: async ({ head }) =>
      missed.filter((height) => height < head.beaconHeight - 2 && !recorded.includes(height)).toReversed(),
    ...OPTIONS,
    ...rule,
    // The node reads so slowly that heads come meanwhile.
    async read(height) {
      read.push(height);
      if (read.length % 3 === 0) {
        tip += 6;
        heads += 1;
        loop.wake(headOf(tip));
      }
      return blockAt(height);
    },
    async record(values) {
      recorded.push(...heightsOf(values));
      if (recorded.length >= missed.length) areRecorded.resolve();
      return [];
    },
  });
  loop.wake(headOf(tip));
  await areRecorded.promise;
  loop.stop();
  expect(recorded.toSorted((a, b) => a - b)).toEqual(missed);
  expect(new Set(read)).toEqual(new Set(missed));
  expect(read.length).toBeLessThanOrEqual(missed.length + rereads * heads);
});

test('a height is left out after reads below three heads have failed, and not after any number below one', async () => {
  const read: number[] = [];
  const recorded = Promise.withResolvers<readonly number[]>();
  const loop = createBackfillLoop<Read>({
    missing: async () => [9, 8],
    ...OPTIONS,
    async read(height) {
      read.push(height);
      // The node is down for ten reads. Then the chain goes on, and only the height 9 fails.
      if (read.length >= 10) loop.wake(headOf(12 + read.length));
      if (height === 9) throw new UpstreamTimeoutError('NODE', 10_000, {});
      return blockAt(height);
    },
    async record(values) {
      recorded.resolve(heightsOf(values));
      return [];
    },
    mustEnd: () => false,
    rate: { atOnce: 1, pauseMs: 0, lookEveryMs: 1, firstRetryMs: 0 },
    leftOutForMs: 600_000,
  });
  loop.wake(headOf(12));
  expect(await recorded.promise).toEqual([8]);
  loop.stop();
  expect(read).toEqual([...Array(12).fill(9), 8]);
});

test.each([
  ['failed below three heads', new UpstreamTimeoutError('NODE', 10_000, {}), 3, 600_000],
  ['was pruned', new HeightNotAvailableError(8, 12), 1, 3_600_000],
])('a height that %s is read again after a while: nodes are repaired or replaced', async (_, error, reads, afterMs) => {
  const now = performance.now.bind(performance);
  let laterByMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + laterByMs);
  onTestFinished(() => clock.mockRestore());
  const recorded: number[] = [];
  let isRepaired = false;
  let failedReads = 0;
  let tip = 12;
  const wake = () => loop.wake(headOf(tip++));
  const loop = createBackfillLoop<Read>({
    missing: async () => (isRepaired ? [10, 9, 8] : [9, 8]).filter((height) => !recorded.includes(height)),
    ...OPTIONS,
    async read(height) {
      if (height > 8 || isRepaired) return blockAt(height);
      failedReads += 1;
      wake();
      throw error;
    },
    async record(values) {
      recorded.push(...heightsOf(values));
      return [];
    },
  });
  onTestFinished(loop.stop);
  wake();
  await expect.poll(() => [failedReads, loop.isReading()]).toEqual([reads, false]);
  isRepaired = true;
  wake();
  await expect.poll(() => recorded.includes(10)).toBe(true);
  expect(recorded).toEqual([9, 10]);
  laterByMs = afterMs;
  wake();
  await expect.poll(() => recorded).toEqual([9, 10, 8]);
});

test('one height that no node has hides those below it for three hours', async () => {
  const now = performance.now.bind(performance);
  let laterByMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + laterByMs);
  onTestFinished(() => clock.mockRestore());
  const read: number[] = [];
  let tip = 12;
  const loop = createBackfillLoop<Read>({
    missing: async () => (read.includes(7) ? [] : [8, 7]),
    ...OPTIONS,
    rate: { ...OPTIONS.rate, atOnce: 1 },
    async read(height) {
      read.push(height);
      if (height === 8) throw new HeightNotAvailableError(8, tip);
      return blockAt(height);
    },
    record: async () => [],
  });
  onTestFinished(loop.stop);
  for (let hour = 0; hour < 4; hour++) {
    laterByMs = hour * 3_600_000 + hour;
    loop.wake(headOf(tip++));
    await expect.poll(() => [read.length, loop.isReading()]).toEqual([hour + 1, false]);
  }
  expect(read).toEqual([8, 8, 8, 7]);
});

test('each pause after a failure is twice as long as the one before', async () => {
  const readAt: number[] = [];
  const areRead = Promise.withResolvers<void>();
  const loop = createBackfillLoop<Read>({
    missing: async () => [9],
    ...OPTIONS,
    rate: { ...QUICK, firstRetryMs: 10 },
    async read() {
      readAt.push(performance.now());
      if (readAt.length === 5) areRead.resolve();
      throw new UpstreamTimeoutError('NODE', 10_000, {});
    },
    record: async () => [],
  });
  loop.wake(headOf(12));
  await areRead.promise;
  loop.stop();
  for (const [index, pauseMs] of [10, 20, 40, 80].entries())
    expect((readAt[index + 1] ?? 0) - (readAt[index] ?? 0)).toBeGreaterThanOrEqual(pauseMs - 2);
});

test.each([
  ['is still the same, all of it is recorded', 'A', [97, 96, 20]],
  ['is another one, only what is deeper than a branch is recorded', 'B', [20]],
])('if the highest block in doubt %s', async (_, hash, expected) => {
  const read: number[] = [];
  const recorded = Promise.withResolvers<readonly number[]>();
  let isFull = true;
  const loop = createBackfillLoop<Read & { readonly hash: string }>({
    missing: async () => [97, 96, 20],
    ...OPTIONS,
    isDoubtful: () => true,
    isSame: (before, again) => before.hash === again.hash,
    async read(beaconHeight) {
      read.push(beaconHeight);
      return { ...blockAt(beaconHeight), hash: isFull ? 'A' : hash };
    },
    async record(values) {
      if (!isFull) {
        recorded.resolve(heightsOf(values));
        return [];
      }
      isFull = false;
      loop.wake(headOf(102));
      throw new HistoryDatabaseError('database or disk is full');
    },
  });
  loop.wake(headOf(100));
  expect(await recorded.promise).toEqual(expected);
  loop.stop();
  expect(read.slice(0, 4)).toEqual([97, 96, 20, 97]);
});

test.each([
  ['is still the same, what was not written is recorded without a further read', 'A', [97, 96, 95, 97]],
  ['is another one, what was not written is read again', 'B', [97, 96, 95, 97, 97, 96, 95]],
])('if a head comes while blocks are recorded, and the highest block %s', async (_, hash, expected) => {
  const read: number[] = [];
  const recorded: HashedRead[] = [];
  const areRecorded = Promise.withResolvers<void>();
  const isSettled = Promise.withResolvers<void>();
  let isBegun = false;
  const loop = createBackfillLoop<HashedRead>({
    missing: async () => (recorded.length > 0 ? [] : [97, 96, 95]),
    ...OPTIONS,
    ...BY_HASH,
    rate: { ...OPTIONS.rate, atOnce: 1 },
    async read(beaconHeight) {
      read.push(beaconHeight);
      return { ...blockAt(beaconHeight), hash: isBegun ? hash : 'A' };
    },
    async record(values, _tip, isSure) {
      if (!isBegun) {
        isBegun = true;
        setImmediate(() => {
          loop.wake(headOf(102));
          isSettled.resolve();
        });
      }
      await isSettled.promise;
      if (!isSure()) return [];
      recorded.push(...values);
      areRecorded.resolve();
      return [];
    },
  });
  loop.wake(headOf(100));
  await areRecorded.promise;
  loop.stop();
  expect(recorded).toEqual([97, 96, 95].map((height) => ({ ...blockAt(height), hash })));
  expect(read).toEqual(expected);
});

type HashedRead = Read & { readonly hash: string };

const BY_HASH = {
  isDoubtful: () => true,
  isSame: (before: HashedRead, again: HashedRead) => before.hash === again.hash,
};

test('a block of a branch that was shown during one read is not recorded, and its height is read again', async () => {
  const read: number[] = [];
  const recorded: HashedRead[] = [];
  const areRecorded = Promise.withResolvers<void>();
  const loop = createBackfillLoop<HashedRead>({
    missing: async () => [97, 96, 95].filter((height) => recorded.every(({ beaconHeight }) => beaconHeight !== height)),
    ...OPTIONS,
    ...BY_HASH,
    rate: { ...OPTIONS.rate, atOnce: 1 },
    async read(beaconHeight) {
      read.push(beaconHeight);
      if (beaconHeight !== 96 || read.length > 2) return { ...blockAt(beaconHeight), hash: 'chain' };
      loop.wake(headOf(101, 'branch'));
      loop.wake(headOf(102));
      return { ...blockAt(beaconHeight), hash: 'branch' };
    },
    async record(values) {
      recorded.push(...values);
      if (recorded.length >= 3) areRecorded.resolve();
      return [];
    },
  });
  loop.wake(headOf(100));
  await areRecorded.promise;
  loop.stop();
  expect(recorded).toEqual([97, 96, 95].map((height) => ({ ...blockAt(height), hash: 'chain' })));
  // The highest block, which is still the same, and the one that was read meanwhile.
  expect(read).toEqual([97, 96, 97, 96, 95]);
});

test.each(['the loop is stopped', 'another replica reads', 'reads have to wait'])(
  'what is in doubt is forgotten, and not read again, when %s',
  async (reason) => {
    const read: number[] = [];
    const recorded = Promise.withResolvers<readonly number[]>();
    let isNow = false;
    const loop = createBackfillLoop<HashedRead>({
      missing: async () => [97, 20],
      ...OPTIONS,
      ...BY_HASH,
      rate: { ...OPTIONS.rate, atOnce: 1 },
      waitMs: () => (isNow && reason === 'reads have to wait' ? 1 : 0),
      mustEnd: () => isNow && reason === 'another replica reads',
      async read(beaconHeight) {
        read.push(beaconHeight);
        if (beaconHeight === 20) {
          isNow = true;
          loop.wake(headOf(102));
          if (reason === 'the loop is stopped') loop.stop();
        }
        return { ...blockAt(beaconHeight), hash: 'chain' };
      },
      async record(values) {
        recorded.resolve(heightsOf(values));
        return [];
      },
    });
    loop.wake(headOf(100));
    expect(await recorded.promise).toEqual([20]);
    loop.stop();
    expect(read).toEqual([97, 20]);
  },
);

test('no further height is read once another replica may read', async () => {
  const read: number[] = [];
  const recorded = Promise.withResolvers<readonly number[]>();
  const loop = createBackfillLoop<Read>({
    missing: async () => [9, 8, 7],
    ...OPTIONS,
    rate: { ...OPTIONS.rate, atOnce: 1 },
    mustEnd: () => read.includes(8),
    async read(height) {
      read.push(height);
      return blockAt(height);
    },
    async record(values) {
      recorded.resolve(heightsOf(values));
      return [];
    },
  });
  loop.wake(headOf(12));
  expect(await recorded.promise).toEqual([9, 8]);
  expect(read).toEqual([9, 8]);
});

test('a head that comes while nothing is missing below the one before is looked at too', async () => {
  const recorded = Promise.withResolvers<readonly number[]>();
  const loop = createBackfillLoop<Read>({
    ...OPTIONS,
    async missing({ head }) {
      if (head.beaconHeight === 13) return [10];
      loop.wake(headOf(13));
      return [];
    },
    read: async (height) => blockAt(height),
    async record(values) {
      recorded.resolve(heightsOf(values));
      return [];
    },
  });
  onTestFinished(loop.stop);
  loop.wake(headOf(12));
  expect(await recorded.promise).toEqual([10]);
});

test.each([
  [50, 0],
  [1, 60],
])('after each read, also of a block in doubt, the loop rests %s ms, or the %s ms it took', async (pauseMs, readMs) => {
  const reads: { readonly height: number; readonly begunAt: number; readonly endedAt: number }[] = [];
  const areRead = Promise.withResolvers<void>();
  const loop = createBackfillLoop<HashedRead>({
    missing: async () => [97, 20, 19].slice(Math.max(0, reads.length - 1)),
    ...OPTIONS,
    ...BY_HASH,
    rate: { ...OPTIONS.rate, atOnce: 1, pauseMs },
    async read(height) {
      const begunAt = performance.now();
      await wait(readMs);
      reads.push({ height, begunAt, endedAt: performance.now() });
      if (reads.length === 2) loop.wake(headOf(102));
      if (reads.length === 4) areRead.resolve();
      return { ...blockAt(height), hash: 'chain' };
    },
    record: async () => [],
  });
  loop.wake(headOf(100));
  await areRead.promise;
  loop.stop();
  expect(reads.map(({ height }) => height)).toEqual([97, 20, 97, 19]);
  const pauses = reads.slice(1).map(({ begunAt }, index) => begunAt - (reads[index]?.endedAt ?? 0));
  // Each of the two timers can be a millisecond early.
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(Math.max(pauseMs, readMs) - 2);
});
