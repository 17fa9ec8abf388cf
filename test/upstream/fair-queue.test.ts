import { setImmediate as immediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createFairQueue, type Requester } from '../../src/upstream/fair-queue.ts';

const askerOf = (client: string): Requester => ({ client });

/** A queue in which these wait, by who asks, in this order; and all that waits in it, as it comes. */
function queueOf(...waiting: [Requester, string[]][]) {
  const queue = createFairQueue<string>();
  for (const [requester, things] of waiting) for (const thing of things) queue.add(thing, requester);
  function takeAll(): string[] {
    return Array.from({ length: queue.size() }, () => queue.next() ?? 'nothing');
  }
  return { ...queue, takeAll };
}

test('one of each client in turn, of each what it asked for first', () => {
  const { takeAll, next, size } = queueOf(
    [askerOf('a'), ['a1', 'a2', 'a3', 'a4']],
    [askerOf('b'), ['b1']],
    [askerOf('c'), ['c1', 'c2']],
  );
  expect(takeAll()).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3', 'a4']);
  expect([size(), next()]).toEqual([0, undefined]);
});

test('a client that asks in many operations has one place among clients, its operations take turns in it', () => {
  const { takeAll } = queueOf(
    [askerOf('a'), ['a1', 'a2']],
    [askerOf('a'), ['A1', 'A2']],
    [askerOf('a'), ['α1']],
    [askerOf('b'), ['b1', 'b2', 'b3']],
  );
  expect(takeAll()).toEqual(['a1', 'b1', 'A1', 'b2', 'α1', 'b3', 'a2', 'A2']);
});

test('who comes while others wait is next after those who have not had their turn', () => {
  const queue = queueOf([askerOf('a'), ['a1', 'a2', 'a3']], [askerOf('b'), ['b1', 'b2']]);
  expect(queue.next()).toBe('a1');
  queue.add('c1', askerOf('c'));
  expect(queue.takeAll()).toEqual(['b1', 'a2', 'c1', 'b2', 'a3']);
});

test('what several wait for comes with the first of them, once', () => {
  const chart = Array.from({ length: 5 }, (_, n) => `height ${n}`);
  const { takeAll, size } = queueOf([askerOf('a'), chart], [askerOf('b'), ['height 4']]);
  expect(size()).toBe(5);
  expect(takeAll()).toEqual(['height 0', 'height 4', 'height 1', 'height 2', 'height 3']);
});

test('who leaves a lane takes nothing from the others who wait there', () => {
  const [a, b] = [askerOf('a'), askerOf('b')];
  const { leave, has, size, takeAll } = queueOf([a, ['1', '2']], [b, ['2']]);
  leave('2', a);
  expect([has('2'), size()]).toEqual([true, 2]);
  leave('2', b);
  expect([has('2'), size()]).toEqual([false, 1]);
  leave('2', b);
  expect(takeAll()).toEqual(['1']);
});

test('to make room, the newest of the longest lane goes', () => {
  const [long, short] = [askerOf('a'), askerOf('a')];
  const others: [Requester, string[]][] = [
    [askerOf('b'), ['b1', 'b2', 'b3']],
    [askerOf('c'), ['c1']],
  ];
  const most = (...waiting: [Requester, string[]][]) => queueOf(...waiting).itemToRefuse();
  expect(most([long, ['1', '2', '3', '4']], ...others)).toBe('4');
  expect(most([long, ['1', '2']], [short, ['s']], [askerOf('a'), ['t']], ...others)).toBe('2');
  expect(most([askerOf('a'), ['1', '2', '3']], ...others, [askerOf('d'), ['d1']])).toBe('b3');
  expect(most()).toBeUndefined();
});

test('to make room, what other clients wait for too stays where there is anything else', () => {
  const [greedy, other] = [askerOf('a'), askerOf('b')];
  expect(queueOf([greedy, ['1', '2', '3']], [other, ['3']]).itemToRefuse()).toBe('2');
  expect(queueOf([greedy, ['1', '2', '3']], [askerOf('a'), ['3']]).itemToRefuse()).toBe('3');
  expect(queueOf([greedy, ['1', '2']], [other, ['1', '2']]).itemToRefuse()).toBe('2');
});

test('what many ask for together makes none of their lanes longer, but that of who brought it', () => {
  const chart = ['1', '2', '3'];
  const followers = Array.from({ length: 9 }, (): [Requester, string[]] => [askerOf('b'), chart]);
  expect(queueOf([askerOf('a'), [...chart, '4']], ...followers, [askerOf('b'), ['5']]).itemToRefuse()).toBe('4');
});

test('an requester for whom nothing waits any more is forgotten', async () => {
  const queue = createFairQueue<string>();
  const forgotten = ['next', 'leave', 'remove'].map((way) => {
    const requester = { client: way };
    queue.add(way, requester);
    if (way === 'leave') queue.leave(way, requester);
    else if (way === 'remove') queue.remove(way);
    else queue.next();
    return new WeakRef(requester);
  });
  queue.add('still there', { client: 'another' });
  await immediate();
  setFlagsFromString('--expose_gc');
  runInNewContext('gc')();
  expect(forgotten.map((each) => each.deref())).toEqual([undefined, undefined, undefined]);
  expect(queue.next()).toBe('still there');
});
