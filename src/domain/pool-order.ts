/** An open order of a pool of V3. Its rates never change; its balances do. All amounts are in smallest units. */
export type PoolOrder = {
  /** The hash of the transaction that placed it. */
  readonly id: string;
  /** The token of the pool that it sells. */
  readonly sells: 1 | 2;
  /** The amounts of both tokens when it was placed: what it sold, and the least that it accepted for that. 64 bits. */
  readonly rate1: bigint;
  readonly rate2: bigint;
  /** Of the token that it sells, what is left; of the other one, what has been bought and not been withdrawn yet. 64 bits. */
  readonly balance1: bigint;
  readonly balance2: bigint;
};

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
  return (
    b !== undefined &&
    a.id === b.id &&
    a.balance1 === b.balance1 &&
    a.balance2 === b.balance2 &&
    a.rate1 === b.rate1 &&
    a.rate2 === b.rate2 &&
    a.sells === b.sells
  );
}
