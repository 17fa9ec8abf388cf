import { toExactDecimal } from './exact-decimal.ts';
import { matchableTerms, type SellingOrders, toSellingOrders } from './pool-order.ts';
import { hasPrice, isTradable, type PoolPair, poolValues } from './pool-pair.ts';
import { PoolSwap, type SwapSide } from './pool-swap.ts';
import { amountReceived, divideUp, squareRootUp } from './swap.ts';

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

/** The smallest trades that move the spot price of a pool, up and down. The steps of trades through orders are computed once. */
export type DepthTrades = { readonly up: TradesTo; readonly down: TradesTo };

/** Creates the trades of a pool. @param orders those of a pool of V3, which has none in V1 */
export function depthTrades(pool: PoolPair, orders: SellingOrders = toSellingOrders([])): DepthTrades {
  const { reserve1, reserve2, v3 } = pool;
  const { value1, value2 } = poolValues(pool);
  const tradesTo = v3 === undefined ? alongCurve : throughOrders;
  const ends = { virtualIn: reserve1, virtualOut: reserve2, realIn: value1, realOut: value2 };
  const reversed = { virtualIn: reserve2, virtualOut: reserve1, realIn: value2, realOut: value1 };
  return {
    up: tradesTo({ ...ends, orders: matchableTerms(orders.selling2) }),
    down: tradesTo({ ...reversed, orders: matchableTerms(orders.selling1) }),
  };
}

/**
 * What it takes to move the spot price of a pool, `reserve1 / reserve2`, by each of these percentages, up and down.
 *
 * The product of the reserves stays constant, so a price that is `f` times the old one needs `sqrt(f)` times the reserve of
 * the token that is paid. The payment is the smallest whole number that reaches it, in integers of any size. The amount
 * received is that of the exchange's formula.
 *
 * In V3, a trade also goes through the orders on its way: see {@link PoolSwap}. A percentage that no trade reaches, up or down, is
 * left out.
 *
 * @param percents each above 0 and below 100; their shortest decimal texts count, so 0.1 is exactly a thousandth
 * @returns nothing for a pool with an empty side
 */
export function poolDepths(
  pool: PoolPair,
  percents: readonly number[],
  { up, down }: DepthTrades = depthTrades(pool),
): readonly PoolDepth[] {
  if (!hasPrice(pool) || !isTradable(pool)) return [];
  const { reserve1, reserve2 } = pool;
  return percents.flatMap((percent) => {
    const { units, scale } = toExactDecimal(percent);
    const whole = 100n * 10n ** BigInt(scale);
    const tradeUp = up(rootTimes(reserve1, whole + units, whole));
    const tradeDown = down(rootTimes(reserve2, whole, whole - units));
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

/** A reserve times the square root of a fraction, rounded up. */
function rootTimes(reserve: bigint, numerator: bigint, denominator: bigint): bigint {
  return squareRootUp(divideUp(reserve * reserve * numerator, denominator));
}

/** The smallest trade that reaches a reserve of the token that is paid; `undefined` if the exchange refuses all of them. */
type TradesTo = (target: bigint) => { readonly paid: bigint; readonly received: bigint } | undefined;

function alongCurve({ virtualIn, virtualOut }: SwapSide): TradesTo {
  return (target) => {
    const paid = target - virtualIn;
    return { paid, received: amountReceived(virtualIn, virtualOut, paid) };
  };
}

function throughOrders(side: SwapSide): TradesTo {
  const swap = new PoolSwap(side);
  return (target) => {
    const paid = swap.leastTo(target);
    const received = paid && swap.sell(paid);
    return paid !== undefined && typeof received === 'bigint' ? { paid, received } : undefined;
  };
}
