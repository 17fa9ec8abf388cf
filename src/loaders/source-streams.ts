import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ExchangeState, PoolDirectory } from '../domain/exchange.ts';
import { selectPairs, type Ticker } from '../domain/market.ts';
import type { PoolPair } from '../domain/pool-pair.ts';
import { changedPlaces, type PriceSelection, selectPlaces } from '../domain/price-selection.ts';
import { BadUserInputError, HeightNotAvailableError, UpstreamError, UpstreamNotConfiguredError } from '../errors.ts';
import type { Follower } from '../live/broadcast/follower.ts';
import type { Subscribe } from '../live/broadcast/subscriber.ts';
import type { Head } from '../live/chain/head.ts';
import { isFarAhead } from '../live/chain/recent-heads.ts';
import type { MarketReading } from '../live/market/lists.ts';
import { noTicker, type OrderBookReading } from '../live/market/order-books.ts';
import type { Requester } from '../upstream/fair-queue.ts';
import { type PairFilterInput, toFilter } from './market.ts';
import { type CutOrderBook, cutBook, type Depth, readDepth } from './order-book.ts';
import type { PoolCache } from './pool-cache.ts';
import { afterOutage, createSourceStream, type SourceStream } from './source-stream.ts';
import type { Sources } from './sources.ts';

/** The prices at one height, as one subscriber gets them. */
export type PriceUpdate = {
  readonly head: Head;
  /**
   * The height of the update before this one on the same subscription, or the one that it goes on after; `undefined` for
   * the first of one that does not.
   */
  readonly previousHeight: BeaconHeight | undefined;
  readonly poolPairs: readonly PoolPair[];
};

/** What a client may say of the prices it wants. */
export type PricesArguments = {
  readonly poolPairs?: PriceSelection['poolPairs'] | null;
  readonly tokenIds?: PriceSelection['tokenIds'] | null;
  readonly onlyChanged?: boolean | null | undefined;
  /** The height of the last update that the client got before it lost its connection. */
  readonly afterHeight?: BeaconHeight | null | undefined;
};

/**
 * What subscriptions stream: what is true now, then what becomes true. Where its upstream cannot be read, a subscription
 * begins with the error of that, and stays open.
 *
 * @throws UpstreamNotConfiguredError where there is no such upstream
 */
export type SourceStreams = {
  head(): Promise<SourceStream<Head, Head>>;
  /** @throws BadUserInputError for an empty list, HeightNotAvailableError to go on after a height far in the future */
  prices(args: PricesArguments): Promise<SourceStream<Head, PriceUpdate>>;
  tickers(filter: PairFilterInput | null | undefined): Promise<SourceStream<MarketReading<Ticker>, readonly Ticker[]>>;
  /** @throws BadUserInputError for a negative depth or a ticker that does not exist */
  orderBook(tickerId: string, depth: Depth): Promise<SourceStream<OrderBookReading, CutOrderBook>>;
};

/** What the updates of one operation are made of. */
export type SourceStreamsOptions = {
  readonly sources: Sources;
  readonly requester: Requester;
  /**
   * The height of the last event that a reader of a stream got. Prices go on after it rather than after the height in their
   * arguments, which such a reader repeats from its beginning each time that it comes back.
   */
  readonly afterEvent?: BeaconHeight | undefined;
};

/** Makes the updates of one operation. */
export function createSourceStreams({ sources, requester, afterEvent }: SourceStreamsOptions): SourceStreams {
  return {
    async head() {
      const subscribe = await whenAsked(sources.head, sources.head.subscribe);
      return createSourceStream<Head, Head>({ subscribe, toUpdate: (head) => head, headOf: (head) => head });
    },

    async prices({ poolPairs, tokenIds, onlyChanged, afterHeight }) {
      if (poolPairs?.length === 0)
        throw new BadUserInputError('poolPairs is empty. List at least one pool, or omit the argument.');
      if (tokenIds?.length === 0)
        throw new BadUserInputError('tokenIds is empty. List at least one token, or omit the argument.');

      const after = afterEvent ?? afterHeight ?? undefined;
      const subscribe = after === undefined ? sources.head.subscribe : sources.head.subscribeAfter(after);
      const listenNow = await whenAsked(sources.head, subscribe);
      const newest = sources.head.current();
      // A browser repeats the id of its last event for ever: it begins with the newest prices instead.
      if (afterEvent === undefined && after !== undefined && newest && isFarAhead(after, newest))
        throw new HeightNotAvailableError(after, newest.beaconHeight);
      const selection = { poolPairs: poolPairs ?? undefined, tokenIds: tokenIds ?? undefined };
      const select = createPoolSelector(sources.pools, selection);
      return createSourceStream<Head, PriceUpdate>({
        subscribe: listenNow,
        toUpdate: (head, previous) => ({
          head,
          previousHeight: previous?.beaconHeight ?? (after && isFarAhead(after, head) ? undefined : after),
          // The first is whole also where it goes on: what the client has of that height may be of a replaced block.
          poolPairs: select(head.exchange, onlyChanged ? previous?.exchange : undefined),
        }),
        dependsOnPrevious: true,
        headOf: (head) => head,
        heightOf: ({ beaconHeight }) => beaconHeight,
        after,
      });
    },

    async tickers(filter) {
      const { tickers } = sources.market;
      return createSourceStream<MarketReading<Ticker>, readonly Ticker[]>({
        subscribe: await whenAsked(tickers, tickers.subscribe),
        isChange: ({ market }, previous) => market !== previous?.market,
        toUpdate: ({ market }) => selectPairs(market.rows, toFilter(filter)),
      });
    },

    async orderBook(tickerId, depth) {
      const entries = readDepth(depth);
      const now = await valueOrOutage(sources.orderBooks.read(tickerId, requester));
      if (now === undefined) throw noTicker(tickerId);
      const subscribe = sources.orderBooks.subscribe(tickerId);
      return createSourceStream<OrderBookReading, CutOrderBook>({
        subscribe: now instanceof UpstreamError ? afterOutage(now, subscribe) : subscribe,
        toUpdate: (reading) => cutBook(reading, tickerId, entries),
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

/** The values of a source that is followed; where there is none yet, the error of that comes first. */
async function whenAsked<T>(source: Follower<T>, subscribe: Subscribe<T>): Promise<Subscribe<T | UpstreamError>> {
  const value = await valueOrOutage(source.get());
  return value instanceof UpstreamError ? afterOutage(value, subscribe, source.newest()) : subscribe;
}

/** Waits for a value. @returns why there is none for now @throws where there will never be one */
async function valueOrOutage<T>(value: Promise<T>): Promise<T | UpstreamError> {
  try {
    return await value;
  } catch (error) {
    if (error instanceof UpstreamError && !(error instanceof UpstreamNotConfiguredError)) return error;
    throw error;
  }
}
