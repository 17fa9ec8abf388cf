import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { depthTrades, poolDepths } from '../../src/domain/depth.ts';
import { matchableTerms, type PoolOrder, toSellingOrders } from '../../src/domain/pool-order.ts';
import { PoolSwap } from '../../src/domain/pool-swap.ts';
import { toAmounts, vectorsOf } from '../fixtures/node/v3/swap-vectors.ts';
import { orderOf, poolWithOrders, readSamplePools } from './pool-orders.ts';
import { MAX_RESERVE, poolOf } from './pools.ts';
import { swapSlowly } from './v3-swap.ts';
import { toOrder } from './v3-vectors.ts';

/** A pool as a trade meets it that pays one of its tokens (`In`) and receives the other one (`Out`). */
type TradedPool = {
  readonly reserveIn: bigint;
  readonly reserveOut: bigint;
  readonly valueIn: bigint;
  readonly valueOut: bigint;
  readonly orders: readonly PoolOrder[];
};

/** The smallest trades after which the reserve of the token that is paid is at least each of these targets, as far as there are any. */
function smallestTrades({ reserveIn, reserveOut, valueIn, valueOut, orders }: TradedPool, targets: readonly bigint[]) {
  const swap = new PoolSwap({
    virtualIn: reserveIn,
    virtualOut: reserveOut,
    realIn: valueIn,
    realOut: valueOut,
    orders: matchableTerms(orders),
  });
  return new Map(
    targets.flatMap((target) => {
      const paid = swap.leastTo(target);
      return paid === undefined ? [] : [[target, { paid, received: swap.sell(paid) }]];
    }),
  );
}

/** A pool whose orders sell token 2, as a trade that pays token 1 meets it. */
function tradedPool(
  [reserveIn, reserveOut]: readonly [bigint, bigint],
  orders: readonly PoolOrder[],
  [valueIn, valueOut]: readonly [bigint, bigint] = [reserveIn, reserveOut],
): TradedPool {
  return { reserveIn, reserveOut, valueIn, valueOut, orders: toSellingOrders(orders).selling2 };
}

/** The trade of that amount by the steps of the exchange, one after another; `undefined` if it is refused. */
function slowTrade({ reserveIn, reserveOut, valueIn, valueOut, orders }: TradedPool, amount: bigint) {
  const pool = poolWithOrders([reserveIn, reserveOut], orders.toReversed(), [valueIn, valueOut]);
  const traded = swapSlowly(pool, pool.token1Id, amount);
  return typeof traded === 'string' ? undefined : { reserveIn: traded.after.reserve1, received: traded.bought };
}

/** The swaps of the vectors through one pool that trades. */
const swaps = vectorsOf('swap').flatMap(([name, vector]) => {
  const { path, pools, sellToken, sellAmount, expected } = vector;
  const [id = ''] = path;
  const pool = pools[id];
  if (path.length !== 1 || pool === undefined || pool.real.includes('0')) return [];
  // The trader's own minimum is not about the pool.
  if (!expected.accepted && expected.why === 'BELOW_MINIMUM') return [];
  const isFrom0 = pool.tokens[0] === sellToken;
  const turned = (amounts: readonly [string, string]) =>
    isFrom0 ? toAmounts(amounts) : toAmounts([amounts[1], amounts[0]]);
  // As if all sold token 1, which the vectors call token 0.
  const orders = pool.orders.map((order) => ({
    ...order,
    sells: isFrom0 ? order.sells : ((1 - order.sells) as 0 | 1),
    ...(!isFrom0 && { rate: order.rate.toReversed() as [string, string] }),
    ...(!isFrom0 && { balance: order.balance.toReversed() as [string, string] }),
  }));
  const after = expected.accepted ? expected.poolsAfter[id] : undefined;
  return {
    name,
    amount: BigInt(sellAmount),
    pool: tradedPool(turned(pool.virtual), orders.map(toOrder), turned(pool.real)),
    received: expected.accepted ? BigInt(expected.buyAmount) : undefined,
    reserveAfter: after && turned(after.virtual)[0],
  };
});

describe('the swaps of the vectors', () => {
  test('are many', () => expect(swaps.length).toBeGreaterThan(20));

  test.each(swaps)('$name', ({ amount, pool, received, reserveAfter }) => {
    expect(slowTrade(pool, amount)?.received).toBe(received);
    if (reserveAfter === undefined || reserveAfter === pool.reserveIn) return;
    const trade = smallestTrades(pool, [reserveAfter]).get(reserveAfter);
    expect(trade).toBeDefined();
    expect((trade?.paid ?? 0n) <= amount).toBe(true);
    expect(slowTrade(pool, trade?.paid ?? 0n)?.received).toBe(trade?.received);
  });
});

