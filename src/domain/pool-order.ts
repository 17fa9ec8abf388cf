import { MAX_AMOUNT } from './amount.ts';

/** An open order of a pool of V3. Its rates never change; its balances do. All amounts are in smallest units. */
export type PoolOrder = {
  /** The hash of the transaction that placed it. */
  readonly id: string;
  /** The token of the pool that it sells. */
  readonly sells: 1 | 2;
  /** The amounts of both tokens when it was placed: what it sold, and the least that it accepted for that. Above 0, 64 bits. */
  readonly rate1: bigint;
  readonly rate2: bigint;
  /** Of the token that it sells, what is left; of the other one, what has been bought and not been withdrawn yet. 64 bits. */
  readonly balance1: bigint;
  readonly balance2: bigint;
};

/** The memory that an order takes, about. */
export const BYTES_OF_ORDER = 250;

/**
 * The orders as they are, or the same list as before if it has equal ones: a list that is identical to that of another height has
 * not changed.
 */
export function sameOrders(
  before: readonly PoolOrder[] | undefined,
  orders: readonly PoolOrder[],
): readonly PoolOrder[] {
  const isSame = before?.length === orders.length && orders.every((order, index) => areEqual(order, before[index]));
  return isSame ? before : orders;
}

function areEqual(a: PoolOrder, b: PoolOrder | undefined): boolean {
  return b !== undefined && FIELDS.every((field) => a[field] === b[field]);
}

const FIELDS = ['id', 'balance1', 'balance2', 'rate1', 'rate2', 'sells'] as const satisfies (keyof PoolOrder)[];

/** The rates and balances of an order, by what it sells and what it buys. */
export type OrderTerms = {
  readonly sellRate: bigint;
  readonly buyRate: bigint;
  /** What is left to sell. */
  readonly left: bigint;
  /** What has been bought and not been withdrawn yet. */
  readonly bought: bigint;
};

/** The rates and balances of an order, by what it sells and what it buys. */
export function termsOf({ sells, rate1, rate2, balance1, balance2 }: PoolOrder): OrderTerms {
  return sells === 1
    ? { sellRate: rate1, buyRate: rate2, left: balance1, bought: balance2 }
    : { sellRate: rate2, buyRate: rate1, left: balance2, bought: balance1 };
}

/** Whether a trade can meet an order: what it gets for all that is left, rounded down, is an amount above 0. */
export function isMatchable(order: PoolOrder): boolean {
  const { sellRate, buyRate, left } = termsOf(order);
  const worth = (left * buyRate) / sellRate;
  return worth >= 1n && worth <= MAX_AMOUNT;
}

/** The terms of those orders that a trade can meet. */
export function matchableTerms(orders: readonly PoolOrder[]): OrderTerms[] {
  return orders.filter(isMatchable).map(termsOf);
}

/** The open orders of a pool that sell each of its tokens, as trades meet them: best rate first, then the smaller id. */
export type SellingOrders = { readonly selling1: readonly PoolOrder[]; readonly selling2: readonly PoolOrder[] };

/** The sides of a pool, from its orders in any order. */
export function toSellingOrders(orders: readonly PoolOrder[]): SellingOrders {
  return { selling1: ordersSelling(orders, 1), selling2: ordersSelling(orders, 2) };
}

/** One of the sides. The orders of the node are sorted already, and need one comparison each. */
export function ordersSelling(orders: readonly PoolOrder[], token: 1 | 2): readonly PoolOrder[] {
  return orders.filter(({ sells }) => sells === token).sort(compareForTrades);
}

/** Of two orders that sell the same token, a trade first meets the one that asks for less of the other token. */
function compareForTrades(a: PoolOrder, b: PoolOrder): number {
  const [termsA, termsB] = [termsOf(a), termsOf(b)];
  const difference = termsA.buyRate * termsB.sellRate - termsB.buyRate * termsA.sellRate;
  if (difference !== 0n) return difference < 0n ? -1 : 1;
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

/**
 * The best orders of both sides: first those that sell token 1, then those that sell token 2. If they are more than `count`, each
 * side has half of it, and what the other side has too few of.
 */
export function bestOrders({ selling1, selling2 }: SellingOrders, count: number): readonly PoolOrder[] {
  const count1 = Math.max(Math.ceil(count / 2), count - selling2.length);
  const of1 = selling1.slice(0, count1);
  return [...of1, ...selling2.slice(0, count - of1.length)];
}
