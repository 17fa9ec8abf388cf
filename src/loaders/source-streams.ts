import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ExchangeState, PoolDirectory } from '../domain/exchange.ts';
import { selectPairs, type Ticker } from '../domain/market.ts';
import type { PoolPair } from '../domain/pool-pair.ts';
import { changedPlaces, type PriceSelection, selectPlaces } from '../domain/pool-selection.ts';
import {
  BadUserInputError,
  GatewayError,
  HeightNotAvailableError,
  UpstreamError,
  UpstreamNotConfiguredError,
} from '../errors.ts';
import type { Subscribe } from '../live/broadcast/broadcast.ts';
import type { Follower } from '../live/broadcast/follower.ts';
import type { Head } from '../live/chain/head.ts';
import { isFarAhead } from '../live/chain/recent-heads.ts';
import type { MarketSnapshot } from '../live/market/lists.ts';
import { noTicker, type OrderBookSnapshot } from '../live/market/order-books.ts';
import type { Requester } from '../upstream/fair-queue.ts';
import { type PairFilterInput, toFilter } from './market.ts';
import { type CutOrderBook, cutBook, type Depth, readDepth } from './order-book.ts';
import type { PoolCache } from './pool-cache.ts';
import type { Sources } from './sources.ts';

/**
 * The source stream of a subscription: values, and how each of them becomes an update. An update depends only on its value
 * and on the value that the subscriber received before, so subscribers that received the same value share one update.
 *
 * A value can be an error, if there is nothing to send now. The update is this error, and the stream stays open.
 */
export type SourceStream<V = unknown, U = unknown> = AsyncIterable<U> & {
  readonly subscribe: Subscribe<V | GatewayError>;
  /** Whether a subscriber that received `previous` last gets an update for a value. */
  isChange(value: V | GatewayError, previous: V | undefined): boolean;
  toUpdate(value: V | GatewayError, previous: V | undefined): U;
  /** Whether an update depends on the value before it. If not, all subscribers share the update. */
  readonly dependsOnPrevious: boolean;
  /** The head that the update describes; `undefined` for the current one. */
  headOf(value: V | GatewayError): Head | undefined;
  /** The height after which a subscriber that received the value can resume; `undefined` if it cannot resume. */
  heightOf(value: V | GatewayError): BeaconHeight | undefined;
  /** The height after which the stream resumes; `undefined` if it starts with the current value. */
  readonly resumesAfter: BeaconHeight | undefined;
};

/** Whether the result of a field's `subscribe` is a source stream, and not an error. */
export function isSourceStream(stream: object): stream is SourceStream {
  return 'toUpdate' in stream;
}

/** The prices at one height, as one subscriber gets them. */
export type PriceUpdate = {
  readonly head: Head;
  /** The height of the update before, or the height after which the subscription resumed; `undefined` for neither. */
  readonly previousHeight: BeaconHeight | undefined;
  readonly poolPairs: readonly PoolPair[];
};

/** The arguments of `prices`. */
export type PricesArguments = {
  readonly poolPairs?: PriceSelection['poolPairs'] | null;
  readonly tokenIds?: PriceSelection['tokenIds'] | null;
  readonly onlyChanged?: boolean | null | undefined;
  /** The height of the last update that the client received before it lost its connection. */
  readonly afterHeight?: BeaconHeight | null | undefined;
};

/**
 * The source streams of subscriptions: the current value, then each change. If its upstream cannot be read, a stream starts
 * with the error and stays open. All throw UpstreamNotConfiguredError.
 */
export type SourceStreams = {
  head(): Promise<SourceStream<Head, Head>>;
  /** @throws BadUserInputError for an empty list, HeightNotAvailableError for an `afterHeight` far in the future */
  prices(args: PricesArguments): Promise<SourceStream<Head, PriceUpdate>>;
  tickers(filter: PairFilterInput | null | undefined): Promise<SourceStream<MarketSnapshot<Ticker>, readonly Ticker[]>>;
  /** @throws BadUserInputError for a negative depth or a ticker that does not exist */
  orderBook(tickerId: string, depth: Depth): Promise<SourceStream<OrderBookSnapshot, CutOrderBook>>;
};

/** What source streams read from, and for whom. */
export type SourceStreamsOptions = {
  readonly sources: Sources;
  readonly requester: Requester;
  /**
   * The height in the header `Last-Event-ID`. It takes precedence over `afterHeight`, which an event source repeats each time
   * that it reconnects.
   */
  readonly afterEvent?: BeaconHeight | undefined;
};

