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
