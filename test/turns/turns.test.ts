import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurnLimit, createTurnQueue } from '../../src/turns/turns.ts';

test('a few callers proceed at once, and the others a few in each turn, in the order of their calls', async () => {
  const limit = createTurnLimit(2);
  const done: number[] = [];
  for (let n = 1; n <= 5; n++) void limit.wait().then(() => done.push(n));
  const turns: number[][] = [];
  while (done.length < 5) {
    await Promise.resolve();
    turns.push([...done]);
    await nextTurn();
  }
  expect(turns[0]).toEqual([1, 2]);
  expect(turns).toContainEqual([1, 2, 3, 4]);
  expect(done).toEqual([1, 2, 3, 4, 5]);
  await limit.wait();
});

test('of a queue, one caller proceeds in each later turn', async () => {
  const takeTurn = createTurnQueue();
  const done: number[] = [];
  const turns: number[][] = [];
  for (let n = 1; n <= 3; n++) void takeTurn().then(() => done.push(n));
  for (let turn = 0; done.length < 3; turn++) {
    await Promise.resolve();
    turns.push([...done]);
    if (turn === 1) void takeTurn();
    await nextTurn();
  }
  expect(turns).toEqual([[], [1], [1, 2]]);
  await takeTurn();
});

test('of a queue, the clients take turns', async () => {
  const takeTurn = createTurnQueue();
  const done: string[] = [];
  const turns: string[] = [];
  for (const client of ['many', 'many', 'many', 'one', undefined])
    void takeTurn(client).then(() => done.push(client ?? 'itself'));
  while (done.length < 5) {
    await Promise.resolve();
    turns.push(done.join(' '));
    await nextTurn();
  }
  expect(turns).toEqual(['', 'many', 'many one', 'many one itself', 'many one itself many']);
  await takeTurn('one');
});
