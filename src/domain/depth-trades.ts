import { MAX_AMOUNT } from './amount.ts';
import { isMatchable, termsOf } from './order-sides.ts';
import type { PoolOrder } from './pool-order.ts';
import { squareRoot } from './square-root.ts';
import { amountReceived, amountRequired, divideUp } from './swap.ts';

/** What a trade pays and receives, in smallest units. */
export type DepthTrade = { readonly paid: bigint; readonly received: bigint };

/** A pool as a trade meets it that pays one of its tokens (`In`) and receives the other one (`Out`). */
export type TradedPool = {
  /** The reserves of the curve, which prices are computed with. */
  readonly reserveIn: bigint;
  readonly reserveOut: bigint;
  /** What the pool holds. */
  readonly valueIn: bigint;
  readonly valueOut: bigint;
  /** The orders that sell the token that the trade receives, best first. */
  readonly orders: readonly PoolOrder[];
};

/** A trade on its way: it has moved the curve, and taken everything from the best orders. */
type Progress = Omit<TradedPool, 'orders'> & {
  readonly paid: bigint;
  readonly received: bigint;
  /** The smallest amount of a trade that takes everything from these orders. It can be more than `paid`. */
  readonly smallest: bigint;
  /** The largest amount of such a trade: an order counts what it could give for all that is left, in 64 bits. */
  readonly largest: bigint;
  /** Whether the exchange refuses every trade that comes so far. */
  readonly isRefused: boolean;
};

/**
 * The smallest trades after which the reserve of the token that is paid is at least each of these targets.
 *
 * A trade goes as on the exchange: along the curve until its price is that of the best order, then through this order, and so on.
 * An order that is better than the curve comes first. The exchange refuses a trade that would move only one of the two tokens in a
 * step, so a trade beyond an order is large enough to receive something there too.
 *
 * @param targets above the reserve
 * @returns the trades by their targets, without those that the exchange refuses at any size: beyond what the pool holds, or 64 bits
 */
export function smallestTrades(pool: TradedPool, targets: readonly bigint[]): ReadonlyMap<bigint, DepthTrade> {
  const orders = pool.orders.filter(isMatchable);
  const trades = new Map<bigint, DepthTrade>();
  let progress: Progress = { ...pool, paid: 0n, received: 0n, smallest: 0n, largest: MAX_AMOUNT, isRefused: false };
  let next = 0;

  // The way to a target is the beginning of the way to a larger one.
  for (const target of [...new Set(targets)].sort((a, b) => (a < b ? -1 : 1))) {
    for (let order = orders[next]; order !== undefined; order = orders[next]) {
      const reach = reachOf(progress, order);
      if (progress.reserveIn + reach >= target || !isAccepted(progress)) break;
      progress = takeAll(alongCurve(progress, reach), order);
      next += 1;
    }
    const end = smallestEnd(progress, orders.slice(next), target);
    if (end !== undefined && isAccepted(end)) trades.set(target, { paid: end.paid, received: end.received });
  }
  return trades;
}

/** The end of the smallest trade that has come so far and reaches a target. @param orders those that are left */
function smallestEnd(start: Progress, orders: readonly PoolOrder[], target: bigint): Progress | undefined {
  let progress = start;
  for (const order of orders) {
    const reach = reachOf(progress, order);
    const last = lastPayment(progress, target);
    if (last !== undefined && last <= reach) return alongCurve(progress, last);

    progress = alongCurve(progress, reach);
    if (progress.reserveIn >= target) {
      const end = takePart(progress, order);
      if (end !== undefined) return end;
    }
    progress = takeAll(progress, order);
  }
  const last = lastPayment(progress, target);
  return last === undefined ? undefined : alongCurve(progress, last);
}

/** The smallest payment to the curve that ends a trade at a target; `undefined` if the curve has nothing to give. */
function lastPayment({ reserveIn, reserveOut, paid, smallest }: Progress, target: bigint): bigint | undefined {
  const forOne = amountRequired(reserveIn, reserveOut, 1n);
  return forOne && max(forOne, max(target - reserveIn, smallest - paid));
}

/** What has to be paid to the curve until its price is that of an order; negative if the order is better already. */
function reachOf({ reserveIn, reserveOut }: Progress, order: PoolOrder): bigint {
  const { sellRate, buyRate } = termsOf(order);
  return squareRoot((reserveIn * reserveOut * buyRate) / sellRate) - reserveIn;
}

/** Pays an amount to the curve, unless nothing is received for it. */
function alongCurve(progress: Progress, amount: bigint): Progress {
  const { reserveIn, reserveOut, valueIn, valueOut, paid, received } = progress;
  const got = amount > 0n ? amountReceived(reserveIn, reserveOut, amount) : 0n;
  if (got === 0n) return progress;
  return {
    ...progress,
    reserveIn: reserveIn + amount,
    reserveOut: reserveOut - got,
    valueIn: valueIn + amount,
    valueOut: valueOut - got,
    paid: paid + amount,
    received: received + got,
  };
}

/** Takes everything from an order. The trade is large enough that it could take one unit more. */
function takeAll(progress: Progress, order: PoolOrder): Progress {
  const { sellRate, buyRate, left } = termsOf(order);
  const after = take(progress, order, (left * buyRate) / sellRate, left);
  return {
    ...after,
    smallest: max(progress.smallest, progress.paid + divideUp((left + 1n) * buyRate, sellRate)),
    largest: min(progress.largest, progress.paid + ((MAX_AMOUNT + 1n) * buyRate - 1n) / sellRate),
    // The exchange looks at what the pool holds before each order: beyond the last unit, it refuses.
    isRefused: after.isRefused || after.valueOut <= 0n,
  };
}

/** Ends a trade with the smallest part of an order; `undefined` if the order has less. */
function takePart(progress: Progress, order: PoolOrder): Progress | undefined {
  const { sellRate, buyRate, left } = termsOf(order);
  const paid = max(progress.smallest - progress.paid, divideUp(buyRate, sellRate));
  const got = (paid * sellRate) / buyRate;
  return got <= left ? take(progress, order, paid, got) : undefined;
}

function take(progress: Progress, order: PoolOrder, paid: bigint, got: bigint): Progress {
  const isRefused = progress.isRefused || termsOf(order).bought + paid > MAX_AMOUNT;
  return { ...progress, paid: progress.paid + paid, received: progress.received + got, isRefused };
}

/** Whether the exchange accepts a trade: the pool holds what the curve gives, and no amount exceeds 64 bits. */
function isAccepted({ valueIn, valueOut, paid, received, largest, isRefused }: Progress): boolean {
  return !isRefused && valueOut >= 0n && valueIn <= MAX_AMOUNT && paid <= largest && received <= MAX_AMOUNT;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
