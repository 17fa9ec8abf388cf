import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { depthLadder, type LadderLevel, wholeReserves } from '../../src/domain/depth-ladder.ts';
import { type Offer, type OrderBook, toOrderBook } from '../../src/domain/order-book.ts';
import { toPoolBook } from '../../src/domain/pool-book.ts';
import { toSellingOrders } from '../../src/domain/pool-order.ts';
import { anyOrders, poolWithOrders } from './pool-orders.ts';
import { poolOf, tokenId } from './pools.ts';

function bookOf(bids: readonly Offer[], asks: readonly Offer[]): OrderBook {
  return toOrderBook({ tickerId: 'A_B', message: 'OK', timestamp: 1, bids, asks, entriesDropped: 0 });
}

const NOTHING = bookOf([], []);

describe('the ladder of a pool', () => {
  test('has the levels, and what the curve trades between them', () => {
    // From 100 target tokens per base token up to 121 the roots grow from 10 to 11, and down to 81 they fall to 9.
    const { midPrice, bids, asks } = depthLadder({ base: 10, target: 1_000 }, NOTHING, { levels: 1, stepPercent: 21 });
    expect(midPrice).toBe(100);
    expect(asks).toEqual([levelOf(121, 10 - 10 / 1.1, 0, 100)]);
    expect(bids).toEqual([levelOf(79, 10 / Math.sqrt(0.79) - 10, 0, 1_000 * (1 - Math.sqrt(0.79)))]);
  });

  test('is the same however many levels it is cut into, as near as doubles are', () => {
    const amount = fc.double({ min: 1e-6, max: 1e12, noNaN: true });
    fc.assert(
      fc.property(amount, amount, fc.integer({ min: 1, max: 199 }), (base, target, levels) => {
        const stepPercent = 90 / levels;
        const { midPrice, bids, asks } = depthLadder({ base, target }, NOTHING, { levels, stepPercent });
        for (const [side, factor, sign] of [
          [bids, 0.1, -1],
          [asks, 1.9, 1],
        ] as const) {
          const last = side.at(-1);
          const root = Math.sqrt(factor);
          expectNear(last?.price, midPrice * factor);
          expectNear(last?.cumulativeQuantity, base * sign * (1 - 1 / root));
          expectNear(last?.cumulativeTotal, target * sign * (root - 1));
        }
      }),
    );
  });

  test('does not lose its digits where levels are very near to each other', () => {
    const { asks } = depthLadder({ base: 1e9, target: 1e9 }, NOTHING, { levels: 2, stepPercent: 1e-12 });
    for (const { poolQuantity } of asks) expectNear(poolQuantity, 5e-6);
  });
});

