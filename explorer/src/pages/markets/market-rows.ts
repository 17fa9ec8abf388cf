import type { Unit } from '../../app/unit.ts';
import { nameOfToken, priceOfBase, withoutIsolates } from '../../format/prices.ts';
import { namesOfSymbol } from '../../format/token-names.ts';
import { keyOfPool, keyOfTokens, toNodePoolId } from '../market/pool-id.ts';
import { termsOfPool } from '../market/pool-terms.ts';
import type { MarketData } from './market-list.ts';
import type { ListedPoolFragment } from './markets.generated.ts';

/** A token, as far as a row shows it. */
export type RowToken = { readonly tokenId: string; readonly symbol: string | null };

/** A market of the market-data host, or a pool of the node. Values are as of when the list was read. */
export type MarketRow = {
  /** Its pool id on the market-data host, or the tokens of the pool. */
  readonly key: string;
  readonly path: string;
  readonly base: RowToken;
  readonly target: RowToken;
  /**
   * The pair of the host that gives the row its name, direction and page; undefined for a pool without a market. It is ambiguous if
   * another row has the same ticker id.
   */
  readonly pair: { readonly poolId: string; readonly tickerId: string; readonly isAmbiguous: boolean } | undefined;
  /** The pool ids of all pairs that trade in this pool; that of the node for a pool without a market. */
  readonly poolIds: readonly string[];
  /** The id of the node's pool, if there is one. */
  readonly nodeId: string | undefined;
  /** The pool id of a pool of V3, of which any number have the same two tokens; undefined in V1. */
  readonly nodePoolId: string | undefined;
  /** What distinguishes its pool from others of the same two tokens: its fee and amplification. Undefined if there are no others. */
  readonly terms: string | undefined;
  readonly height: number;
  /** Target tokens per base token: of the pool, or else of the last trade. */
  readonly price: number | null;
  /** What one target token is worth in US dollars. */
  readonly targetUsd: number | null;
  /** The price a day ago; undefined if it was not read. */
  readonly dayStart: number | null | undefined;
  /** Of all its pairs in the last 24 hours, in native coins or in US dollars. */
  readonly volume: number | null;
  /** The value of what the pool holds of both tokens together, in the same unit. */
  readonly liquidity: number | null;
  /** What a search looks at. It is made when somebody searches: that takes longer than the rest of the row. */
  readonly searched: () => Searched;
};

/** In lower case: symbols and ids, and the words of the names of both tokens. */
type Searched = { readonly text: string; readonly names: readonly string[] };

/** The rows of both lists. */
export type MarketRows = { readonly markets: readonly MarketRow[]; readonly pools: readonly MarketRow[] };

/** The native coin, in whose units volumes and liquidity are compared. */
const NATIVE_ID = '4'.padStart(64, '0');

/**
 * Makes the rows of what the gateway sent. Pairs of the host that trade in one pool of the node are one row, so that a pool is
 * listed and counted once: the first pair gives it its name, direction and page, in both lists. Volumes and liquidity are in the unit.
 */
