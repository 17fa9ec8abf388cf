import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { depthLadder, type LadderLevel, wholeReserves } from '../../src/domain/depth-ladder.ts';
import { type Offer, type OrderBook, toOrderBook } from '../../src/domain/order-book.ts';
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
