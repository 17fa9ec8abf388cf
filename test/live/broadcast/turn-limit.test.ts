import { setImmediate as immediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurnLimit } from '../../../src/live/broadcast/turn-limit.ts';

test('a few go on at once, and the others a few in each turn, in the order in which they came', async () => {
  const breather = createTurnLimit(2);
  const gone: number[] = [];
  for (let n = 1; n <= 5; n++) void breather.wait().then(() => gone.push(n));
  const turns: number[][] = [];
  while (gone.length < 5) {
    await Promise.resolve();
    turns.push([...gone]);
    await immediate();
  }
  expect(turns[0]).toEqual([1, 2]);
  expect(turns).toContainEqual([1, 2, 3, 4]);
  expect(gone).toEqual([1, 2, 3, 4, 5]);
  await breather.wait();
});
