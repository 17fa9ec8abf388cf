import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HeightNotAvailableError } from '../../src/errors.ts';
import { findBranch } from '../../src/history/branches.ts';
import { HistoryDatabaseError } from '../../src/history/store.ts';
import { exchangeStateOf } from '../domain/pools.ts';
import { headOf } from '../live/chain/heads.ts';
import { createMemoryStore } from './memory-store.ts';

const TIP = 10_000;
const ANY = Number.MAX_SAFE_INTEGER;
const timeOf = (height: number) => height * 40_000;
const head = { ...headOf(TIP), time: timeOf(TIP) };

type Recorded = {
  /** The recorded heights. */
  readonly heights: readonly number[];
  /** Number of the highest of them that are of a branch. */
  readonly branch: number;
  /** The node has pruned lower heights. */
  readonly retained?: number;
};

/** Compares recorded heights with those of a node. @returns the branch or why none was found, and the number of reads */
async function compare({ heights, branch, retained = 1 }: Recorded) {
  const store = createMemoryStore();
  const first = heights.length - branch;
  await store.record(
    heights.map((height, place) => {
      const time = timeOf(height) + (place < first ? 0 : 7_000);
      return { hash: undefined, time, version: 'V1' as const, exchange: exchangeStateOf(height, [], time) };
    }),
  );
  let reads = 0;
  const found = await findBranch(ANY, head, {
    ...store,
    async readFinal(height) {
      reads += 1;
      if (height < retained) throw new HeightNotAvailableError(height, TIP);
      return exchangeStateOf(height, [], timeOf(height));
    },
  }).catch((error: unknown) => error);
  return { found, reads };
}

const anyRecorded = fc.uniqueArray(fc.integer({ min: 1, max: TIP - 3 }), { minLength: 1, maxLength: 200 });

test('the lowest block of a branch of fewer than 64 recorded heights is found with few reads', async () => {
  await fc.assert(
    fc.asyncProperty(anyRecorded, fc.nat(80), fc.nat(TIP), async (any, length, retained) => {
      const heights = any.toSorted((a, b) => a - b);
      const branch = Math.min(length, heights.length);
      const { found, reads } = await compare({ heights, branch, retained });
      expect(reads).toBeLessThanOrEqual(7);
      const [shared, first, last] = [heights.at(-1 - branch), heights.at(-branch), heights.at(-1) ?? 0];
      if (branch === 0 || last < retained) expect(found).toBeUndefined();
      else if (branch >= 64 || shared === undefined || branch === heights.length || shared < retained)
        expect(found).toMatchObject({ lowest: undefined, highest: { beaconHeight: last } });
      else expect(found).toMatchObject({ lowest: { beaconHeight: first }, highest: { beaconHeight: last } });
    }),
  );
});

test('heights that were compared before are not read again', async () => {
  const store = createMemoryStore();
  await store.record([{ hash: undefined, time: 7, version: 'V1', exchange: exchangeStateOf(6, [], 7) }]);
  const readFinal = () => Promise.reject(new Error('it is read'));
  expect(await findBranch(ANY, head, { ...store, readFinal }, 7)).toBeUndefined();
  await expect(findBranch(ANY, head, { ...store, readFinal }, 6)).rejects.toThrow(HistoryDatabaseError);
});

test('heights that are not final yet are compared later, unless one of them shows that they are of a branch', async () => {
  const near = [TIP - 4, TIP - 3, TIP - 2, TIP, TIP + 1];
  expect((await compare({ heights: near, branch: 0 })).found).toEqual(
    new HistoryDatabaseError('the node has not reached the recorded heights'),
  );
  // It is not below the tip, and made before it.
  for (const contradiction of [TIP, TIP + 1]) {
    const store = createMemoryStore();
    const blocks = [TIP - 4, contradiction].map((height) => {
      const time = Math.min(timeOf(height), head.time - 1);
      return { hash: undefined, time, version: 'V1' as const, exchange: exchangeStateOf(height, [], time) };
    });
    await store.record(blocks);
    const readFinal = async (height: number) => exchangeStateOf(height, [], timeOf(height));
    const found = await findBranch(ANY, head, { ...store, readFinal });
    expect(found).toMatchObject({ lowest: { beaconHeight: contradiction } });
  }
});
