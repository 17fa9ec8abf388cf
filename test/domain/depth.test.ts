import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { depthLadder, type LadderLevel, poolDepths, wholeReserves } from '../../src/domain/depth.ts';
import { parseExactDecimal } from '../../src/domain/exact-decimal.ts';
import { type Offer, type OrderBook, toOrderBook } from '../../src/domain/order-book.ts';
import { amountReceived } from '../../src/domain/swap.ts';
import { poolOf, someReserve, tokenId } from './pools.ts';

const anyPercent = fc.oneof(
  fc.constantFrom(0.5, 1, 2, 5, 10, 21, 44, 99, 1e-9, 99.999999),
  fc.double({ min: 1e-12, max: 99.999, noNaN: true }),
);

/** The percentage as a fraction of whole numbers. */
function toFraction(percent: number): readonly [bigint, bigint] {
  const { units, scale } = parseExactDecimal(String(percent)) ?? { units: 0n, scale: 0 };
  return [units, 100n * 10n ** BigInt(scale)];
}

describe('the depth of a pool', () => {
  test('is known where the roots are whole numbers', () => {
    // 21 % more is 1.1 times the reserve; 19 % less is 1 / 0.9 of it.
    expect(poolDepths(poolOf(1_000_000n, 9_000n), [21, 19])).toEqual([
      { percent: 21, upToken1: 100_000n, upToken2: 818n, downToken2: 1_126n, downToken1: 111_198n },
      { percent: 19, upToken1: 90_872n, upToken2: 749n, downToken2: 1_000n, downToken1: 100_000n },
    ]);
  });

  test('pays the smallest amount that reaches the price, of any reserves and any percentage', () => {
    fc.assert(
      fc.property(someReserve, someReserve, anyPercent, (reserve1, reserve2, percent) => {
        const [depth] = poolDepths(poolOf(reserve1, reserve2), [percent]);
        if (depth === undefined) throw new Error('no depth');
        const [part, whole] = toFraction(percent);
        // On the curve the price is reserve1² / product, so it rises as the square of reserve 1 does.
        const reaches = (paid: bigint) => (reserve1 + paid) ** 2n * whole >= reserve1 ** 2n * (whole + part);
        expect([reaches(depth.upToken1), reaches(depth.upToken1 - 1n)]).toEqual([true, false]);
        const falls = (paid: bigint) => (reserve2 + paid) ** 2n * (whole - part) >= reserve2 ** 2n * whole;
        expect([falls(depth.downToken2), falls(depth.downToken2 - 1n)]).toEqual([true, false]);
        expect(depth.upToken2).toBe(amountReceived(reserve1, reserve2, depth.upToken1));
        expect(depth.downToken1).toBe(amountReceived(reserve2, reserve1, depth.downToken2));
      }),
    );
  });

  test('is what trading one smallest unit after another comes to', () => {
    const reserve = fc.bigInt(1n, 2_000n);
    fc.assert(
      fc.property(reserve, reserve, fc.integer({ min: 1, max: 60 }), (reserve1, reserve2, percent) => {
        const [depth] = poolDepths(poolOf(reserve1, reserve2), [percent]);
        const product = reserve1 * reserve2;
        const stepwise = (paidInto: bigint, isThere: (reserve: bigint) => boolean) => {
          let held = paidInto;
          while (!isThere(held)) held += 1n;
          return held - paidInto;
        };
        const p = BigInt(percent);
        // The price is reserve1 / (product / reserve1) before rounding, and the product stays the same.
        const up = stepwise(reserve1, (held) => held * held * 100n * reserve2 >= product * reserve1 * (100n + p));
        const down = stepwise(reserve2, (held) => product * reserve2 * 100n <= held * held * reserve1 * (100n - p));
        const remaining = (paid: bigint) => (product % paid === 0n ? product / paid : product / paid + 1n);
        expect(depth).toEqual({
          percent,
          upToken1: up,
          upToken2: reserve2 - remaining(reserve1 + up),
          downToken2: down,
          downToken1: reserve1 - remaining(reserve2 + down),
        });
      }),
    );
  });

  test('has an entry for each percentage, in their order, and none of a pool with an empty side', () => {
    expect(poolDepths(poolOf(10n, 10n), [5, 1, 5]).map(({ percent }) => percent)).toEqual([5, 1, 5]);
    expect(poolDepths(poolOf(0n, 10n), [5])).toEqual([]);
    expect(poolDepths(poolOf(10n, 0n), [5])).toEqual([]);
  });
});

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
