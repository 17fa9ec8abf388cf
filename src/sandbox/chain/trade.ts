/** Maximum reserve after a trade or a contribution. It is below the maximum of the chain's unsigned 64-bit integers. */
export const MAX_RESERVE = 18_000_000_000_000_000_000n;

/** The two sides of a pool, in the order of its tokens. */
export type Side = 0 | 1;

/** A trade: the amounts that went into one side of a pool and came out of the other, in smallest units. */
export type Trade = {
  /** The index of the pool or market. */
  readonly venue: number;
  readonly sideIn: Side;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
};

/**
 * Executes a trade with a constant-product pool, which keeps every rounding. A trader pays the fee of V1 in addition.
 *
 * @returns `undefined`, with the reserves unchanged, if nothing would come out or a reserve would become too large
 */
export function trade(reserves: BigUint64Array, venue: number, sideIn: Side, amountIn: bigint): Trade | undefined {
  const placeIn = venue * 2 + sideIn;
  const placeOut = venue * 2 + 1 - sideIn;
  const reserveIn = reserves[placeIn] ?? 0n;
  const reserveOut = reserves[placeOut] ?? 0n;
  if (amountIn <= 0n || reserveIn === 0n || reserveOut === 0n || reserveIn + amountIn > MAX_RESERVE) return undefined;

  const amountOut = (reserveOut * amountIn) / (reserveIn + amountIn);
  if (amountOut === 0n) return undefined;

  reserves[placeIn] = reserveIn + amountIn;
  reserves[placeOut] = reserveOut - amountOut;
  return { venue, sideIn, amountIn, amountOut };
}

/** Executes the trade that moves a pool to `ratio`, reserve 2 per reserve 1, as nearly as whole units allow. */
export function tradeTowards(reserves: BigUint64Array, venue: number, ratio: number): Trade | undefined {
  const reserve1 = Number(reserves[venue * 2] ?? 0n);
  const reserve2 = Number(reserves[venue * 2 + 1] ?? 0n);
  const product = reserve1 * reserve2;
  if (product === 0) return undefined;

  const more1 = Math.sqrt(product / ratio) - reserve1;
  return more1 > 0
    ? trade(reserves, venue, 0, BigInt(Math.ceil(more1)))
    : trade(reserves, venue, 1, BigInt(Math.max(1, Math.ceil(Math.sqrt(product * ratio) - reserve2))));
}
