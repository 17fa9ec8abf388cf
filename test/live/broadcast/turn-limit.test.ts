import { setImmediate as immediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurnLimit } from '../../../src/live/broadcast/turn-limit.ts';

test('a few callers proceed at once, and the others a few in each turn, in the order of their calls', async () => {
  const limit = createTurnLimit(2);
  const done: number[] = [];
  for (let n = 1; n <= 5; n++) void limit.wait().then(() => done.push(n));
  const turns: number[][] = [];
  while (done.length < 5) {
    await Promise.resolve();
    turns.push([...done]);
    await immediate();
  }
  expect(turns[0]).toEqual([1, 2]);
  expect(turns).toContainEqual([1, 2, 3, 4]);
  expect(done).toEqual([1, 2, 3, 4, 5]);
  await limit.wait();
});
