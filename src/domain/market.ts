import type { TokenId } from './token-id.ts';

/** Two tokens that trade against each other in one pool, as the market-data host lists them. */
export type Pair = {
  /** `<base symbol>_<target symbol>`; not unique. */
  readonly tickerId: string;
  readonly baseId: TokenId;
  readonly base: string;
  readonly targetId: TokenId;
  readonly target: string;
  /** The only unique key. */
  readonly poolId: string;
};

/** The last price and the 24-hour volumes of a pair; each as the host sends it, `undefined` where it sends none. */
export type Ticker = Pair & {
  /** Target per base. */
  readonly lastPrice: number | undefined;
  /** In whole base tokens. */
  readonly baseVolume: number | undefined;
  /** In whole target tokens. */
  readonly targetVolume: number | undefined;
};

/** Which pairs or tickers a client wants; what is `undefined` does not restrict, an empty list matches nothing. */
export type PairFilter = {
  readonly tickerIds?: readonly string[] | undefined;
  readonly poolIds?: readonly string[] | undefined;
  /** On either side. */
  readonly tokenId?: TokenId | undefined;
  readonly base?: string | undefined;
  readonly target?: string | undefined;
};

/** The pairs that pass the filter, in the order they came in. */
export function selectPairs<P extends Pair>(pairs: readonly P[], filter: PairFilter): readonly P[] {
  const tickerIds = filter.tickerIds && new Set(filter.tickerIds);
  const poolIds = filter.poolIds && new Set(filter.poolIds);

  return pairs.filter(
    (pair) =>
      (tickerIds === undefined || tickerIds.has(pair.tickerId)) &&
      (poolIds === undefined || poolIds.has(pair.poolId)) &&
      (filter.tokenId === undefined || pair.baseId === filter.tokenId || pair.targetId === filter.tokenId) &&
      (filter.base === undefined || pair.base === filter.base) &&
      (filter.target === undefined || pair.target === filter.target),
  );
}

/** A key that two pairs share where they trade the same two tokens, whichever of them is the base. */
export function tokensKey(a: TokenId, b: TokenId): string {
  return a < b ? `${a}-${b}` : `${b}-${a}`;
}

/** A list of the market-data host, and the ways to look things up in it. */
export type Market<P extends Pair> = {
  /** In the host's order. */
  readonly rows: readonly P[];
  readonly byPoolId: ReadonlyMap<string, P>;
  readonly byTickerId: ReadonlyMap<string, readonly P[]>;
  /** By {@link tokensKey}. */
  readonly byTokens: ReadonlyMap<string, readonly P[]>;
  /** What the host calls each token; a bridged one carries a `p` in front. */
  readonly symbols: ReadonlyMap<TokenId, string>;
};

/** A market that is made row by row, so that a long list need not be prepared at once. */
export type MarketDraft<P extends Pair> = {
  add(row: P): void;
  /** The market of the rows that were added, which are these. */
  toMarket(rows: readonly P[]): Market<P>;
};

/** Makes a draft without rows. */
export function createMarketDraft<P extends Pair>(): MarketDraft<P> {
  const byPoolId = new Map<string, P>();
  const byTickerId = new Map<string, P[]>();
  const byTokens = new Map<string, P[]>();
  const symbols = new Map<TokenId, string>();

  return {
    add(row) {
      byPoolId.set(row.poolId, row);
      addTo(byTickerId, row.tickerId, row);
      addTo(byTokens, tokensKey(row.baseId, row.targetId), row);
      symbols.set(row.baseId, row.base);
      symbols.set(row.targetId, row.target);
    },
    toMarket: (rows) => ({ rows, byPoolId, byTickerId, byTokens, symbols }),
  };
}

function addTo<P>(groups: Map<string, P[]>, key: string, row: P): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [row]);
  else group.push(row);
}
