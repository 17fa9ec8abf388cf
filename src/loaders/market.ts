import { type Market, type Pair, type PairFilter, selectPairs, type Ticker, tokensKey } from '../domain/market.ts';
import type { TokenId } from '../domain/token-id.ts';
import { AmbiguousTickerError, BadUserInputError } from '../errors.ts';
import type { Follower } from '../live/broadcast/follower.ts';
import type { MarketFollower, MarketReading } from '../live/market/lists.ts';
import type { Dependencies } from './dependencies.ts';

/** One of the two lists of the market-data host, as one answer sees it. */
export type MarketList<P extends Pair> = {
  /** @throws UpstreamError */
  all(): Promise<Market<P>>;
  /** The same without waiting: `undefined` where the list was not read yet. */
  current(): Market<P> | undefined;
  /** In the host's order. */
  select(filter: PairFilterInput | null | undefined): Promise<readonly P[]>;
  /** @throws BadUserInputError where neither id is given, AmbiguousTickerError where the ticker id names several */
  find(ids: PairIds): Promise<P | undefined>;
  byPoolId(poolId: string): Promise<P | undefined>;
  /** Those that trade the two tokens, in the host's order. */
  ofTokens(a: TokenId, b: TokenId): Promise<readonly P[]>;
};

/** The pairs and tickers of one answer. */
export type MarketLoader = { readonly pairs: MarketList<Pair>; readonly tickers: MarketList<Ticker> };

/** What names a pair. */
export type PairIds = { readonly tickerId?: string | null | undefined; readonly poolId?: string | null | undefined };

/** What a client may say of the pairs it wants. */
export type PairFilterInput = { readonly [K in keyof PairFilter]?: PairFilter[K] | null | undefined };

/** Makes the market loader of one answer: each list stays what it was when it was first asked for. */
export function createMarketLoader(follower: MarketFollower, dependencies: Dependencies): MarketLoader {
  return {
    pairs: createMarketList(follower.pairs, dependencies),
    tickers: createMarketList(follower.tickers, dependencies),
  };
}

/** Makes one list of one answer. */
export function createMarketList<P extends Pair>(
  follower: Follower<MarketReading<P>>,
  dependencies: Dependencies,
): MarketList<P> {
  let market: Market<P> | undefined;
  let noted: Market<P> | 'nothing' | undefined;

  /** A reading that says the same as the one before has the same market. */
  const marketNow = () => follower.current()?.market;

  function note(told: Market<P> | undefined): void {
    if (noted === (told ?? 'nothing')) return;
    noted = told ?? 'nothing';
    dependencies.dependOn(marketNow, told, () => follower.current()?.nextAt);
  }

  function current(): Market<P> | undefined {
    market ??= marketNow();
    note(market);
    return market;
  }

  async function all(): Promise<Market<P>> {
    const awaited = current() ?? (await follower.get()).market;
    market ??= awaited;
    note(market);
    return market;
  }

  return {
    all,
    current,
    select: async (filter) => selectPairs((await all()).rows, toFilter(filter)),
    find: async (ids) => findOne(await all(), requireOne(ids)),
    byPoolId: async (poolId) => (await all()).byPoolId.get(poolId),
    ofTokens: async (a, b) => (await all()).byTokens.get(tokensKey(a, b)) ?? [],
  };
}

/** GraphQL's null says the same as nothing. */
export function toFilter(filter: PairFilterInput | null | undefined): PairFilter {
  return Object.fromEntries(Object.entries(filter ?? {}).filter(([, value]) => value !== null));
}

function requireOne(ids: PairIds): PairIds {
  if (ids.tickerId == null && ids.poolId == null) throw new BadUserInputError('Set tickerId, poolId or both.');
  return ids;
}

function findOne<P extends Pair>(market: Market<P>, { tickerId, poolId }: PairIds): P | undefined {
  if (poolId != null) {
    const row = market.byPoolId.get(poolId);
    return tickerId == null || row?.tickerId === tickerId ? row : undefined;
  }
  const rows = market.byTickerId.get(tickerId ?? '') ?? [];
  if (rows.length > 1) {
    throw new AmbiguousTickerError(
      tickerId ?? '',
      rows.map((row) => row.poolId),
    );
  }
  return rows[0];
}
