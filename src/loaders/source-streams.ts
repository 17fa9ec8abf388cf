import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { CandleInterval } from '../domain/candle-interval.ts';
import { type Pair, selectPairs, type Ticker } from '../domain/market.ts';
import { UpstreamError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import type { MarketSnapshot } from '../live/market/lists.ts';
import { noTicker, type OrderBookSnapshot } from '../live/market/order-books.ts';
import type { Requester } from '../upstream/fair-queue.ts';
import type { CandleMoment } from './closed-intervals.ts';
import { createDivergenceSelector, type DivergenceArguments } from './divergence.ts';
import type { DivergenceRanking } from './divergence-ranking.ts';
import type { HeadStep } from './head-steps.ts';
import { type PairFilterInput, toFilter } from './market.ts';
import { type CutOrderBook, cutBook, type OrderBookArguments, readOrderBookArguments } from './order-book.ts';
import {
  type BoundsArguments,
  createCandleStream,
  createPriceCrossingStream,
  type PoolTokens,
  type PriceCrossing,
} from './pool-streams.ts';
import { createPriceStream, type PricesArguments, type PriceUpdate } from './price-streams.ts';
import { createSourceStream, type SourceStream } from './source-stream.ts';
import type { Sources } from './sources.ts';
import { startAtHead, startWithError, subscribeTo, valueOrError } from './stream-starts.ts';

/**
 * The source streams of subscriptions: the current value, then each change. If its upstream cannot be read, a stream starts
 * with the error and stays open. All throw UpstreamNotConfiguredError.
 */
export type SourceStreams = {
  head(): Promise<SourceStream<Head, Head>>;
  /** @throws BadUserInputError for an empty list, HeightNotAvailableError for an `afterHeight` far in the future */
  prices(args: PricesArguments): Promise<SourceStream<Head, PriceUpdate>>;
  tickers(filter: PairFilterInput | null | undefined): Promise<SourceStream<MarketSnapshot<Ticker>, readonly Ticker[]>>;
  /** Its updates are sent if they differ. @throws BadUserInputError for arguments that are not valid */
  divergentPairs(args: DivergenceArguments): Promise<SourceStream<DivergenceRanking, readonly Pair[]>>;
  /** @throws BadUserInputError for arguments that are not valid or a ticker that does not exist */
  orderBook(tickerId: string, args: OrderBookArguments): Promise<SourceStream<OrderBookSnapshot, CutOrderBook>>;
  /** Which candle is sent next. @throws BadUserInputError for a pool that does not exist */
  candles(pool: PoolTokens, interval: CandleInterval): Promise<SourceStream<CandleMoment, CandleMoment>>;
  /** @throws BadUserInputError without a bound, and for a pool that does not exist or has tokens with unknown decimals */
  priceCrossed(pool: PoolTokens, bounds: BoundsArguments): Promise<SourceStream<HeadStep, PriceCrossing>>;
};

/** What source streams read from, and for whom. */
export type SourceStreamsOptions = {
  readonly sources: Sources;
  readonly requester: Requester;
  readonly maxPageSize: number;
  /**
   * The height in the header `Last-Event-ID`. It takes precedence over `afterHeight`, which an event source repeats each time
   * that it reconnects.
   */
  readonly afterEvent?: BeaconHeight | undefined;
};

/** Creates the source streams of one operation. */
export function createSourceStreams({
  sources,
  requester,
  maxPageSize,
  afterEvent,
}: SourceStreamsOptions): SourceStreams {
  const options = { sources, afterEvent };

  return {
    async head() {
      const subscribe = await subscribeTo(sources.head);
      return createSourceStream<Head, Head>({ subscribe, toUpdate: (head) => head, headOf: (head) => head });
    },

    prices: (args) => createPriceStream(args, options),

    async tickers(filter) {
      const { tickers } = sources.market;
      return createSourceStream<MarketSnapshot<Ticker>, readonly Ticker[]>({
        subscribe: await subscribeTo(tickers),
        isChange: ({ market }, previous) => market !== previous?.market,
        toUpdate: ({ market }) => selectPairs(market.rows, toFilter(filter)),
      });
    },

    async divergentPairs(args) {
      const toUpdate = createDivergenceSelector(args, maxPageSize);
      const { head, market, divergences } = sources;
      const first = await valueOrError(Promise.all([head.get(), market.pairs.get(), market.tickers.get()]));
      // The newest ranking can be of the previous head, while that of the current one is computed.
      const subscribe = startAtHead(divergences.subscribe, head.current());
      return createSourceStream<DivergenceRanking, readonly Pair[]>({
        subscribe: first instanceof UpstreamError ? startWithError(first, subscribe) : subscribe,
        toUpdate,
        skipsEqualUpdates: true,
        headOf: (ranking) => ranking.head,
      });
    },

    async orderBook(tickerId, args) {
      const cut = readOrderBookArguments(args);
      const first = await valueOrError(sources.orderBooks.read(tickerId, requester));
      if (first === undefined) throw noTicker(tickerId);
      const subscribe = sources.orderBooks.subscribe(tickerId);
      return createSourceStream<OrderBookSnapshot, CutOrderBook>({
        subscribe: first instanceof UpstreamError ? startWithError(first, subscribe) : subscribe,
        toUpdate: (snapshot) => cutBook(snapshot, tickerId, cut),
      });
    },

    candles: (pool, interval) => createCandleStream(pool, interval, options),
    priceCrossed: (pool, bounds) => createPriceCrossingStream(pool, bounds, options),
  };
}
