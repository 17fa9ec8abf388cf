import { expect, test } from 'vitest';
import { type PoolOrder, sameOrders } from '../../src/domain/pool-order.ts';

const ORDER: PoolOrder = { id: 'a', sells: 1, rate1: 1n, rate2: 2n ** 63n, balance1: 3n, balance2: 0n };
const OTHER: PoolOrder = { ...ORDER, id: 'b', sells: 2 };

test('equal orders in the same places are the same list', () => {
  const before = [ORDER, OTHER];
  expect(sameOrders(before, [{ ...ORDER }, { ...OTHER }])).toBe(before);
  const none: PoolOrder[] = [];
  expect(sameOrders(none, [])).toBe(none);
});

test.each<[string, readonly PoolOrder[]]>([
  ['with one fewer', [ORDER]],
  ['with one more', [ORDER, OTHER, OTHER]],
  ['in other places', [OTHER, ORDER]],
  ['with another id', [{ ...ORDER, id: 'c' }, OTHER]],
  ['with another side', [{ ...ORDER, sells: 2 }, OTHER]],
  ['with another rate 1', [{ ...ORDER, rate1: 2n }, OTHER]],
  ['with another rate 2', [{ ...ORDER, rate2: 2n ** 63n + 1n }, OTHER]],
  ['with another balance 1', [{ ...ORDER, balance1: 2n }, OTHER]],
  ['with another balance 2', [ORDER, { ...OTHER, balance2: 1n }]],
])('orders %s are another list', (_, orders) => {
  expect(sameOrders([ORDER, OTHER], orders)).toBe(orders);
});

test('orders after none that were known are as they are', () => {
  const orders = [ORDER];
  expect(sameOrders(undefined, orders)).toBe(orders);
});
