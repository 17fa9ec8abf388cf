import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest';
import { createWriteBatch } from '../../../src/server/requests/write-batch.ts';

// Time stands still: what waits for more than a millisecond is called at once.
let now: MockInstance<() => number>;
beforeEach(() => {
  now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
});
afterEach(() => now.mockRestore());

test('functions that are added in one turn are called at its end, in order', async () => {
  const sent: number[] = [];
  const put = createWriteBatch();
  for (const answer of [1, 2, 3]) put(() => sent.push(answer));
  expect(sent).toEqual([]);
  await nextTurn();
  expect(sent).toEqual([1, 2, 3]);
});

test('functions that are added during a flush are called at the end of the next turn', async () => {
  const sent: string[] = [];
  const put = createWriteBatch();
  put(() => {
    sent.push('first');
    put(() => sent.push('second'));
  });
  await nextTurn();
  expect(sent).toEqual(['first']);
  await nextTurn();
  expect(sent).toEqual(['first', 'second']);
});

test('nothing waits for long work', () => {
  const sent: number[] = [];
  const put = createWriteBatch();
  put(() => sent.push(1));
  now.mockReturnValue(1_002);
  put(() => sent.push(2));
  expect(sent).toEqual([1, 2]);
});
