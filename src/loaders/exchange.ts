import type { BeaconHeight } from '../domain/beacon-height.ts';
import {
  type ExchangeParams,
  type ExchangeState,
  findPlace,
  type PoolDirectory,
  placeOf,
  poolCount,
  versionOf,
  withoutPools,
} from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import { cutPage, filterFingerprint, formatCursor, type Page, type PoolPairOrder, positionOf } from '../domain/page.ts';
import type { PoolOrder } from '../domain/pool-order.ts';
import { type ExchangeVersion, type PoolName, type PoolPair, parsePoolId, poolPairId } from '../domain/pool-pair.ts';
import type { QuotedPools } from '../domain/quote.ts';
import type { TokenId } from '../domain/token.ts';
import type { UsdPrices } from '../domain/usd-prices.ts';
import { BadUserInputError } from '../errors.ts';
import { type PageArguments, readPageArguments, type SentArguments } from './arguments.ts';
import type { StatePools } from './pool-cache.ts';
import { createPoolsAtHeights, type PoolsAtHeights } from './pools-at-heights.ts';
import type { ResponseInputs } from './token.ts';

/** A page of pools, and the cursor of each of them. */
export type PoolPairPage = Page<PoolPair> & { cursorOf(pool: PoolPair): string };

type PoolPairFilterInput = SentArguments<{
  tokenId: TokenId;
  symbols: readonly string[];
  nonEmpty: boolean;
  version: ExchangeVersion;
  poolIds: readonly string[];
}>;

/** The arguments of a list of pools. */
export type PoolPairsArguments = PageArguments & SentArguments<{ filter: PoolPairFilterInput; orderBy: PoolPairOrder }>;

/** The order of pools if `orderBy` is not set. */
export const DEFAULT_ORDER: PoolPairOrder = 'NON_EMPTY_FIRST';

const NO_ORDERS: readonly PoolOrder[] = [];

/** The pools of the exchange for one response, at its height or at an earlier one. */
export class ExchangeLoader {
  readonly #inputs: ResponseInputs;
  #poolsAtHeights: PoolsAtHeights | undefined;

  constructor(inputs: ResponseInputs) {
    this.#inputs = inputs;
  }

  /** The version that trades at the height of the response; `undefined` before the first head. */
  version(): MaybePromise<ExchangeVersion | undefined> {
    return andThen(this.#inputs.head.described(), (head) => head && versionOf(head.exchange));
  }

  /**
   * The pool of two tokens, in either order; of several, the one with the most liquidity. It is pinned to its height if `at` is
   * set. Only a pool of the version that trades at the height of the response is returned without a promise.
   *
   * @throws HeightNotAvailableError, UpstreamError
   */
  poolPair(
    a: TokenId,
    b: TokenId,
    at?: BeaconHeight | null,
    version?: ExchangeVersion | null,
  ): MaybePromise<PoolPair | undefined> {
    return this.find((exchange) => findPlace(exchange, a, b), at, version);
  }

  /** The pool with a name, of the version that the name is of; else as `poolPair`. */
  named(name: PoolName, at?: BeaconHeight | null): MaybePromise<PoolPair | undefined> {
    return this.find(({ directory }) => placeOf(directory, name), at, versionOf(name));
  }

  /** The pool of V3 with an id; else as `poolPair`. @throws BadUserInputError for a text of another form */
  pool(poolId: string, at?: BeaconHeight | null): MaybePromise<PoolPair | undefined> {
    return this.named(readPoolId(poolId), at);
  }

  /** The pool at the place that a function finds; else as `poolPair`. */
  find(
    placeIn: (exchange: ExchangeState) => number | undefined,
    at?: BeaconHeight | null,
    version?: ExchangeVersion | null,
  ): MaybePromise<PoolPair | undefined> {
    return andThen(this.#state(at, version), (exchange) => {
      const place = placeIn(exchange);
      return place === undefined ? undefined : this.#poolsOf(exchange, at).at(place);
    });
  }

  /** The parameters of V3 at a height; `undefined` for V1. @throws HeightNotAvailableError, UpstreamError */
  params(at?: BeaconHeight | null): MaybePromise<ExchangeParams | undefined> {
    return andThen(this.#state(at), ({ v3 }) => v3?.params);
  }

  /** @throws BadUserInputError for a page that does not exist, HeightNotAvailableError, UpstreamError */
  poolPairs(args: PoolPairsArguments): MaybePromise<PoolPairPage> {
    const { head, options } = this.#inputs;
    const order = args.orderBy ?? DEFAULT_ORDER;
    const filter = filterFingerprint(args.filter ?? {});
    const { request, at } = readPageArguments(args, { filter, order }, options.maxPageSize);
    const selectedIn = this.#toFilter(args.filter);

    return andThen(this.#state(at, args.filter?.version), (exchange) => {
      const { beaconHeight, directory } = exchange;
      // A cursor names a height too, but its page shows current pools for as long as that height is the current one.
      const isCurrent = args.at == null && beaconHeight === head.currentFor(beaconHeight)?.beaconHeight;
      const statePools = this.#poolsOf(exchange, isCurrent ? undefined : beaconHeight);
      const { at: poolAt } = statePools;
      const page = cutPage(
        statePools.list(selectedIn(directory), order),
        (place) => positionOf(poolAt(place)),
        request,
        order,
      );
      const cursorOf = (pool: PoolPair) => formatCursor({ beaconHeight, filter, order, position: positionOf(pool) });
      return { ...page, items: page.items.map(poolAt), cursorOf };
    });
  }

