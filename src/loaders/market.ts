import { type Market, type Pair, type PairFilter, selectPairs, type Ticker, tokensKey } from '../domain/market.ts';
import type { TokenId } from '../domain/token.ts';
import { AmbiguousTickerError, BadUserInputError } from '../errors.ts';
import type { Follower } from '../live/broadcast/follower.ts';
import type { MarketFollower, MarketSnapshot } from '../live/market/lists.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { Dependencies } from './dependencies.ts';

/** The pairs or the tickers of the market-data host. They stay the same for one answer. */
type MarketList<P extends Pair> = {
  /** @throws UpstreamError */
  all(): Promise<Market<P>>;
  /** The list, without waiting; `undefined` if it has not been read yet. */
  current(): Market<P> | undefined;
  /** The rows that match a filter, in the order of the host. @throws UpstreamError */
  select(filter: PairFilterInput | null | undefined): Promise<readonly P[]>;
  /** @throws BadUserInputError without an id, AmbiguousTickerError if several rows have the ticker id, UpstreamError */
  find(ids: PairIds): Promise<P | undefined>;
  /** Waits only if the list has not been read yet. @throws UpstreamError */
  byPoolId(poolId: string): MaybePromise<P | undefined>;
  /** The rows with a ticker id, in the order of the host. @throws UpstreamError */
  ofTicker(tickerId: string): Promise<readonly P[]>;
  /** The rows of two tokens, base and target in either order, in the order of the host. @throws UpstreamError */
  ofTokens(a: TokenId, b: TokenId): Promise<readonly P[]>;
};

/** The pairs and tickers of one answer. */
export type MarketLoader = { readonly pairs: MarketList<Pair>; readonly tickers: MarketList<Ticker> };

type PairIds = { readonly tickerId?: string | null | undefined; readonly poolId?: string | null | undefined };

/** The argument `filter` of a list of pairs or tickers. */
export type PairFilterInput = { readonly [K in keyof PairFilter]?: PairFilter[K] | null | undefined };

/** Creates the market loader of one answer. Each list stays as it was when a field first used it. */
export function createMarketLoader(follower: MarketFollower, dependencies: Dependencies): MarketLoader {
  return {
    pairs: createMarketList(follower.pairs, dependencies),
    tickers: createMarketList(follower.tickers, dependencies),
  };
}

function createMarketList<P extends Pair>(
  follower: Follower<MarketSnapshot<P>>,
  dependencies: Dependencies,
): MarketList<P> {
  let market: Market<P> | undefined;
  let dependsOn: Market<P> | 'nothing' | undefined;

  /** A poll whose rows are those of the poll before has the same market object. */
  const marketNow = () => follower.current()?.market;

  function depend(): void {
    if (dependsOn === (market ?? 'nothing')) return;
    dependsOn = market ?? 'nothing';
    dependencies.dependOn(marketNow, market, () => follower.current()?.nextAt);
  }

  function current(): Market<P> | undefined {
    market ??= marketNow();
    depend();
    return market;
  }

  async function all(): Promise<Market<P>> {
    const awaited = current() ?? (await follower.get()).market;
    market ??= awaited;
    depend();
    return market;
  }

  return {
    all,
    current,
    select: async (filter) => selectPairs((await all()).rows, toFilter(filter)),
    find: async (ids) => findOne(await all(), requireOne(ids)),
    byPoolId: (poolId) => andThen(current() ?? all(), ({ byPoolId }) => byPoolId.get(poolId)),
    ofTicker: async (tickerId) => (await all()).byTickerId.get(tickerId) ?? [],
    ofTokens: async (a, b) => (await all()).byTokens.get(tokensKey(a, b)) ?? [],
  };
}

/** The filter of these arguments, in which null restricts nothing. */
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