describe('the ladder of a pool that holds less than its reserves', () => {
  // 10 base tokens at 100: the pool holds 1 of them, and 200 target tokens.
  const reserves = { base: 10, target: 1_000, held: { base: 1, target: 200 } };

  test('ends where the pool has given what it holds', () => {
    const steps = { levels: 6, stepPercent: 10 };
    const { bids, asks } = depthLadder(reserves, NOTHING, steps);
    const unlimited = depthLadder({ base: 10, target: 1_000 }, NOTHING, steps);
    // The root of the price of 120 is 1.095, and 1 / 0.9 of it is at 123.4.
    expect(asks.slice(0, 2)).toEqual(unlimited.asks.slice(0, 2));
    expectNear(asks[2]?.cumulativeQuantity, 1);
    expectNear(asks[2]?.cumulativeTotal, 1_000 * (1 / 0.9 - 1));
    expect(asks.slice(3).map(({ poolQuantity }) => poolQuantity)).toEqual([0, 0, 0]);
    expect(asks.slice(3).map(({ cumulativeTotal }) => cumulativeTotal)).toEqual(
      Array(3).fill(asks[2]?.cumulativeTotal),
    );
    // 200 target tokens are a fifth: the root falls to 0.8, which is a price of 64.
    expect(bids.slice(0, 3)).toEqual(unlimited.bids.slice(0, 3));
    expectNear(bids[3]?.cumulativeTotal, 200);
    expectNear(bids[3]?.cumulativeQuantity, 10 * (1 / 0.8 - 1));
    expect(bids.slice(4).map(({ poolQuantity }) => poolQuantity)).toEqual([0, 0]);
  });

  test('still has the orders beyond', () => {
    const book = bookOf([{ price: 50, quantity: 3 }], [{ price: 145, quantity: 2 }]);
    const { bids, asks } = depthLadder(reserves, book, { levels: 6, stepPercent: 10 });
    expect(asks.map(({ bookQuantity }) => bookQuantity)).toEqual([0, 0, 0, 0, 2, 0]);
    expect(bids.map(({ bookQuantity }) => bookQuantity)).toEqual([0, 0, 0, 0, 3, 0]);
    expectNear(asks[5]?.cumulativeQuantity, 3);
  });

  test('adds up to the curve or to what the pool holds, whichever is less, with the orders of the pool', () => {
    // The mid price is 1, as that of many of the orders.
    const part = fc.double({ min: 0.001, max: 1, noNaN: true });
    const steps = { levels: 12, stepPercent: 8 };
    fc.assert(
      fc.property(anyOrders, part, part, fc.constantFrom<1 | 2>(1, 2), (orders, partOfBase, partOfTarget, base) => {
        const held = { base: 10 * partOfBase, target: 10 * partOfTarget };
        const book = toPoolBook(toSellingOrders(orders), { base, decimals1: 9, decimals2: 9 });
        const ladder = depthLadder({ base: 10, target: 10, held }, book, steps);
        let bought = 0;
        for (const { price, poolQuantity, bookQuantity } of ladder.asks) {
          bought += poolQuantity;
          expect(bought).toBeCloseTo(Math.min(held.base, 10 * (1 - 1 / Math.sqrt(price))), 9);
          expect(bookQuantity).toBeGreaterThanOrEqual(0);
        }
        let sold = 0;
        for (const { price, poolQuantity } of ladder.bids) {
          sold += poolQuantity;
          const root = Math.max(1 - partOfTarget, Math.sqrt(price));
          expect(sold).toBeCloseTo(10 * (1 / root - 1), 9);
        }
        for (const [side, sign] of [
          [book.asks, 1],
          [book.bids, -1],
        ] as const) {
          const levels = sign === 1 ? ladder.asks : ladder.bids;
          const last = levels.at(-1)?.price ?? Number.NaN;
          const inside = side.filter(({ price }) => sign * (price - last) <= 0);
          const sum = levels.reduce((total, { bookQuantity }) => total + bookQuantity, 0);
          const expected = inside.reduce((total, { quantity }) => total + quantity, 0);
          expect(Math.abs(sum - expected)).toBeLessThanOrEqual(1e-9 * expected);
        }
      }),
    );
  });

  test('is the same as without a limit if it holds as much', () => {
    const steps = { levels: 9, stepPercent: 11 };
    const { base, target } = reserves;
    expect(depthLadder({ base, target, held: { base, target } }, NOTHING, steps)).toEqual(
      depthLadder({ base, target }, NOTHING, steps),
    );
  });
});

