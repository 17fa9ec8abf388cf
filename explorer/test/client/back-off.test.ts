import { expect, test } from 'vitest';
import { retryDelayMs } from '../../src/client/back-off.ts';

test('the wait doubles up to half a minute, and all of it is random', () => {
  const longest = [0, 1, 2, 3, 4, 5, 6, 1_000].map((retries) => retryDelayMs(retries, () => 1));
  expect(longest).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(retryDelayMs(3, () => 0)).toBe(0);
  expect(retryDelayMs(3, () => 0.5)).toBe(4_000);
});