  /** The open orders of a pool, in the order of the node; none in V1. @throws HeightNotAvailableError, UpstreamError */
  ordersOf(pool: PoolPair): MaybePromise<readonly PoolOrder[]> {
    if (pool.v3 === undefined) return NO_ORDERS;
    const { head, sources, options } = this.#inputs;
    if (pool.v3.orders !== undefined) return pool.v3.orders;
    // The state of an old node has none.
    return andThen(head.getFor([pool.beaconHeight]), (newest) =>
      sources.poolOrders.read(pool, newest, options.requester),
    );
  }

  /** Returns without a promise only at the height of the response. @throws HeightNotAvailableError, UpstreamError */
  allPools(at?: BeaconHeight | null): MaybePromise<QuotedPools> {
    return andThen(this.#state(at), (exchange) => this.#poolsOf(exchange, at));
  }

  /**
   * What tokens are worth at the height of the response, or at that of a pool that is pinned to its height. It is returned without a
   * promise only at the height of the response.
   *
   * @throws HeightNotAvailableError, UpstreamError
   */
  usdPrices(pool?: PoolPair): MaybePromise<UsdPrices> {
    if (pool?.isPinned) return this.#atHeights().usdPrices.load(pool.beaconHeight);
    const { sources, tokens } = this.#inputs;
    return andThen(this.#state(), (exchange) => sources.usdPrices(exchange, tokens.list));
  }

  /**
   * The newest height, up to that of the response, whose block was made at or before a time; `undefined` if that was before the
   * first block that is known.
   *
   * @throws HeightNotAvailableError, UpstreamError
   */
  async heightAt(time: Instant): Promise<BeaconHeight | undefined> {
    const { head, sources, options } = this.#inputs;
    const newest = await head.getFor([]);
    const { requester } = options;
    const found = await sources.blockTimes.heightAt(
      time,
      newest,
      (height, under) => sources.pastStates.read(height, under, requester),
      (read) => sources.historyQueue.queue(read).wait(requester),
    );
    // The block above decides too: while it is not final, it can be replaced by one that was made earlier.
    if (found === undefined) await head.get();
    else await head.getFor([found + 1]);
    return found;
  }

  /** Created when a field first names a height: most operations name none. */
  #atHeights(): PoolsAtHeights {
    this.#poolsAtHeights ??= createPoolsAtHeights(this.#inputs);
    return this.#poolsAtHeights;
  }

  /** The exchange at a height, or without a promise at that of the response; of a version, or of the one that trades there. */
  #state(at?: BeaconHeight | null, version?: ExchangeVersion | null): MaybePromise<ExchangeState> {
    if (at != null && version === 'V1') return this.#atHeights().v1States.load(at);
    const trading =
      at == null ? andThen(this.#inputs.head.get(), ({ exchange }) => exchange) : this.#atHeights().states.load(at);
    return andThen(trading, (exchange): MaybePromise<ExchangeState> => {
      if (version == null || version === versionOf(exchange)) return exchange;
      return version === 'V1' ? this.#atHeights().v1States.load(exchange.beaconHeight) : withoutPools(exchange);
    });
  }

  /** The pools of a state, pinned to its height if that was named. One without pools must not become the newest state of the cache. */
  #poolsOf(exchange: ExchangeState, at: BeaconHeight | null | undefined): StatePools {
    const { pools } = this.#inputs.sources;
    return at == null && poolCount(exchange) > 0 ? pools.of(exchange) : pools.pinned(exchange);
  }

  /** @returns the filter for the pools of a directory */
  #toFilter(filter: PoolPairFilterInput | null | undefined) {
    const { tokenId, symbols, nonEmpty, poolIds } = filter ?? {};
    const selected = {
      tokenId: tokenId ?? undefined,
      nonEmpty: nonEmpty ?? undefined,
      poolIds: poolIds == null ? undefined : new Set(poolIds.map((id) => poolPairId(readPoolId(id)))),
    };
    const { tokens } = this.#inputs;
    return (directory: PoolDirectory) => ({
      ...selected,
      anyTokenOf: symbols == null ? undefined : tokens.withSymbols(symbols, directory),
    });
  }
}

/** The name of a pool of V3. @throws BadUserInputError for a text of another form */
export function readPoolId(text: string): PoolName {
  const name = parsePoolId(text);
  if (name !== undefined) return name;
  throw new BadUserInputError(
    `${JSON.stringify(text.slice(0, 200))} is not a pool id: two token ids and a hash, of 64 hexadecimal characters each, joined by "-".`,
  );
}
