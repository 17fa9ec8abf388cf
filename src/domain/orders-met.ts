import { isMatchable, termsOf } from './order-sides.ts';
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
 * The orders that a seller of a token meets, best first. Left out are those of the same direction, and those that cannot be matched.
 *
 * @param orders in the order of the node's list
 */
export function ordersMet(orders: readonly PoolOrder[], sells: 1 | 2): OrderMet[] {
  const met: OrderMet[] = [];
  for (const order of orders) {
    if (order.sells === sells || !isMatchable(order)) continue;
    const { sellRate, buyRate, left, bought } = termsOf(order);
    met.push({ rateIn: buyRate, rateOut: sellRate, balanceIn: bought, balanceOut: left });
  }
  return sells === 1 ? met.reverse() : met;
}