export function rowsOf({ tokens, pairs, tickers, pools, height = 0 }: MarketData, unit: Unit = 'PRV'): MarketRows {
  const tokensById = new Map(tokens.map((token) => [token.tokenId, token]));
  const poolsByTokens = Map.groupBy(pools ?? [], tokensOfPool);
  const tickersByPoolId = new Map((tickers ?? []).map((ticker) => [ticker.poolId, ticker]));
  const usdOf = (tokenId: string) => tokensById.get(tokenId)?.usdPrice ?? null;
  const nativePrices = nativePricesOf(pools ?? []);
  const inUnit = (amount: number | null | undefined, tokenId: string) => {
    const price = unit === 'USD' ? usdOf(tokenId) : (nativePrices.get(tokenId) ?? null);
    return amount == null || price === null ? null : amount * price;
  };
  const tokenOf = (tokenId: string, symbol: string | null = null): RowToken => ({
    tokenId,
    symbol: tokensById.get(tokenId)?.symbol ?? symbol,
  });
  const liquidityOf = (pool: ListedPoolFragment): number | null => {
    if (unit === 'USD') return pool.liquidityUsd;
    const { token1, token2, token1PoolValue, token2PoolValue, token1VirtualValue, token2VirtualValue } = pool;
    if ([token1PoolValue, token2PoolValue, token1VirtualValue, token2VirtualValue].includes('0')) return 0;
    const spotPrice = Number(token1VirtualValue) / Number(token2VirtualValue);
    for (const [{ tokenId }, held] of [
      [token1, Number(token1PoolValue) + Number(token2PoolValue) * spotPrice],
      [token2, Number(token2PoolValue) + Number(token1PoolValue) / spotPrice],
    ] as const) {
      const decimals = tokensById.get(tokenId)?.decimals;
      const value = decimals == null ? null : inUnit(held / 10 ** decimals, tokenId);
      if (value !== null) return value;
    }
    return null;
  };

  // In V3, each pair has a pool of its own, unless the host names one of other tokens. In V1, it is the pool of the two tokens.
  const poolOf = ({ poolId, baseId, targetId }: ListedPair) =>
    poolsByTokens
      .get(keyOfTokens(baseId, targetId))
      ?.find((pool) => pool.poolId === null || pool.poolId === toNodePoolId(poolId));
  const ofPool = (pool: ListedPoolFragment | undefined) => ({
    nodeId: pool && `PoolPair:${keyOfPool(pool)}`,
    nodePoolId: pool?.poolId ?? undefined,
    terms: pool && (poolsByTokens.get(tokensOfPool(pool))?.length ?? 0) > 1 ? termsOfPool(pool) : undefined,
  });
  const groups = [...Map.groupBy(pairs ?? [], (pair) => poolOf(pair) ?? pair)] as [
    ListedPoolFragment | ListedPair,
    [ListedPair, ...ListedPair[]],
  ][];
  const pairsByTicker = Map.groupBy(pairs ?? [], ({ tickerId }) => tickerId);
  const groupsByTicker = Map.groupBy(groups, ([, [{ tickerId }]]) => tickerId);

  const marketsByPool = new Map<ListedPoolFragment, MarketRow>();
  const markets = groups.map(([poolOrPair, group]): MarketRow => {
    const [first] = group;
    const { poolId, tickerId, baseId, targetId } = first;
    const pool = 'token1' in poolOrPair ? poolOrPair : undefined;
    const volumes = group.flatMap(({ poolId, baseId, targetId }) => {
      const ticker = tickersByPoolId.get(poolId);
      // Some hosts send the volume of one side only.
      return inUnit(ticker?.targetVolume || null, targetId) ?? inUnit(ticker?.baseVolume, baseId) ?? [];
    });
    const [base, target] = [tokenOf(baseId, first.base), tokenOf(targetId, first.target)];
    const row: MarketRow = {
      key: poolId,
      path: marketPath(tickerId, pairsByTicker.get(tickerId)?.length === 1 ? undefined : poolId),
      base,
      target,
      pair: { poolId, tickerId, isAmbiguous: groupsByTicker.get(tickerId)?.length !== 1 },
      poolIds: group.map(({ poolId }) => poolId),
      ...ofPool(pool),
      height,
      price: priceOfBase(pool, baseId) ?? tickersByPoolId.get(poolId)?.lastPrice ?? null,
      targetUsd: usdOf(targetId),
      dayStart: 'change' in first ? (first.change?.from ?? null) : undefined,
      volume: sumOf(volumes),
      liquidity: pool === undefined ? null : liquidityOf(pool),
      searched: searchedOf(base, target, () =>
        group.map(({ tickerId, poolId }) => `${tickerId} ${poolId} ${toNodePoolId(poolId)}`).join(' '),
      ),
    };
    if (pool !== undefined) marketsByPool.set(pool, row);
    return row;
  });

  const rowsOfPools = (pools ?? []).map((pool): MarketRow => {
    const market = marketsByPool.get(pool);
    if (market !== undefined) return market;
    const key = keyOfPool(pool);
    const [base, target] = [tokenOf(pool.token2.tokenId), tokenOf(pool.token1.tokenId)];
    return {
      key,
      path: `/pool/${key}`,
      base,
      target,
      pair: undefined,
      poolIds: [key],
      ...ofPool(pool),
      height,
      price: pool.price,
      targetUsd: usdOf(target.tokenId),
      dayStart: 'change' in pool ? (pool.change?.from ?? null) : undefined,
      volume: null,
      liquidity: liquidityOf(pool),
      searched: searchedOf(base, target, () => key),
    };
  });
  return { markets, pools: rowsOfPools };
}

type ListedPair = NonNullable<MarketData['pairs']>[number];

function sumOf(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : numbers.reduce((sum, number) => sum + number);
}

/** The path of the page of a market. A ticker id that several markets have needs the pool id. */
function marketPath(tickerId: string, poolId: string | undefined): string {
  const path = `/market/${encodeURIComponent(tickerId)}`;
  return poolId === undefined ? path : `${path}?${new URLSearchParams({ pool: poolId })}`;
}

function tokensOfPool({ token1, token2 }: ListedPoolFragment): string {
  return keyOfTokens(token1.tokenId, token2.tokenId);
}

/** What one whole token costs in native coins, of each token that has a pool with the native coin: in the largest one. */
function nativePricesOf(pools: readonly ListedPoolFragment[]): ReadonlyMap<string, number> {
  const prices = new Map([[NATIVE_ID, 1]]);
  for (const pool of pools) {
    const other =
      pool.token1.tokenId === NATIVE_ID ? pool.token2 : pool.token2.tokenId === NATIVE_ID ? pool.token1 : undefined;
    const price = other && priceOfBase(pool, other.tokenId);
    if (other && price != null && !prices.has(other.tokenId)) prices.set(other.tokenId, price);
  }
  return prices;
}

function searchedOf(base: RowToken, target: RowToken, readIds: () => string): () => Searched {
  let searched: Searched | undefined;
  return () => {
    if (searched !== undefined) return searched;
    const [first, second] = [nameOfToken(base), nameOfToken(target)];
    const text = `${first}/${second} ${second}/${first} ${readIds()} ${base.tokenId} ${target.tokenId}`;
    const names = [...namesOfSymbol(base.symbol), ...namesOfSymbol(target.symbol)];
    searched = { text: searchable(text), names };
    return searched;
  };
}

/** A text in which BTC-PRV, btc_prv and BTC/PRV are equal. */
export function searchable(text: string): string {
  return withoutIsolates(text.toLowerCase()).replace(/[-_]/g, '/');
}
