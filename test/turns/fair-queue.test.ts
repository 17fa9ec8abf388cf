import { expect, test } from 'vitest';
import { createFairQueue, type Requester } from '../../src/turns/fair-queue.ts';
import { untilCollected } from '../support/garbage.ts';

const operationOf = (client: string): Requester => ({ client });

/** A queue with these items of these operations, in this order. */
function queueOf(...waiting: [Requester, string[]][]) {
  const queue = createFairQueue<string>();
  for (const [requester, items] of waiting) for (const item of items) queue.add(item, requester);
  function takeAll(): string[] {
    return Array.from({ length: queue.size() }, () => queue.next() ?? 'nothing');
  }
  return { ...queue, takeAll };
}

test('clients take turns, and the items of each come in their order', () => {
  const { takeAll, next, size } = queueOf(
    [operationOf('a'), ['a1', 'a2', 'a3', 'a4']],
    [operationOf('b'), ['b1']],
    [operationOf('c'), ['c1', 'c2']],
  );
  expect(takeAll()).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3', 'a4']);
  expect([size(), next()]).toEqual([0, undefined]);
});

test('a client with many operations has one turn like the others, and its operations take turns in it', () => {
  const { takeAll } = queueOf(
    [operationOf('a'), ['a1', 'a2']],
    [operationOf('a'), ['A1', 'A2']],
    [operationOf('a'), ['α1']],
    [operationOf('b'), ['b1', 'b2', 'b3']],
  );
  expect(takeAll()).toEqual(['a1', 'b1', 'A1', 'b2', 'α1', 'b3', 'a2', 'A2']);
});

test('a new client comes after those that have not had their turn', () => {
  const queue = queueOf([operationOf('a'), ['a1', 'a2', 'a3']], [operationOf('b'), ['b1', 'b2']]);
  expect(queue.next()).toBe('a1');
  queue.add('c1', operationOf('c'));
  expect(queue.takeAll()).toEqual(['b1', 'a2', 'c1', 'b2', 'a3']);
});

test('an item that several wait for comes with the first of them, once', () => {
  const chart = Array.from({ length: 5 }, (_, n) => `height ${n}`);
  const { takeAll, size } = queueOf([operationOf('a'), chart], [operationOf('b'), ['height 4']]);
  expect(size()).toBe(5);
  expect(takeAll()).toEqual(['height 0', 'height 4', 'height 1', 'height 2', 'height 3']);
});

test('an operation that leaves takes nothing from the others that wait for the same item', () => {
  const [a, b] = [operationOf('a'), operationOf('b')];
  const { leave, has, size, takeAll } = queueOf([a, ['1', '2']], [b, ['2']]);
  leave('2', a);
  expect([has('2'), size()]).toEqual([true, 2]);
  leave('2', b);
  expect([has('2'), size()]).toEqual([false, 1]);
  leave('2', b);
  expect(takeAll()).toEqual(['1']);
});

test('a full queue refuses the newest item of the operation with the most items, of the client with the most', () => {
  const [long, short] = [operationOf('a'), operationOf('a')];
  const others: [Requester, string[]][] = [
    [operationOf('b'), ['b1', 'b2', 'b3']],
    [operationOf('c'), ['c1']],
  ];
  const most = (...waiting: [Requester, string[]][]) => queueOf(...waiting).itemToRefuse();
  expect(most([long, ['1', '2', '3', '4']], ...others)).toBe('4');
  expect(most([long, ['1', '2']], [short, ['s']], [operationOf('a'), ['t']], ...others)).toBe('2');
  expect(most([operationOf('a'), ['1', '2', '3']], ...others, [operationOf('d'), ['d1']])).toBe('b3');
  expect(most()).toBeUndefined();
});

test('a full queue keeps items that other clients wait for too if there is any other', () => {
  const [greedy, other] = [operationOf('a'), operationOf('b')];
  expect(queueOf([greedy, ['1', '2', '3']], [other, ['3']]).itemToRefuse()).toBe('2');
  expect(queueOf([greedy, ['1', '2', '3']], [operationOf('a'), ['3']]).itemToRefuse()).toBe('3');
  expect(queueOf([greedy, ['1', '2']], [other, ['1', '2']]).itemToRefuse()).toBe('2');
});

test('an item that many wait for counts only for the operation that added it', () => {
  const chart = ['1', '2', '3'];
  const followers = Array.from({ length: 9 }, (): [Requester, string[]] => [operationOf('b'), chart]);
  expect(queueOf([operationOf('a'), [...chart, '4']], ...followers, [operationOf('b'), ['5']]).itemToRefuse()).toBe(
    '4',
  );
});

test('an item whose operation leaves counts for the next one that waits for it', () => {
  const [first, next] = [operationOf('a'), operationOf('b')];
  const queue = queueOf([first, ['1', '2', '3']], [next, ['1', '2', '4']], [operationOf('c'), ['5', '6']]);
  expect(queue.itemToRefuse()).toBe('3');
  for (const item of ['1', '2', '3']) queue.leave(item, first);
  expect(queue.itemToRefuse()).toBe('2');
});

test('to refuse an item of a long queue takes no look at the others', () => {
  let looks = 0;
  const requester: Requester = {
    get client() {
      looks += 1;
      return 'a';
    },
  };
  const queue = queueOf([requester, Array.from({ length: 1_000 }, (_, n) => `${n}`)]);
  looks = 0;
  expect(queue.itemToRefuse()).toBe('999');
  expect(looks).toBeLessThan(10);
});

test('an operation that waits for nothing any more is forgotten', async () => {
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
  await untilCollected(forgotten);
  expect(queue.next()).toBe('still there');
});
