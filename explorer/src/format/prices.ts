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

/** Whether a pool holds these two tokens. In V3, the market-data host can name a pool of other tokens. */
export function isOfTokens(
  { token1, token2 }: Pick<PricedPool, 'token1' | 'token2'>,
  baseId: string,
  targetId: string,
): boolean {
  const tokenIds = [baseId, targetId];
  return tokenIds.includes(token1.tokenId) && tokenIds.includes(token2.tokenId);
}

/** How much a price has changed, in percent: `PriceChange.percent` of the schema. */
export function percentOf(price: number | null, from: number | null | undefined): number | null {
  return price === null || from == null || from <= 0 ? null : 100 * (price / from - 1);
}

/** A token as far as its name is shown. */
type NamedToken = { readonly tokenId: string; readonly symbol: string | null };

/** Letters of scripts that are written from right to left, and characters that only change the direction. */
const TURNS =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/**
 * What a token is called: its symbol, or the beginning of its id. A symbol that turns the direction of a text stands between
 * U+2068 and U+2069, so that it cannot change the order of an amount beside it.
 */
export function nameOfToken({ tokenId, symbol }: NamedToken): string {
  if (symbol === null) return shortId(tokenId);
  return TURNS.test(symbol) ? `\u2068${withoutIsolates(symbol)}\u2069` : symbol;
}

/** A text without the characters that begin and end a part with a direction of its own. */
export function withoutIsolates(text: string): string {
  return text.replace(/[\u2066-\u2069]/g, '');
}

/** An id or a hash in short: its first and last characters. */
export function shortId(id: string, edge = 6): string {
  return id.length <= 2 * edge + 1 ? id : `${id.slice(0, edge)}…${id.slice(-edge)}`;
}

/** A pool id in short. Pools of the same two tokens differ only in the hash at its end. */
export function shortPoolId(poolId: string): string {
  return shortId(poolId.slice(-64), 3);
}
