import { type Market, type Pair, type PairFilter, selectPairs, type Ticker } from '../domain/market.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import { type PoolPair, tokensKey } from '../domain/pool-pair.ts';
import { AmbiguousTickerError, BadUserInputError } from '../errors.ts';
import type { Follower } from '../live/broadcast/follower.ts';
import type { MarketSnapshot } from '../live/market/market-follower.ts';
import type { SentArguments } from './arguments.ts';
import type { Dependencies } from './dependencies.ts';
import { createSourceStream, type SourceStream, subscribeTo } from './source-stream.ts';
import type { LoaderInputs } from './sources.ts';

/** The pairs and tickers of one response. */
export type MarketLoader = { readonly pairs: MarketList<Pair>; readonly tickers: MarketList<Ticker> };

type PairIds = SentArguments<{ tickerId: string; poolId: string }>;

/** The argument `filter` of a list of pairs or tickers. */
export type PairFilterInput = SentArguments<PairFilter>;

/** The pairs or the tickers of the market-data host. For one response, they stay as they were when a field first used them. */
export class MarketList<P extends Pair> {
  readonly #follower: Follower<MarketSnapshot<P>>;
  readonly #dependencies: Dependencies;
  #market: Market<P> | undefined;
  #dependsOn: Market<P> | 'nothing' | undefined;

  constructor(follower: Follower<MarketSnapshot<P>>, dependencies: Dependencies) {
    this.#follower = follower;
    this.#dependencies = dependencies;
  }

  /** @throws UpstreamError */
  async all(): Promise<Market<P>> {
    const awaited = this.current() ?? (await this.#follower.get()).market;
    this.#market ??= awaited;
    this.#depend();
    return this.#market;
  }

  /** The list, without waiting; `undefined` if it has not been read yet. */
  current(): Market<P> | undefined {
    this.#market ??= this.#follower.current()?.market;
    this.#depend();
    return this.#market;
  }

  /** The rows that match a filter, in the order of the host. @throws UpstreamError */
  async select(filter: PairFilterInput | null | undefined): Promise<readonly P[]> {
    return selectPairs((await this.all()).rows, toFilter(filter));
  }

  /** @throws BadUserInputError without an id, AmbiguousTickerError if several rows have the ticker id, UpstreamError */
  async find({ tickerId, poolId }: PairIds): Promise<P | undefined> {
    const { byPoolId, byTickerId } = await this.all();
    if (poolId != null) {
      const row = byPoolId.get(poolId);
      return tickerId == null || row?.tickerId === tickerId ? row : undefined;
    }
    if (tickerId == null) throw new BadUserInputError('Set tickerId, poolId or both.');
    const rows = byTickerId.get(tickerId) ?? [];
    if (rows.length > 1)
      throw new AmbiguousTickerError(
        tickerId,
        rows.map((row) => row.poolId),
      );
    return rows[0];
  }

  /** Waits only if the list has not been read yet. @throws UpstreamError */
  byPoolId(poolId: string): MaybePromise<P | undefined> {
    return andThen(this.current() ?? this.all(), ({ byPoolId }) => byPoolId.get(poolId));
  }

  /** The rows with a ticker id, in the order of the host. @throws UpstreamError */
  async ofTicker(tickerId: string): Promise<readonly P[]> {
    return (await this.all()).byTickerId.get(tickerId) ?? [];
  }

  /**
   * The rows of a pool, in the order of the host: in V3 those whose pool id names it, in V1 those of its two tokens.
   *
   * @throws UpstreamError
   */
  async ofPool({ token1Id, token2Id, v3 }: PoolPair): Promise<readonly P[]> {
    const { byNodePoolId, byTokens } = await this.all();
    return (v3 === undefined ? byTokens.get(tokensKey(token1Id, token2Id)) : byNodePoolId.get(v3.poolId)) ?? [];
  }

  #depend(): void {
    const market = this.#market ?? 'nothing';
    if (this.#dependsOn === market) return;
    this.#dependsOn = market;
    const follower = this.#follower;
    // A poll whose rows are those of the poll before has the same market object.
    const read = () => follower.current()?.market;
    this.#dependencies.dependOn(read, this.#market, () => follower.current()?.nextAt);
  }
}

/**
 * The tickers that match a filter: the current ones, then each time that a ticker has changed. If they cannot be read, the stream
 * starts with the error and stays open.
 *
 * @throws UpstreamNotConfiguredError
 */
export async function createTickerStream(
  filter: PairFilterInput | null | undefined,
  { sources }: Pick<LoaderInputs, 'sources'>,
): Promise<SourceStream<MarketSnapshot<Ticker>, readonly Ticker[]>> {
  return createSourceStream<MarketSnapshot<Ticker>, readonly Ticker[]>({
    subscribe: await subscribeTo(sources.market.tickers),
    identityOf: ({ market }) => market,
    toUpdate: ({ market }) => selectPairs(market.rows, toFilter(filter)),
  });
}

/** The filter of these arguments, in which null restricts nothing. */
function toFilter(filter: PairFilterInput | null | undefined): PairFilter {
  return Object.fromEntries(Object.entries(filter ?? {}).filter(([, value]) => value !== null));
}
