import type { BeaconHeight } from '../domain/beacon-height.ts';
import { filterFingerprint, formatCursor, parseCursor } from '../domain/cursor.ts';
import { type ExchangeState, poolPairAt, versionOf } from '../domain/exchange.ts';
import type { ExchangeSwaps } from '../domain/exchange-swaps.ts';
import type { Instant } from '../domain/instant.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import { cutPage, type Page, type PoolPairOrder, positionOf } from '../domain/page.ts';
import type { PoolGraph } from '../domain/pool-graph.ts';
import { type ExchangeVersion, type PoolPair, pin } from '../domain/pool-pair.ts';
import type { TokenId } from '../domain/token.ts';
import type { UsdPrices } from '../domain/usd-prices.ts';
import { type PageArguments, readPageArguments } from './page-arguments.ts';
import { createPoolsAtHeights, type PoolsAtHeights, type PoolsAtHeightsOptions } from './pools-at-heights.ts';
import type { Sources } from './sources.ts';

/** A page of pools, and the cursor of each of them. */
export type PoolPairPage = Page<PoolPair> & { cursorOf(pool: PoolPair): string };

type PoolPairFilterInput = {
  readonly tokenId?: TokenId | null | undefined;
  readonly symbols?: readonly string[] | null | undefined;
  readonly nonEmpty?: boolean | null | undefined;
};

type PoolPairsArguments = PageArguments & {
  readonly filter?: PoolPairFilterInput | null | undefined;
  readonly orderBy?: PoolPairOrder | null | undefined;
};

/** The order of pools if `orderBy` is not set. */
export const DEFAULT_ORDER: PoolPairOrder = 'NON_EMPTY_FIRST';

/** All pools of the exchange in one state. */
export type PoolsOfState = {
  readonly exchange: ExchangeState;
  /** The pool at a place of the directory. It is pinned to its height if the height was named. */
  at(place: number): PoolPair;
  /** The graph of the directory. */
  graph(): PoolGraph;
  /** The trades through the pools, of a state of V3. */
  swaps(): ExchangeSwaps;
};

type ExchangeLoaderOptions = PoolsAtHeightsOptions & {
  readonly sources: Pick<Sources, 'pools' | 'blockTimes'>;
  readonly options: { readonly maxPageSize: number };
};

/** The pools of the exchange for one answer, at its height or at an earlier one. */
export class ExchangeLoader {
  readonly #options: ExchangeLoaderOptions;
  #poolsAtHeights: PoolsAtHeights | undefined;

  constructor(options: ExchangeLoaderOptions) {
    this.#options = options;
  }

  /** The version that trades at the height of the answer; `undefined` before the first head. */
  version(): MaybePromise<ExchangeVersion | undefined> {
    return andThen(this.#options.head.described(), (head) => head && versionOf(head.exchange));
  }

  /**
   * The pool of two tokens, in either order. It is pinned to its height if `at` is set. Only a pool at the height of the
   * answer is returned without a promise.
   *
   * @throws HeightNotAvailableError, UpstreamError
   */
  poolPair(a: TokenId, b: TokenId, at?: BeaconHeight | null): MaybePromise<PoolPair | undefined> {
    if (at != null) return this.#atHeights().pools.load({ height: at, a, b });
    return andThen(this.#stateOfHead(), (exchange) => this.#options.sources.pools.of(exchange).find(a, b));
  }

  /** @throws BadUserInputError for a page that does not exist, HeightNotAvailableError, UpstreamError */
  poolPairs(args: PoolPairsArguments): MaybePromise<PoolPairPage> {
    const { head, options, sources } = this.#options;
    const { pools } = sources;
    const order = orderOf(args);
    const filter = filterFingerprint(args.filter ?? {});
    const { request, at } = readPageArguments(args, { filter, order }, options.maxPageSize);

    return andThen(at === undefined ? this.#stateOfHead() : this.#atHeights().states.load(at), (exchange) => {
      const { beaconHeight } = exchange;
      // A cursor names a height too, but its page shows current pools for as long as that height is the current one.
      const isCurrent = args.at == null && beaconHeight === head.currentFor(beaconHeight)?.beaconHeight;
      const statePools = isCurrent ? pools.of(exchange) : pools.pinned(exchange);
      const page = cutPage(statePools.select(this.#toFilter(args.filter), order), request, order);
      const cursorOf = (pool: PoolPair) => formatCursor({ beaconHeight, filter, order, position: positionOf(pool) });
      return { ...page, cursorOf };
    });
  }

  /** Only the pools at the height of the answer are returned without a promise. @throws HeightNotAvailableError, UpstreamError */
  allPools(at?: BeaconHeight | null): MaybePromise<PoolsOfState> {
    const { pools } = this.#options.sources;
    const isPinned = at != null;
    return andThen(isPinned ? this.#atHeights().states.load(at) : this.#stateOfHead(), (exchange) => ({
      exchange,
      at: isPinned ? (place) => pin(poolPairAt(exchange, place)) : pools.of(exchange).at,
      graph: () => pools.graphOf(exchange.directory),
      swaps: () => pools.swapsOf(exchange),
    }));
  }

  /**
   * What tokens are worth at the height of the answer, or at that of a pool that is pinned to its height. Only at the height of
   * the answer, it is returned without a promise.
   *
   * @throws HeightNotAvailableError, UpstreamError
   */
  usdPrices(pool?: PoolPair): MaybePromise<UsdPrices> {
    if (pool?.isPinned) return this.#atHeights().usdPrices.load(pool.beaconHeight);
    const { sources, tokens } = this.#options;
    return andThen(this.#stateOfHead(), (exchange) => sources.usdPrices(exchange, tokens.list));
  }

  /**
   * The newest height, up to that of the answer, whose block was made at or before a time; `undefined` if that was before the
   * first block that is known.
   *
   * @throws HeightNotAvailableError, UpstreamError
   */
  async heightAt(time: Instant): Promise<BeaconHeight | undefined> {
    const { head, sources, options } = this.#options;
    const newest = await head.getFor([]);
    const found = await sources.blockTimes.heightAt(time, newest, (height, under) =>
      sources.pastStates.read(height, under, options.requester),
    );
    // The block above decides too: while it is not final, it can be replaced by one that was made earlier.
    if (found === undefined) await head.get();
    else await head.getFor([found + 1]);
    return found;
  }

  /** Created when a field first names a height: most operations name none. */
  #atHeights(): PoolsAtHeights {
    this.#poolsAtHeights ??= createPoolsAtHeights(this.#options);
    return this.#poolsAtHeights;
  }

  /**
   * The pinned head is in memory. It does not go through a DataLoader, which would make every pool a promise: the executor
   * writes a page without waiting only if none of its fields is one.
   */
  #stateOfHead(): MaybePromise<ExchangeState> {
    return andThen(this.#options.head.get(), ({ exchange }) => exchange);
  }

  #toFilter(filter: PoolPairFilterInput | null | undefined) {
    return {
      tokenId: filter?.tokenId ?? undefined,
      anyTokenOf: filter?.symbols == null ? undefined : this.#options.tokens.withSymbols(filter.symbols),
      nonEmpty: filter?.nonEmpty ?? undefined,
    };
  }
}

/** A cursor of the time when `ID_ASC` was the default continues its list. */
function orderOf({ orderBy, after, before }: PoolPairsArguments): PoolPairOrder {
  const order = orderBy ?? DEFAULT_ORDER;
  const isOlder = order === DEFAULT_ORDER && parseCursor(after ?? before ?? '')?.order === 'ID_ASC';
  return isOlder ? 'ID_ASC' : order;
}
