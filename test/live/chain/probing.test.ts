import { describe, expect, test } from 'vitest';
import { HeightNotAvailableError, UpstreamTimeoutError } from '../../../src/errors.ts';
import { readProbing } from '../../../src/live/chain/probing.ts';

/** 64 heights from 1 on, in an order of their own. */
const HEIGHTS = Array.from({ length: 64 }, (_, n) => ((n * 37) % 64) + 1);

/** A node that has the heights from one on. What its responses show is known. */
function nodeFrom(oldest: number) {
  const called: number[] = [];
  let [prunedUpTo, foundFrom] = [0, Number.POSITIVE_INFINITY];
  return {
    called,
    isUnknown: (height: number) => height > prunedUpTo && height < foundFrom,
    async read(height: number): Promise<number> {
      if (height <= prunedUpTo) throw new HeightNotAvailableError(height, 1_000);
      called.push(height);
      await undefined;
      if (height < oldest) {
        prunedUpTo = Math.max(prunedUpTo, height);
        throw new HeightNotAvailableError(height, 1_000);
      }
      foundFrom = Math.min(foundFrom, height);
      return height;
    },
  };
}

const outcomes = (answers: readonly (number | Error)[]) =>
  answers.map((answer) => (answer instanceof HeightNotAvailableError ? 'gone' : answer));

describe('how often a node is called for 64 heights', () => {
  test('four times if it has none of them', async () => {
    const node = nodeFrom(65);
    expect(outcomes(await readProbing(HEIGHTS, node))).toEqual(HEIGHTS.map(() => 'gone'));
    expect(node.called).toEqual([1, 22, 43, 64]);
  });

  test.each([2, 17, 33, 44, 63, 64])('a few times too often if it has those from %i on', async (oldest) => {
    const node = nodeFrom(oldest);
    expect(outcomes(await readProbing(HEIGHTS, node))).toEqual(
      HEIGHTS.map((height) => (height < oldest ? 'gone' : height)),
    );
    const vain = node.called.filter((height) => height < oldest);
    expect(vain.length).toBeLessThanOrEqual(8);
    expect(node.called.length - vain.length).toBe(65 - oldest);
  });

  test('once for each if it has all: all at once when the lowest was found', async () => {
    const node = nodeFrom(1);
    const lowest = Promise.withResolvers<void>();
    const read = async (height: number) => {
      const found = await node.read(height);
      if (height !== 1) await lowest.promise;
      return found;
    };
    const answers = readProbing(HEIGHTS, { ...node, read });
    await expect.poll(() => node.called.length).toBe(64);
    lowest.resolve();
    expect(await answers).toEqual(HEIGHTS);
  });

  test('all at once if it is known to have them', async () => {
    const node = nodeFrom(1);
    const answers = readProbing(HEIGHTS, { isUnknown: () => false, read: node.read });
    expect(node.called.length).toBe(64);
    expect(await answers).toEqual(HEIGHTS);
  });

  test('four times if it fails: the other heights get the same error', async () => {
    const error = new UpstreamTimeoutError('NODE', 5, {});
    let calls = 0;
    const read = () => {
      calls += 1;
      return Promise.reject(error);
    };
    expect(await readProbing(HEIGHTS, { isUnknown: () => true, read })).toEqual(HEIGHTS.map(() => error));
    expect(calls).toBe(4);
  });
});
