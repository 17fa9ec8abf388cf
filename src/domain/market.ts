import { type ExchangeState, findPlace, placeOf, versionOf } from './exchange.ts';
import { parsePoolId, poolPairId, tokensKey } from './pool-pair.ts';
import { percentChange } from './price.ts';
import type { TokenId } from './token.ts';

/** Two tokens that trade in one pool, as the market-data host lists them. */
export type Pair = {
  /** `<base symbol>_<target symbol>`; not unique. */
  readonly tickerId: string;
  readonly baseId: TokenId;
  readonly base: string;
  readonly targetId: TokenId;
  readonly target: string;
  /** The only unique key, as the host spells it. With V3, it names the pool of the pair; see {@link placeOfPair}. */
  readonly poolId: string;
  /** Set if the pair is in a list by divergence: the prices that were compared. */
  readonly divergence?: Divergence;
};

/** The last price and the 24-hour volumes of a pair, as the host sends them; `undefined` if it does not. */
export type Ticker = Pair & {
  /** Target per base. */
  readonly lastPrice: number | undefined;
  /** In whole base tokens. */
  readonly baseVolume: number | undefined;
  /** In whole target tokens. */
  readonly targetVolume: number | undefined;
};

/** Which pairs or tickers a client selects. An `undefined` field does not restrict, an empty list matches nothing. */
export type PairFilter = {
  readonly tickerIds?: readonly string[] | undefined;
  readonly poolIds?: readonly string[] | undefined;
  /** On either side. */
  readonly tokenId?: TokenId | undefined;
  readonly base?: string | undefined;
  readonly target?: string | undefined;
};

/** The pairs that pass the filter, in their order. */
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

/**
 * The place of the pool of a pair. In V3 it is the pool that the pair's pool id names, and never another one of the same two
 * tokens. In V1 it is the pool of the two tokens.
 *
 * @returns `undefined` if the state has no such pool
 */
export function placeOfPair(state: ExchangeState, { baseId, targetId, poolId }: Pair): number | undefined {
  if (versionOf(state) === 'V1') return findPlace(state, baseId, targetId);
  const named = parsePoolId(poolId);
  return named && placeOf(state.directory, named);
}

/**
 * The place of the pool whose price is that of a pair: {@link placeOfPair}, but `undefined` for a pool of other tokens than those
 * of the pair, for example of unified ones. Nobody knows which of its tokens would be the base.
 */
export function placeWithPriceOf(state: ExchangeState, pair: Pair): number | undefined {
  const place = placeOfPair(state, pair);
  if (place === undefined) return undefined;
  const { token1Ids, token2Ids } = state.directory;
  const [token1Id, token2Id] = [token1Ids[place], token2Ids[place]];
  const isOfPair =
    (token1Id === pair.baseId && token2Id === pair.targetId) ||
    (token1Id === pair.targetId && token2Id === pair.baseId);
  return isOfPair ? place : undefined;
}

/** A list of the market-data host, with its indexes. */
export type Market<P extends Pair> = {
  /** In the host's order. */
  readonly rows: readonly P[];
  /** By the ids of pools, as the host spells them. */
  readonly byPoolId: ReadonlyMap<string, P>;
  readonly byTickerId: ReadonlyMap<string, readonly P[]>;
  /** The number of rows of the ticker id that has most of them. */
  readonly mostOfTicker: number;
  /** By {@link tokensKey}. */
  readonly byTokens: ReadonlyMap<string, readonly P[]>;
  /** The number of rows of the two tokens that have most of them. */
  readonly mostOfTokens: number;
  /** By the ids of pools of V3, as the node spells them. */
  readonly byNodePoolId: ReadonlyMap<string, readonly P[]>;
  /** The host's symbol of each token; that of a bridged token starts with `p`. */
  readonly symbols: ReadonlyMap<TokenId, string>;
};

/** Creates what builds the indexes row by row, so that a long list does not block the event loop. */
export function createMarketBuilder<P extends Pair>() {
  const byPoolId = new Map<string, P>();
  const byTickerId = new Map<string, P[]>();
  const byTokens = new Map<string, P[]>();
  const byNodePoolId = new Map<string, P[]>();
  const symbols = new Map<TokenId, string>();
  let mostOfTicker = 0;
  let mostOfTokens = 0;

  return {
    add(row: P): void {
      byPoolId.set(row.poolId, row);
      mostOfTicker = Math.max(mostOfTicker, addTo(byTickerId, row.tickerId, row));
      mostOfTokens = Math.max(mostOfTokens, addTo(byTokens, tokensKey(row.baseId, row.targetId), row));
      const named = parsePoolId(row.poolId);
      if (named !== undefined) addTo(byNodePoolId, poolPairId(named), row);
      symbols.set(row.baseId, row.base);
      symbols.set(row.targetId, row.target);
    },
    /** The market of these rows, which were all added. */
    build: (rows: readonly P[]): Market<P> => ({
      rows,
      byPoolId,
      byTickerId,
      mostOfTicker,
      byTokens,
      mostOfTokens,
      byNodePoolId,
      symbols,
    }),
  };
}

/** @returns the new length of the group */
function addTo<P>(groups: Map<string, P[]>, key: string, row: P): number {
  const group = groups.get(key) ?? [];
  groups.set(key, group);
  return group.push(row);
}

/** The price of a pair from its three sources, in target tokens per base token; `undefined` where a source has none. */
export type Divergence = {
  /** From the node's pool, by the documented formula. */
  readonly poolPrice: number | undefined;
  /** Of the last trade. */
  readonly lastPrice: number | undefined;
  /** The mean of the best bid and the best ask. */
  readonly bookMidPrice: number | undefined;
};

/** The larger distance of the two prices from the pool's, in percent; `undefined` without both. */
export function maxPercent({ poolPrice, lastPrice, bookMidPrice }: Divergence): number | undefined {
  const percents = [lastPrice, bookMidPrice].map((price) => percentChange(poolPrice, price));
  const known = percents.filter((percent) => percent !== undefined);
  return known.length === 0 ? undefined : Math.max(...known.map(Math.abs));
}
