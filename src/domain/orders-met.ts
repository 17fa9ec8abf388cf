import { MAX_AMOUNT } from './amount.ts';
import type { PoolOrder } from './pool-order.ts';

/** An order in the view of a trader who meets it. */
export type OrderMet = {
  readonly rateIn: bigint;
  readonly rateOut: bigint;
  /** What the order has bought. */
  readonly balanceIn: bigint;
  /** What it has left to sell. */
  readonly balanceOut: bigint;
};

/**
 * The orders that a seller of a token meets, best first. Left out are those of the same direction, and those that cannot be matched: the
 * rest of an order must buy at least one unit, and fewer than 2^64.
 *
 * @param orders in the order of the node's list
 */
export function ordersMet(orders: readonly PoolOrder[], sells: 1 | 2): OrderMet[] {
  const met: OrderMet[] = [];
  for (const order of orders) {
    if (order.sells === sells) continue;
    const { rate1, rate2, balance1, balance2 } = order;
    const seen: OrderMet =
      sells === 1
        ? { rateIn: rate1, rateOut: rate2, balanceIn: balance1, balanceOut: balance2 }
        : { rateIn: rate2, rateOut: rate1, balanceIn: balance2, balanceOut: balance1 };
    if (isMatchable(seen)) met.push(seen);
  }
  return sells === 1 ? met.reverse() : met;
}

function isMatchable({ rateIn, rateOut, balanceOut }: OrderMet): boolean {
  // In floating point first, which is much faster.
  const estimate = (Number(balanceOut) * Number(rateIn)) / Number(rateOut);
  if (estimate > 2 && estimate < 2 ** 63) return true;
  if (rateIn === 0n || rateOut === 0n) return false;
  const bought = (balanceOut * rateIn) / rateOut;
  return bought >= 1n && bought <= MAX_AMOUNT;
}
