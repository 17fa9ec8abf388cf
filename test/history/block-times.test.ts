import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HeightNotAvailableError, HistoryUnavailableError } from '../../src/errors.ts';
import { type BlockTimes, createBlockTimes, type ReadStateAt } from '../../src/history/block-times.ts';
import type { Head } from '../../src/live/chain/head.ts';
import { exchangeStateOf } from '../domain/pools.ts';
import { chainInfoOf, headOf } from '../live/chain/heads.ts';

/** A chain of blocks with these intervals, of which the node has those from a height on, and the history some. */
function chainOf({
  intervals,
  retained = 1,
  recorded = () => false,
  first = 1,
}: {
  readonly intervals: readonly number[];
  readonly retained?: number;
  readonly recorded?: (height: number) => boolean;
  readonly first?: number;
}) {
  const times = new Map<number, number>();
  let time = 1_000_000;
  for (const [index, interval] of intervals.entries()) {
    time += interval;
    times.set(first + index, time);
  }
  const tip = first + intervals.length - 1;
  const head: Head = { ...headOf(tip), time: times.get(tip) ?? 0, chainInfo: chainInfoOf(tip) };
  const reads: number[] = [];
  const read: ReadStateAt = async (height) => {
    reads.push(height);
    const found = times.get(height);
    if (found === undefined || height < retained) throw new HeightNotAvailableError(height, tip);
    return { ...exchangeStateOf(height, []), time: found };
  };
  const known = [...times]
    .filter(([height]) => recorded(height))
    .map(([height, at]) => ({ beaconHeight: height, hash: undefined, time: at }));
  const blockTimes: BlockTimes = createBlockTimes({
    headsInMemory: () => [],
    blocksAt: async (moments) =>
      moments.map((at) => {
        const block = known.findLast((each) => each.time <= at);
        return block && { block, next: known.find(({ beaconHeight }) => beaconHeight > block.beaconHeight) };
      }),
  });
  const expected = (at: number) => [...times].findLast(([, each]) => each <= at)?.[0];
  return {
    times,
    head,
    reads,
    heightAt: (at: number) => blockTimes.heightAt(at, head, read, (readNow) => readNow()),
    expected,
  };
}

describe('the height at a time', () => {
  test('is exact, whatever the intervals of the blocks are and whatever is recorded', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 60_000 })), { minLength: 1, maxLength: 300 }),
        fc.func(fc.boolean()),
        fc.array(fc.integer({ min: -10, max: 400 * 60_000 }), { minLength: 1, maxLength: 5 }),
        async (intervals, recorded, moments) => {
          const chain = chainOf({ intervals, recorded });
          for (const moment of moments) {
            const at = 1_000_000 + moment;
            expect(await chain.heightAt(at)).toBe(chain.expected(at));
          }
          for (const at of chain.times.values()) expect(await chain.heightAt(at)).toBe(chain.expected(at));
        },
      ),
      { numRuns: 50 },
    );
  });

  test('is found with few reads in a long chain whose interval has changed, and with none a second time', async () => {
    const first = 1_600_000;
    const intervals = Array.from({ length: 40_000 }, (_, n) => (n < 20_000 ? 40_000 : 10_000));
    const chain = chainOf({ intervals, first });
    const at = (chain.times.get(first + 7_000) ?? 0) + 1;
    expect(await chain.heightAt(at)).toBe(first + 7_000);
    expect(chain.reads.length).toBeLessThan(24);
    const before = chain.reads.length;
    expect(await chain.heightAt(at)).toBe(first + 7_000);
    expect(chain.reads.length).toBe(before);
  });

  test('needs no read where both heights around the time are recorded, or after the newest block', async () => {
    const chain = chainOf({ intervals: [10, 10, 10, 10, 10, 10, 10, 10], recorded: (height) => height <= 5 });
    expect(await chain.heightAt(1_000_035)).toBe(3);
    expect(await chain.heightAt(1_000_080)).toBe(8);
    expect(await chain.heightAt(9_999_999_999)).toBe(8);
    expect(chain.reads).toEqual([]);
  });

  test('is not that of a block that was replaced before it was final', async () => {
    let replacedAt = 3_960_000;
    const blockTimes = createBlockTimes({ headsInMemory: () => [], blocksAt: async () => [] });
    const read: ReadStateAt = async (height) => ({
      ...exchangeStateOf(height, []),
      time: height === 99 ? replacedAt : height * 40_000,
    });
    const heightAt = (tip: number) => blockTimes.heightAt(3_970_000, headOf(tip), read, (readNow) => readNow());
    expect(await heightAt(100)).toBe(99);
    replacedAt = 3_980_000;
    expect(await heightAt(101)).toBe(98);
  });

  test('is found with more reads if the history cannot be read', async () => {
    const blocksAt = () => Promise.reject(new HistoryUnavailableError({}));
    const blockTimes = createBlockTimes({ headsInMemory: () => [], blocksAt });
    const read: ReadStateAt = async (height) => ({ ...exchangeStateOf(height, []), time: height * 40_000 });
    expect(await blockTimes.heightAt(95 * 40_000, headOf(100), read, (readNow) => readNow())).toBe(95);
  });

  test('is found with few errors of a node that has pruned most heights', async () => {
    for (const retained of [1_000, 5_000, 9_000, 9_950, 9_999]) {
      const first = 1_600_000;
      const chain = chainOf({
        intervals: Array.from({ length: 10_000 }, () => 40_000),
        first,
        retained: first + retained,
      });
      expect(await chain.heightAt(1_000_000)).toBeUndefined();
      const errors = chain.reads.filter((height) => height < first + retained);
      expect(errors.length).toBeLessThan(12);
      expect(await chain.heightAt(chain.times.get(first + retained) ?? 0)).toBe(first + retained);
    }
  });

  test('is unknown before the first block that the node has, and an error between recorded heights that it has pruned', async () => {
    const pruned = chainOf({ intervals: Array.from({ length: 100 }, () => 10), retained: 60 });
    expect(await pruned.heightAt(1_000_000 + 599)).toBeUndefined();
    expect(await pruned.heightAt(1_000_000 + 600)).toBe(60);
    const recorded = chainOf({
      intervals: Array.from({ length: 100 }, () => 10),
      retained: 60,
      recorded: (height) => height === 20,
    });
    expect(await recorded.heightAt(1_000_000 + 190)).toBeUndefined();
    await expect(recorded.heightAt(1_000_000 + 300)).rejects.toThrow(HeightNotAvailableError);
    expect(await recorded.heightAt(1_000_000 + 700)).toBe(70);
  });
});
