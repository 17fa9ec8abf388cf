import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addExact,
  compareExact,
  type ExactDecimal,
  formatExactDecimal,
  parseExactDecimal,
} from '../../src/domain/exact-decimal.ts';
import { exactPrice, exactQuantity, type Offer } from '../../src/domain/order-book.ts';
import { uncross } from '../../src/domain/pool-book.ts';

const offers = (...entries: readonly (readonly [number, number])[]): Offer[] =>
  entries.map(([price, quantity]) => ({ price, quantity }));
const shown = (side: readonly Offer[]) => side.map((offer) => [exactPrice(offer), exactQuantity(offer)]);

describe('the orders of a crossed book', () => {
  test('are matched best first, and the rest of an order stays with its exact quantity', () => {
    const { bids, asks } = uncross({
      bids: offers([11, 0.3], [10, 1], [9, 2]),
      asks: offers([8, 0.1], [9.5, 0.1], [12, 3]),
    });
    expect([shown(bids), shown(asks)]).toEqual([
      [
        ['11', '0.1'],
        ['10', '1'],
        ['9', '2'],
      ],
      [['12', '3']],
    ]);
    expect(bids[0]?.quantity).toBe(0.1);
  });

  test('are both removed if their quantities are equal, also at the same price', () => {
    expect(uncross({ bids: offers([10, 1]), asks: offers([10, 1], [11, 2]) })).toEqual({
      bids: [],
      asks: offers([11, 2]),
    });
  });

  test('are removed without a match if they have no quantity', () => {
    const { bids, asks } = uncross({ bids: offers([11, 0], [9, 1]), asks: offers([8, -1], [10, 1]) });
    expect([shown(bids), shown(asks)]).toEqual([[['9', '1']], [['10', '1']]]);
  });
});

test('a book that is not crossed stays as it is', () => {
  const bids = offers([9, 0], [8, 2]);
  const asks = offers([10, 1]);
  expect(uncross({ bids, asks })).toEqual({ bids, asks });
  expect(uncross({ bids: [], asks })).toEqual({ bids: [], asks });
});

test('any book is uncrossed afterwards, and loses the same quantity on both sides', () => {
  const side = (direction: 1 | -1) =>
    fc
      .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 1_000 })), {
        selector: ([price]) => price,
        maxLength: 20,
      })
      .map((entries) => offers(...entries.map(([price, n]) => [price / 10, n / 100] as const)))
      .map((entries) => entries.sort((a, b) => direction * (a.price - b.price)));
  const zero: ExactDecimal = { units: 0n, scale: 0 };
  const total = (entries: readonly Offer[]) =>
    entries.reduce((sum, offer) => addExact(sum, parseExactDecimal(exactQuantity(offer)) ?? zero), zero);

  fc.assert(
    fc.property(side(-1), side(1), (bids, asks) => {
      const left = uncross({ bids, asks });
      const [bid, ask] = [left.bids[0], left.asks[0]];
      if (bid && ask) expect(bid.price).toBeLessThan(ask.price);
      const sums = [addExact(total(bids), total(left.asks)), addExact(total(asks), total(left.bids))] as const;
      expect(compareExact(...sums), sums.map(formatExactDecimal).join(' and ')).toBe(0);
    }),
  );
});
