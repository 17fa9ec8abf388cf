import {
  type Amounts,
  changed,
  MAX_UINT64,
  nextOrder,
  type Order,
  ofSides,
  otherSide,
  type PoolState,
  type Side,
  squareRoot,
} from './pool.ts';

/** Why the exchange refuses a trade. */
export type Refusal =
  | 'NO_SUCH_POOL'
  | 'PATH_DOES_NOT_FIT'
  | 'POOL_TWICE'
  | 'NO_LIQUIDITY'
  | 'REAL_RESERVE_TOO_SMALL'
  | 'RESERVE_OUT_OF_RANGE'
  | 'ONE_SIDE_ZERO';

/** A swap through one pool: what its curve and each of its orders received and gave. */
export type Swap = {
  readonly after: PoolState;
  readonly bought: bigint;
  /** The changes of both amounts of the pool, signed. */
  readonly pairChange: Amounts;
  /** The changes of both balances of each order that was met, signed, by the ids of the orders. */
  readonly orderChanges: ReadonlyMap<string, Amounts>;
};

/** Swaps an amount of one token through the curve and the orders of a pool. The whole amount is swapped, or nothing. */
export function swap(pool: PoolState, sold: Side, amount: bigint): Swap | Refusal {
  const out = otherSide(sold);
  let virtual = pool.virtual;
  let pairChange: Amounts = [0n, 0n];
  let orders = pool.orders;
  const orderChanges = new Map<string, Amounts>();
  let rest = amount;
  let bought = 0n;

  function swapOnCurve(paid: bigint): boolean {
    const got = boughtOnCurve(virtual, sold, paid);
    if (got === 0n) return false;
    const change = ofSides(sold, paid, -got);
    virtual = changed(virtual, change);
    pairChange = changed(pairChange, change);
    rest -= paid;
    bought += got;
    return true;
  }

  while (rest > 0n) {
    // Also a pool that was emptied on the way refuses the rest.
    if (changed(pool.real, pairChange).includes(0n)) return 'NO_LIQUIDITY';
    const order = nextOrder(orders, sold);
    const reach = order === undefined ? rest : reachOf(virtual, order, sold);
    if (order === undefined || reach >= rest) {
      if (!swapOnCurve(rest)) return 'ONE_SIDE_ZERO';
      break;
    }
    // What buys nothing on the curve is left for the order.
    if (reach > 0n) swapOnCurve(reach);

    const { paid, got, wanted } = matched(order, sold, rest);
    if (wanted > MAX_UINT64) return 'RESERVE_OUT_OF_RANGE';
    if (paid === 0n || got === 0n) return 'ONE_SIDE_ZERO';
    const change = ofSides(sold, paid, -got);
    const balances = changed(order.balances, change);
    if (balances[sold] > MAX_UINT64) return 'RESERVE_OUT_OF_RANGE';
    orders = orders.with(orders.indexOf(order), { ...order, balances });
    orderChanges.set(order.id, changed(orderChanges.get(order.id) ?? [0n, 0n], change));
    rest -= paid;
    bought += got;
  }

  const real = changed(pool.real, pairChange);
  if (real[out] < 0n) return 'REAL_RESERVE_TOO_SMALL';
  if (real[sold] > MAX_UINT64 || bought > MAX_UINT64) return 'RESERVE_OUT_OF_RANGE';
  return { after: { ...pool, real, virtual, orders }, bought, pairChange, orderChanges };
}

function boughtOnCurve(virtual: Amounts, sold: Side, paid: bigint): bigint {
  return (paid * virtual[otherSide(sold)]) / (virtual[sold] + paid);
}

/** What has to be sold on the curve until its price is that of an order. Negative if the order is better already. */
function reachOf(virtual: Amounts, { rates }: Order, sold: Side): bigint {
  const product = (virtual[0] * virtual[1] * rates[sold]) / rates[otherSide(sold)];
  return squareRoot(product) - virtual[sold];
}

/** What an order receives and gives, and what it would have to give for all of the rest. */
function matched({ rates, balances }: Order, sold: Side, rest: bigint) {
  const out = otherSide(sold);
  const wanted = (rest * rates[out]) / rates[sold];
  if (wanted <= balances[out]) return { paid: rest, got: wanted, wanted };
  return { paid: (balances[out] * rates[sold]) / rates[out], got: balances[out], wanted };
}
