import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRetainedHeights } from '../../../src/live/chain/retained-heights.ts';

const MINUTE_MS = 60_000;
const NEWEST = 1_000_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
});

const wait = (ms: number) => void vi.advanceTimersByTime(ms);

/** What is known of a node after these answers. */
function known({ found = [], pruned = [] }: { found?: number[]; pruned?: number[] }) {
  const heights = createRetainedHeights();
  for (const height of found) heights.found(height);
  for (const height of pruned) heights.pruned(height);
  return heights;
}

describe('what the responses of a node show about other heights', () => {
  test('all below a pruned height are pruned, and all above one that was found are retained', () => {
    const { standing, prunedUpTo } = known({ found: [900, 800], pruned: [400, 500, 300] });
    expect([1, 500, 501, 799, 800, 5_000].map(standing)).toEqual([
      'pruned',
      'pruned',
      'unknown',
      'unknown',
      'retained',
      'retained',
    ]);
    expect(prunedUpTo()).toBe(500);
  });

  test('nothing before the first response', () => {
    const { standing, prunedUpTo } = known({});
    expect([standing(1), prunedUpTo()]).toEqual(['unknown', undefined]);
  });

  test('a height is pruned for five minutes, and retained until one is not', () => {
    const { standing } = known({ found: [800], pruned: [500] });
    wait(5 * MINUTE_MS - 1);
    expect([standing(500), standing(800)]).toEqual(['pruned', 'retained']);
    wait(1);
    expect([standing(500), standing(800)]).toEqual(['unknown', 'retained']);
  });

  test('a node that finds a pruned height again has more heights than before', () => {
    const heights = known({ pruned: [500] });
    heights.found(450);
    expect([heights.standing(449), heights.standing(450), heights.prunedUpTo()]).toEqual([
      'unknown',
      'retained',
      undefined,
    ]);
  });

  test('a node that has not reached a height has none above it, for a moment or until one is found', () => {
    const heights = known({ found: [100] });
    heights.behind(500);
    expect([499, 500, 501].map(heights.standing)).toEqual(['retained', 'behind', 'behind']);
    wait(2_000);
    expect(heights.standing(500)).toBe('retained');
    heights.behind(500);
    heights.found(500);
    expect(heights.standing(501)).toBe('retained');
  });

  test('one pruned height above one that was found is a gap; two in a row without a success are not', () => {
    const heights = known({ found: [400], pruned: [500] });
    expect([400, 499, 500, 501].map(heights.standing)).toEqual(['unknown', 'unknown', 'pruned', 'unknown']);
    heights.found(400);
    expect([400, 500, 501].map(heights.standing)).toEqual(['retained', 'pruned', 'retained']);

    heights.pruned(600);
    heights.pruned(550);
    expect([400, 550, 551, 600].map(heights.standing)).toEqual(['pruned', 'pruned', 'unknown', 'pruned']);
  });
});

describe('which height is probed', () => {
  test('none while errors are left and nothing is known', () => {
    expect(known({}).probeFor(10, NEWEST)).toBe(undefined);
    expect(known({ found: [800], pruned: [500] }).probeFor(600, NEWEST)).toBe(undefined);
  });

  test('after five minutes the highest pruned one, once', () => {
    const heights = known({ pruned: [500] });
    expect(heights.probeFor(10, NEWEST)).toBe(undefined);
    wait(5 * MINUTE_MS);
    expect(heights.probeFor(10, NEWEST)).toBe(500);
    expect([heights.probeFor(10, NEWEST), heights.standing(10)]).toEqual([undefined, 'pruned']);
    heights.pruned(500);
    wait(5 * MINUTE_MS - 1);
    expect(heights.standing(10)).toBe('pruned');
    wait(1);
    expect(heights.probeFor(500, NEWEST)).toBe(undefined);
    expect(heights.standing(499)).toBe('pruned');
  });

  test('again after half a minute if there was no response', () => {
    const heights = known({ pruned: [500] });
    wait(5 * MINUTE_MS);
    expect([heights.probeFor(10, NEWEST), heights.probeFor(10, NEWEST)]).toEqual([500, undefined]);
    wait(MINUTE_MS / 2);
    expect(heights.probeFor(10, NEWEST)).toBe(500);
  });

  test('the middle of the unknown heights once some errors were caused: each error halves them', () => {
    const heights = createRetainedHeights();
    let errors = 0;
    for (let height = 1; height < 200_000; height++) {
      const probe = heights.probeFor(height, NEWEST);
      if (heights.standing(height) === 'pruned') continue;
      if (probe !== undefined && probe >= 200_000) heights.found(probe);
      else {
        heights.errors.spend();
        heights.pruned(probe ?? height);
        errors += 1;
      }
    }
    expect(errors).toBeLessThan(25);
  });
});

describe('the budget of errors', () => {
  test('is smaller for heights that the node probably does not have, and refills by two per minute', () => {
    const { errors, errorsToKeep } = known({ found: [800], pruned: [600] });
    const spendAt = (height: number) => {
      let spent = 0;
      for (; errors.has(1 + errorsToKeep(height, NEWEST)); spent++) errors.spend();
      return spent;
    };
    expect([spendAt(699), spendAt(700), spendAt(800)]).toEqual([12, 4, 4]);
    wait(MINUTE_MS);
    expect([spendAt(699), spendAt(700), spendAt(800)]).toEqual([0, 0, 2]);
    wait(60 * MINUTE_MS);
    expect([spendAt(699), spendAt(700), spendAt(800)]).toEqual([12, 4, 4]);
  });
});
