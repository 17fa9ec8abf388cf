import { type DepthTrade, smallestTrades } from './depth-trades.ts';
import { toExactDecimal } from './exact-decimal.ts';
import type { OrderSides } from './order-sides.ts';
import { isNonEmpty, isTradable, type PoolPair, poolValues } from './pool-pair.ts';
import { squareRootUp } from './square-root.ts';
import { amountReceived, divideUp } from './swap.ts';

/** The amounts that move the spot price of a pool by some percent, in smallest units. */
export type PoolDepth = {
  readonly percent: number;
  /** To raise the price of token 2: what a trader pays of token 1, and receives of token 2. */
  readonly upToken1: bigint;
  readonly upToken2: bigint;
  /** To lower it: what a trader pays of token 2, and receives of token 1. */
  readonly downToken2: bigint;
  readonly downToken1: bigint;
};

/**
 * What it takes to move the spot price of a pool, `reserve1 / reserve2`, by each of these percentages, up and down.
 *
 * The product of the reserves stays constant, so a price that is `f` times the old one needs `sqrt(f)` times the reserve of
 * the token that is paid. The payment is the smallest whole number that reaches it, in integers of any size. The amount
 * received is that of the exchange's formula.
 *
 * In V3, a trade also goes through the orders on its way: see {@link smallestTrades}. A percentage that no trade reaches, up or
 * down, is left out.
 *
 * @param percents each above 0 and below 100; their shortest decimal texts count, so 0.1 is exactly a thousandth
 * @param orders those of a pool of V3, which has none in V1
 * @returns nothing for a pool with an empty side
 */
export function poolDepths(
  pool: PoolPair,
  percents: readonly number[],
  orders: OrderSides = NO_ORDERS,
): readonly PoolDepth[] {
  if (!isNonEmpty(pool) || !isTradable(pool)) return [];
  const targets = percents.map((percent) => toTargets(pool, percent));
  const [tradesUp, tradesDown] = pool.v3 ? throughOrders(pool, orders, targets) : alongCurve(pool);
  return targets.flatMap(({ percent, up, down }) => {
    const [tradeUp, tradeDown] = [tradesUp(up), tradesDown(down)];
    if (tradeUp === undefined || tradeDown === undefined) return [];
    return {
      percent,
      upToken1: tradeUp.paid,
      upToken2: tradeUp.received,
      downToken2: tradeDown.paid,
      downToken1: tradeDown.received,
    };
  });
}

const NO_ORDERS: OrderSides = { selling1: [], selling2: [] };

/** The reserves of the tokens that are paid, after a price has moved by some percent: of token 1 up, of token 2 down. */
type Targets = { readonly percent: number; readonly up: bigint; readonly down: bigint };

function toTargets({ reserve1, reserve2 }: PoolPair, percent: number): Targets {
  const { units, scale } = toExactDecimal(percent);
  const whole = 100n * 10n ** BigInt(scale);
  return {
    percent,
    up: rootTimes(reserve1, whole + units, whole),
    down: rootTimes(reserve2, whole, whole - units),
  };
}

/** A reserve times the square root of a fraction, rounded up. */
function rootTimes(reserve: bigint, numerator: bigint, denominator: bigint): bigint {
  return squareRootUp(divideUp(reserve * reserve * numerator, denominator));
}

/** The trades that reach a reserve of the token that is paid: up, and down. */
type TradesTo = readonly [
  up: (target: bigint) => DepthTrade | undefined,
  down: (target: bigint) => DepthTrade | undefined,
];

function alongCurve({ reserve1, reserve2 }: PoolPair): TradesTo {
  const trade = (reserveIn: bigint, reserveOut: bigint, target: bigint) => {
    const paid = target - reserveIn;
    return { paid, received: amountReceived(reserveIn, reserveOut, paid) };
  };
  return [(target) => trade(reserve1, reserve2, target), (target) => trade(reserve2, reserve1, target)];
}

function throughOrders(pool: PoolPair, { selling1, selling2 }: OrderSides, targets: readonly Targets[]): TradesTo {
  const { reserve1, reserve2 } = pool;
  const { value1, value2 } = poolValues(pool);
  const up = smallestTrades(
    { reserveIn: reserve1, reserveOut: reserve2, valueIn: value1, valueOut: value2, orders: selling2 },
    targets.map((target) => target.up),
  );
  const down = smallestTrades(
    { reserveIn: reserve2, reserveOut: reserve1, valueIn: value2, valueOut: value1, orders: selling1 },
    targets.map((target) => target.down),
  );
  return [(target) => up.get(target), (target) => down.get(target)];
}
