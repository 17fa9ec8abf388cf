/** The two sides of a pool: token 0 has the smaller id. */
export type Side = 0 | 1;

/** One amount of each token of a pool, in smallest units. */
export type Amounts = readonly [bigint, bigint];

/** An open order. Its owner, receivers and rates never change. */
export type Order = {
  /** The hash of the transaction that placed it. */
  readonly id: string;
  readonly nft: string;
  readonly receivers: readonly [string, string];
  /** The token that the owner sells. */
  readonly sells: Side;
  /** The amounts at placement: what is sold, and the least that is bought for it. */
  readonly rates: Amounts;
  /** What is left to sell, and what was bought and not withdrawn yet. */
  readonly balances: Amounts;
};

/** What of a pool changes with blocks. Immutable. */
export type PoolState = {
  readonly real: Amounts;
  readonly virtual: Amounts;
  readonly shares: bigint;
  /** In the order of the node's list; see {@link byPlaceInList}. */
  readonly orders: readonly Order[];
};

/** The largest unsigned integer of 64 bits. Real amounts and balances are limited to it, virtual amounts are not. */
export const MAX_UINT64 = 2n ** 64n - 1n;

/** The other side. */
export function otherSide(side: Side): Side {
  return side === 0 ? 1 : 0;
}

/** Both amounts changed by signed amounts. */
export function changed(amounts: Amounts, changes: Amounts): Amounts {
  return [amounts[0] + changes[0], amounts[1] + changes[1]];
}

/** A pair of amounts of which one goes to a side, and the other to the opposite side. */
export function ofSides(side: Side, amount: bigint, other: bigint): Amounts {
  return side === 0 ? [amount, other] : [other, amount];
}

/**
 * Compares two orders by their place in the node's list: rate 1 / rate 0 ascending; sellers of token 0 before sellers of token 1,
 * the former by ascending and the latter by descending id. A trade meets one side from the start and the other from the end.
 */
export function byPlaceInList(one: Order, other: Order): number {
  const [left, right] = [one.rates[1] * other.rates[0], other.rates[1] * one.rates[0]];
  if (left !== right) return left < right ? -1 : 1;
  if (one.sells !== other.sells) return one.sells - other.sells;
  return (one.id < other.id ? -1 : 1) * (one.sells === 0 ? 1 : -1);
}

/** Whether what is left of an order can be matched: it buys at least one unit, and at most 64 bits. */
export function isMatchable(order: Order): boolean {
  const known = matchable.get(order);
  if (known !== undefined) return known;
  const { sells, rates, balances } = order;
  const least = (balances[sells] * rates[otherSide(sells)]) / rates[sells];
  const isMet = least >= 1n && least <= MAX_UINT64;
  matchable.set(order, isMet);
  return isMet;
}

/** Computed once for each order: most orders stay the same for many blocks. */
const matchable = new WeakMap<Order, boolean>();

/** The order that a seller of a token meets first; `undefined` without a matchable one. */
export function nextOrder(orders: readonly Order[], sold: Side): Order | undefined {
  const isMet = (order: Order) => order.sells !== sold && isMatchable(order);
  return sold === 0 ? orders.findLast(isMet) : orders.find(isMet);
}

/** The virtual amounts of a pool with these real ones. */
export function amplified([real0, real1]: Amounts, amplifier: number): Amounts {
  return [(real0 * BigInt(amplifier)) / 10_000n, (real1 * BigInt(amplifier)) / 10_000n];
}

/** The largest integer whose square is at most a value. */
export function squareRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (let better = root; ; root = better) {
    better = (root + value / root) >> 1n;
    if (better >= root) return root;
  }
}