describe('the smallest trade to a reserve', () => {
  test('is the payment to the curve where no order is on the way', () => {
    const pool = tradedPool([1_000n, 9_000n], [orderOf('a', 2, [2n, 1n], [0n, 50n])]);
    expect(smallestTrades(pool, [1_100n])).toEqual(new Map([[1_100n, { paid: 100n, received: 818n }]]));
  });

  test('takes an order on the way, at its own rate', () => {
    // The order sells 500 for 100, at a price of 0.2; the curve begins at 1 / 9 and gets to 0.2 with 1,341.
    const pool = tradedPool([1_000n, 9_000n], [orderOf('a', 2, [100n, 500n], [0n, 500n])]);
    const toOrder = slowTrade(pool, 341n);
    expect(toOrder).toEqual({ reserveIn: 1_341n, received: 2_288n });
    const trades = smallestTrades(pool, [1_341n, 1_342n, 1_400n]);
    expect(trades.get(1_341n)).toEqual({ paid: 341n, received: 2_288n });
    // Of one unit more, the curve would get nothing: 442 and 443 are between the order and the curve.
    expect(trades.get(1_342n)).toEqual({ paid: 442n, received: 2_793n });
    expect(trades.get(1_400n)).toEqual({ paid: 500n, received: slowTrade(pool, 500n)?.received });
  });

  test('takes an order first that is better than the curve', () => {
    const pool = tradedPool([1_000n, 9_000n], [orderOf('a', 2, [1n, 100n], [0n, 1_000n])]);
    expect(smallestTrades(pool, [1_001n])).toEqual(new Map([[1_001n, { paid: 11n, received: 1_008n }]]));
  });

  test('leaves out orders that no trade can meet', () => {
    const dust = [orderOf('a', 2, [1n, 100n], [0n, 99n]), orderOf('b', 2, [1n, 100n], [7n, 0n])];
    expect(smallestTrades(tradedPool([1_000n, 9_000n], dust), [1_001n])).toEqual(
      smallestTrades(tradedPool([1_000n, 9_000n], []), [1_001n]),
    );
  });

  test('is missing where the pool does not hold what the curve would give', () => {
    const pool = tradedPool([1_000n, 9_000n], [], [100n, 818n]);
    expect([...smallestTrades(pool, [1_100n, 1_101n]).keys()]).toEqual([1_100n]);
  });

  test('is missing where an amount would exceed 64 bits', () => {
    const full = orderOf('a', 2, [100n, 500n], [MAX_RESERVE - 100n, 500n]);
    const beyond = { ...full, balance1: full.balance1 + 1n };
    expect(smallestTrades(tradedPool([1_000n, 9_000n], [full]), [1_400n]).size).toBe(1);
    expect([...smallestTrades(tradedPool([1_000n, 9_000n], [beyond]), [1_200n, 1_400n]).keys()]).toEqual([1_200n]);
    const large = tradedPool([MAX_RESERVE * 4n, MAX_RESERVE * 4n], [], [1_000n, MAX_RESERVE]);
    const [most, more] = [MAX_RESERVE * 5n - 1_000n, MAX_RESERVE * 5n - 999n];
    expect([...smallestTrades(large, [most, more]).keys()]).toEqual([most]);
  });

  test('is missing beyond an order that could give more than 64 bits for all that is left', () => {
    // It sells 10^18 for 1 unit, so for 19 units it could give more than 2^64 - 1.
    const cheap = orderOf('a', 2, [1n, 10n ** 18n], [0n, 10n ** 18n]);
    const pool = tradedPool([1_000n, 9_000n], [cheap]);
    expect([...smallestTrades(pool, [1_017n, 1_018n]).keys()]).toEqual([1_017n]);
    expect([slowTrade(pool, 18n)?.reserveIn, slowTrade(pool, 19n)]).toEqual([1_017n, undefined]);
  });

  test('is missing beyond an order at which the pool has given its last unit', () => {
    // The curve gets to the price of the order with 341, for 2,288.
    const order = orderOf('a', 2, [100n, 500n], [0n, 500n]);
    const [toOrder, beyond] = [1_341n, 1_342n];
    const trades = (valueOut: bigint) => [
      ...smallestTrades(tradedPool([1_000n, 9_000n], [order], [1_000n, valueOut]), [toOrder, beyond]).keys(),
    ];
    expect([trades(2_287n), trades(2_288n), trades(2_293n)]).toEqual([[], [toOrder], [toOrder, beyond]]);
  });

  test('is the first of all amounts that the exchange accepts and that gets there', () => {
    const reserve = fc.oneof(fc.bigInt(1n, 5n), fc.bigInt(1n, 400n));
    const amount = fc.oneof(fc.bigInt(1n, 3n), fc.bigInt(1n, 60n));
    const order = fc.tuple(amount, amount, fc.bigInt(0n, 60n));
    fc.assert(
      fc.property(
        reserve,
        reserve,
        fc.array(order, { maxLength: 6 }),
        fc.array(fc.bigInt(1n, 80n), { minLength: 1, maxLength: 4 }),
        fc.oneof(fc.constant(100n), fc.bigInt(0n, 100n)),
        (reserveIn, reserveOut, orders, steps, held) => {
          const pool = tradedPool(
            [reserveIn, reserveOut],
            orders.map(([rate1, rate2, left], index) => orderOf(`${index}`, 2, [rate1, rate2], [0n, left])),
            [reserveIn, (reserveOut * held) / 100n],
          );
          const targets = steps.map((step) => reserveIn + step);
          const trades = smallestTrades(pool, targets);
          const accepted = Array.from({ length: 1_000 }, (_, index) => {
            const paid = BigInt(index + 1);
            const trade = slowTrade(pool, paid);
            return trade && { paid, ...trade };
          });
          for (const target of targets) {
            const first = accepted.find((each) => each && each.reserveIn >= target);
            const found = trades.get(target);
            // Few trades are larger than those that were tried.
            if (first === undefined && found !== undefined && found.paid > 1_000n) continue;
            expect(found).toEqual(first && { paid: first.paid, received: first.received });
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  test('is accepted, and gets there, at any magnitude', () => {
    const amount = fc.oneof(fc.bigInt(1n, 10n ** 6n), fc.bigInt(1n, 10n ** 13n), fc.bigInt(1n, MAX_RESERVE));
    fc.assert(
      fc.property(
        amount,
        amount,
        fc.array(fc.tuple(fc.integer({ min: -50, max: 400 }), amount, amount), { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 }),
        (reserveIn, reserveOut, orders, percents) => {
          const pool = tradedPool(
            [reserveIn * 3n, reserveOut * 3n],
            // Rates near the price of the curve.
            orders.map(([percent, rate2, left], index) => {
              const rate1 = (rate2 * reserveIn * BigInt(100 + percent)) / (reserveOut * 100n);
              return orderOf(`${index}`, 2, [rate1 > MAX_RESERVE ? MAX_RESERVE : rate1 + 1n, rate2], [0n, left]);
            }),
            [reserveIn, reserveOut],
          );
          const targets = percents.map((percent) => pool.reserveIn + (pool.reserveIn * BigInt(percent)) / 100n + 1n);
          for (const [target, { paid, received }] of smallestTrades(pool, targets)) {
            const trade = slowTrade(pool, paid);
            expect(trade?.received).toBe(received);
            expect((trade?.reserveIn ?? 0n) >= target).toBe(true);
            const less = slowTrade(pool, paid - 1n);
            expect(less === undefined || less.reserveIn < target).toBe(true);
          }
        },
      ),
    );
  });
});

describe('the depth of a pool with orders', () => {
  const samples = readSamplePools();

  test('is that of the curve if it has none', () => {
    fc.assert(
      fc.property(
        fc.bigInt(10n ** 6n, MAX_RESERVE / 4n),
        fc.bigInt(10n ** 6n, MAX_RESERVE / 4n),
        (reserve1, reserve2) => {
          const percents = [1, 5, 10];
          expect(poolDepths(poolWithOrders([reserve1, reserve2], []), percents)).toEqual(
            poolDepths(poolOf(reserve1, reserve2), percents),
          );
        },
      ),
    );
  });

  test('takes the orders on both sides of the sample', () => {
    const pool = samples.get('1633');
    if (pool === undefined) throw new Error('the sample has the pool');
    const percents = [0.5, 5];
    const withOrders = poolDepths(pool, percents, depthTrades(pool, toSellingOrders(pool.v3?.orders ?? [])));
    const [near, far] = poolDepths(pool, percents);
    // An order of 1,000 PRV is better than the curve.
    expect(withOrders[0]).toEqual({
      ...near,
      upToken1: (near?.upToken1 ?? 0n) + 1_000_000_000_000n,
      upToken2: (near?.upToken2 ?? 0n) + 268_500_000n,
    });
    // Three more are on the way: two up, that sell 5,300 and 650 USDT, and one down, that sells 5,000 PRV for 1,400 USDT.
    expect(withOrders[1]).toEqual({
      percent: 5,
      upToken1: (far?.upToken1 ?? 0n) + 23_500_000_000_000n,
      upToken2: (far?.upToken2 ?? 0n) + 6_218_500_000n - 1n,
      downToken2: (far?.downToken2 ?? 0n) + 1_400_000_000n,
      downToken1: (far?.downToken1 ?? 0n) + 5_000_000_000_000n - 1n,
    });
  });

  test('has no percentage that the real amounts do not reach', () => {
    // The pool holds a tenth of its reserves: 1 / 0.9 of the other reserve is 23.4 % more or 19 % less.
    const pool = poolWithOrders([1_000_000n, 1_000_000n], [], [100_000n, 100_000n]);
    expect(poolDepths(pool, [50, 20, 18, 19, 23, 20]).map(({ percent }) => percent)).toEqual([18, 19]);
  });

  test('is empty for a pool that refuses every trade', () => {
    expect(poolDepths(poolWithOrders([100n, 100n], [], [0n, 50n]), [1])).toEqual([]);
    expect(poolDepths(poolWithOrders([0n, 0n], []), [1])).toEqual([]);
  });
});