describe('the order book in a ladder', () => {
  const reserves = { base: 1, target: 100 };
  const steps = { levels: 3, stepPercent: 1 };

  test('counts each entry at the first level that reaches its price, those on the wrong side at the first', () => {
    const offers = (...prices: number[]) => prices.map((price, index) => ({ price, quantity: 10 ** index }));
    const { bids, asks } = depthLadder(
      reserves,
      bookOf(offers(120, 100, 99.5, 99, 98.9, 97, 96.99), offers(90, 100, 100.5, 101, 101.01, 103, 103.01)),
      steps,
    );
    expect(asks.map(({ price, bookQuantity }) => [price, bookQuantity])).toEqual([
      [101, 1_111],
      [102, 10_000],
      [103, 100_000],
    ]);
    expect(bids.map(({ price, bookQuantity }) => [price, bookQuantity])).toEqual([
      [99, 1_111],
      [98, 10_000],
      [97, 100_000],
    ]);
    const [first] = asks;
    const pool = depthLadder(reserves, NOTHING, steps).asks[0]?.cumulativeTotal ?? 0;
    expect(first?.cumulativeTotal).toBeCloseTo(pool + 90 + 1_000 + 10_050 + 101_000, 9);
  });

  test('adds up: what each level has, and what all so far have, at the prices of the entries', () => {
    const side = fc.array(
      fc.record({
        price: fc.double({ min: 50, max: 150, noNaN: true }),
        quantity: fc.double({ min: 0, max: 1e3, noNaN: true }),
      }),
    );
    fc.assert(
      fc.property(side, side, fc.integer({ min: 1, max: 40 }), (bidOffers, askOffers, levels) => {
        const stepPercent = 0.7;
        const book = bookOf(bidOffers, askOffers);
        const ladder = depthLadder(reserves, book, { levels, stepPercent });
        const pool = depthLadder(reserves, NOTHING, { levels, stepPercent });
        for (const [name, sign] of [
          ['bids', -1],
          ['asks', 1],
        ] as const) {
          expect(ladder[name]).toHaveLength(levels);
          let cumulative = 0;
          for (const [index, level] of ladder[name].entries()) {
            const factor = 1 + (sign * (index + 1) * stepPercent) / 100;
            expectNear(level.price, 100 * factor);
            expect(level.poolQuantity).toBe(pool[name][index]?.poolQuantity);
            expect(level.quantity).toBe(level.poolQuantity + level.bookQuantity);
            cumulative += level.quantity;
            expect(level.cumulativeQuantity).toBe(cumulative);
            const inside = book[name].filter(({ price }) => sign * (price - level.price) <= 0);
            const worth = inside.reduce((sum, { price, quantity }) => sum + price * quantity, 0);
            expect(level.cumulativeTotal).toBeCloseTo((pool[name][index]?.cumulativeTotal ?? 0) + worth, 6);
            const before = ladder[name].slice(0, index).reduce((sum, { bookQuantity }) => sum + bookQuantity, 0);
            expect(before + level.bookQuantity).toBeCloseTo(
              inside.reduce((sum, { quantity }) => sum + quantity, 0),
              6,
            );
          }
        }
      }),
    );
  });
});

describe('the reserves in whole tokens', () => {
  const pool = poolOf(2_000n, 30n);

  test.each([
    [tokenId('b'), { base: 3, target: 2 }],
    [tokenId('a'), { base: 2, target: 3 }],
  ])('count the base first', (baseId, expected) => {
    expect(wholeReserves(pool, baseId, 3, 1)).toEqual(expected);
  });

  test('are undefined for an empty side', () => {
    expect(wholeReserves(poolOf(0n, 1n), tokenId('a'), 0, 0)).toBeUndefined();
    expect(wholeReserves(poolOf(1n, 0n), tokenId('a'), 0, 0)).toBeUndefined();
    expect(wholeReserves(poolWithOrders([3n, 3n], [], [1n, 0n]), tokenId('a'), 0, 0)).toBeUndefined();
  });

  test('come with what a pool of the third version holds', () => {
    const amplified = poolWithOrders([2_000n, 30n], [], [1_000n, 15n]);
    expect(wholeReserves(amplified, tokenId('b'), 3, 1)).toEqual({
      base: 3,
      target: 2,
      held: { base: 1.5, target: 1 },
    });
  });
});

/** Equal but for the rounding of doubles. */
function expectNear(actual: number | undefined, expected: number): void {
  expect((actual ?? Number.NaN) / expected).toBeCloseTo(1, 9);
}

/** A first level of a ladder. */
function levelOf(price: number, poolQuantity: number, bookQuantity: number, cumulativeTotal: number): LadderLevel {
  const quantity = poolQuantity + bookQuantity;
  const near = (value: number) => expect.closeTo(value, 9) as number;
  return {
    price,
    poolQuantity: near(poolQuantity),
    bookQuantity,
    quantity: near(quantity),
    cumulativeQuantity: near(quantity),
    cumulativeTotal: near(cumulativeTotal),
  };
}
