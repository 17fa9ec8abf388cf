/** A pool as far as the direction of its price matters. */
type PricedPool = {
  readonly token1: { readonly tokenId: string };
  readonly token2: { readonly tokenId: string };
  /** Token 1 per token 2. */
  readonly price: number | null;
  /** Token 2 per token 1. */
  readonly inversePrice: number | null;
};

/**
 * The price of one base token in target tokens, which is the direction in which the whole explorer shows prices.
 *
 * @returns null if the pool has no price, or not this token
 */
export function priceOfBase(pool: PricedPool | null | undefined, baseId: string): number | null {
  if (pool == null) return null;
  if (pool.token2.tokenId === baseId) return pool.price;
  return pool.token1.tokenId === baseId ? pool.inversePrice : null;
}

/** A token as far as its name is shown. */
type NamedToken = { readonly tokenId: string; readonly symbol: string | null };

/** What a token is called: its symbol, or the beginning of its id. */
export function nameOfToken({ tokenId, symbol }: NamedToken): string {
  return symbol ?? shortId(tokenId);
}

/** An id or a hash in short: its first and last characters. */
export function shortId(id: string, edge = 6): string {
  return id.length <= 2 * edge + 1 ? id : `${id.slice(0, edge)}…${id.slice(-edge)}`;
}

/** A pool id in short. Pools of the same two tokens differ only in the hash at its end. */
export function shortPoolId(poolId: string): string {
  return shortId(poolId.slice(-64), 3);
}