/** Creates the source streams of one operation. */
export function createSourceStreams({ sources, requester, afterEvent }: SourceStreamsOptions): SourceStreams {
  return {
    async head() {
      const subscribe = await subscribeTo(sources.head);
      return createSourceStream<Head, Head>({ subscribe, toUpdate: (head) => head, headOf: (head) => head });
    },

    async prices({ poolPairs, tokenIds, onlyChanged, afterHeight }) {
      if (poolPairs?.length === 0)
        throw new BadUserInputError('poolPairs is empty. List at least one pool, or omit the argument.');
      if (tokenIds?.length === 0)
        throw new BadUserInputError('tokenIds is empty. List at least one token, or omit the argument.');

      const after = afterEvent ?? afterHeight ?? undefined;
      const subscribe = await subscribeTo(
        sources.head,
        after === undefined ? undefined : sources.head.subscribeAfter(after),
      );
      const newest = sources.head.current();
      // A browser repeats `Last-Event-ID` for ever, so that height is not an error: the stream starts with the newest prices.
      if (afterEvent === undefined && after !== undefined && newest && isFarAhead(after, newest))
        throw new HeightNotAvailableError(after, newest.beaconHeight);
      const selection = { poolPairs: poolPairs ?? undefined, tokenIds: tokenIds ?? undefined };
      const select = createPoolSelector(sources.pools, selection);
      return createSourceStream<Head, PriceUpdate>({
        subscribe,
        toUpdate: (head, previous) => ({
          head,
          previousHeight: previous?.beaconHeight ?? (after && isFarAhead(after, head) ? undefined : after),
          // The first update is complete also after a resume: the block that the client has seen may have been replaced.
          poolPairs: select(head.exchange, onlyChanged ? previous?.exchange : undefined),
        }),
        dependsOnPrevious: true,
        headOf: (head) => head,
        heightOf: ({ beaconHeight }) => beaconHeight,
        resumesAfter: after,
      });
    },

    async tickers(filter) {
      const { tickers } = sources.market;
      return createSourceStream<MarketSnapshot<Ticker>, readonly Ticker[]>({
        subscribe: await subscribeTo(tickers),
        isChange: ({ market }, previous) => market !== previous?.market,
        toUpdate: ({ market }) => selectPairs(market.rows, toFilter(filter)),
      });
    },

    async orderBook(tickerId, depth) {
      const entries = readDepth(depth);
      const first = await valueOrError(sources.orderBooks.read(tickerId, requester));
      if (first === undefined) throw noTicker(tickerId);
      const subscribe = sources.orderBooks.subscribe(tickerId);
      return createSourceStream<OrderBookSnapshot, CutOrderBook>({
        subscribe: first instanceof UpstreamError ? startWithError(first, subscribe) : subscribe,
        toUpdate: (snapshot) => cutBook(snapshot, tickerId, entries),
      });
    },
  };
}

/** Selects pools of a state; only those that changed, if an earlier state is passed. */
type SelectPools = (state: ExchangeState, before: ExchangeState | undefined) => PoolPair[];

/** Creates the selector of one subscription. It looks for the pools again only when the state has another directory. */
function createPoolSelector(pools: PoolCache, selection: PriceSelection): SelectPools {
  let found: { readonly directory: PoolDirectory; readonly places: readonly number[] } | undefined;

  return (state, before) => {
    const { directory } = state;
    if (found?.directory !== directory) found = { directory, places: selectPlaces(state, selection) };
    const places = before === undefined ? found.places : changedPlaces(state, found.places, before);
    const { at } = pools.of(state);
    return places.map((place) => at(place));
  };
}

/** The values of a followed source, with an error first if it has no current value. */
async function subscribeTo<T>(
  source: Follower<T>,
  subscribe: Subscribe<T> = source.subscribe,
): Promise<Subscribe<T | UpstreamError>> {
  const value = await valueOrError(source.get());
  return value instanceof UpstreamError ? startWithError(value, subscribe, source.newest()) : subscribe;
}

/** Waits for a value. @returns the error of an upstream that cannot be read now @throws for one that is not configured */
async function valueOrError<T>(value: Promise<T>): Promise<T | UpstreamError> {
  try {
    return await value;
  } catch (error) {
    if (error instanceof UpstreamError && !(error instanceof UpstreamNotConfiguredError)) return error;
    throw error;
  }
}

/** What differs between source streams. By default, each value is a change, and all subscribers share its update. */
type SourceStreamOptions<V, U> = Pick<SourceStream<V, U>, 'subscribe'> & {
  toUpdate(value: V, previous: V | undefined): U;
  isChange?(value: V, previous: V | undefined): boolean;
  headOf?(value: V): Head;
  heightOf?(value: V): BeaconHeight;
  readonly dependsOnPrevious?: boolean;
  readonly resumesAfter?: BeaconHeight | undefined;
};

function createSourceStream<V, U>(options: SourceStreamOptions<V, U>): SourceStream<V, U> {
  const { subscribe, toUpdate, isChange, headOf, heightOf, dependsOnPrevious = false, resumesAfter } = options;
  return {
    subscribe,
    isChange: (value, previous) => value instanceof GatewayError || (isChange?.(value, previous) ?? true),
    // An error in place of a value is reported by the executor.
    toUpdate: (value, previous) => (value instanceof GatewayError ? (value as U) : toUpdate(value, previous)),
    dependsOnPrevious,
    headOf: (value) => (value instanceof GatewayError ? undefined : headOf?.(value)),
    heightOf: (value) => (value instanceof GatewayError ? undefined : heightOf?.(value)),
    resumesAfter,
    // The type that GraphQL requires of a source stream. The gateway subscribes, so that slow subscribers skip values.
    [Symbol.asyncIterator]() {
      throw new Error('A source stream cannot be iterated.');
    },
  };
}

/**
 * The values of a source that cannot be read when a client subscribes: first the error, once, then each good value.
 *
 * @param expired the last good value, which is too old to be sent
 */
function startWithError<V>(error: UpstreamError, subscribe: Subscribe<V>, expired?: V): Subscribe<V | UpstreamError> {
  return (subscriber) => {
    let isReported = false;
    // At once, because an order book is only read while it has subscribers.
    const values = subscribe({
      onNext: (value) => (value === expired ? values.request() : subscriber.onNext(value)),
      onError: (reason) => subscriber.onError(reason),
    });
    return {
      request() {
        if (isReported) return values.request();
        isReported = true;
        subscriber.onNext(error);
      },
      cancel: () => values.cancel(),
    };
  };
}
