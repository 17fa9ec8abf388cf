import type { BeaconHeight } from '../domain/beacon-height.ts';
import { selectPairs, type Ticker } from '../domain/market.ts';
import type { PoolPair } from '../domain/pool-pair.ts';
import { createPriceSelection, type PriceSelection } from '../domain/price-selection.ts';
import { BadUserInputError, HeightNotAvailableError } from '../errors.ts';
import type { Head } from '../live/head.ts';
import type { MarketReading } from '../live/market.ts';
import type { OrderBookReading } from '../live/order-books.ts';
import type { Asker } from '../upstream/fair-queue.ts';
import { createFeed, type Feed } from './feed.ts';
import { type PairFilterInput, toFilter } from './market.ts';
import { cutBook, requireDepth } from './order-book.ts';
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
  readonly onlyChanged: boolean;
  /** The height of the last update that the client got before it lost its connection. */
  readonly afterHeight?: BeaconHeight | null | undefined;
};

/**
 * What subscriptions stream: what is true now, then what becomes true. Each fails at once where its upstream was never
 * read; after that it goes on whatever happens there.
 */
export type Updates = {
  head(): Promise<Feed<Head, Head>>;
  /** @throws BadUserInputError for an empty list, HeightNotAvailableError to go on after a height far in the future */
  prices(args: PricesArguments): Promise<Feed<Head, PriceUpdate>>;
  tickers(filter: PairFilterInput | null | undefined): Promise<Feed<MarketReading<Ticker>, readonly Ticker[]>>;
  /** @throws BadUserInputError for a negative depth or a ticker that does not exist */
  orderBook(tickerId: string, depth: number): Promise<Feed<OrderBookReading, OrderBookReading>>;
};

/** What the updates of one operation are made of. */
export type UpdatesOptions = {
  readonly sources: Sources;
  readonly asker: Asker;
  /**
   * The height of the last event that a reader of a stream got. Prices go on after it rather than after the height in their
   * arguments, which such a reader repeats from its beginning each time that it comes back.
   */
  readonly afterEvent?: BeaconHeight | undefined;
};

/** A client can be ahead of this gateway where it comes from another, but not by so many heights. */
const MAX_HEIGHTS_AHEAD = 100;

/** Makes the updates of one operation. */
export function createUpdates({ sources, asker, afterEvent }: UpdatesOptions): Updates {
  /** The height that prices go on after, or `undefined` where they begin with what is true now. */
  async function heightToResume(afterHeight: BeaconHeight | undefined): Promise<BeaconHeight | undefined> {
    const { beaconHeight } = await sources.head.get();
    const isFarAhead = (height: BeaconHeight) => height > beaconHeight + MAX_HEIGHTS_AHEAD;
    // Of another chain than this: refused, a browser would come back with it for ever.
    if (afterEvent !== undefined) return isFarAhead(afterEvent) ? undefined : afterEvent;
    if (afterHeight === undefined || !isFarAhead(afterHeight)) return afterHeight;
    throw new HeightNotAvailableError(afterHeight, beaconHeight);
  }

  return {
    async head() {
      await sources.head.get();
      return createFeed({ listen: sources.head.listen, toUpdate: (head) => head, headOf: (head) => head });
    },

    async prices({ poolPairs, tokenIds, onlyChanged, afterHeight }) {
      if (poolPairs?.length === 0)
        throw new BadUserInputError('poolPairs is empty: name pools, or leave it out for all.');
      if (tokenIds?.length === 0)
        throw new BadUserInputError('tokenIds is empty: name tokens, or leave it out for all.');

      const after = await heightToResume(afterHeight ?? undefined);
      const select = createPriceSelection({ poolPairs: poolPairs ?? undefined, tokenIds: tokenIds ?? undefined });
      return createFeed<Head, PriceUpdate>({
        listen: after === undefined ? sources.head.listen : sources.head.listenAfter(after),
        toUpdate: (head, previous) => ({
          head,
          previousHeight: previous?.beaconHeight ?? after,
          // The first is whole also where it goes on: what the client has of that height may be of a replaced block.
          poolPairs: select(head.exchange, onlyChanged ? previous?.exchange : undefined),
        }),
        tellsOfPrevious: true,
        headOf: (head) => head,
        heightOf: ({ beaconHeight }) => beaconHeight,
        after,
      });
    },

    async tickers(filter) {
      await sources.market.tickers.get();
      return createFeed({
        listen: sources.market.tickers.listen,
        isNews: ({ market }, previous) => market !== previous?.market,
        toUpdate: ({ market }) => selectPairs(market.rows, toFilter(filter)),
      });
    },

    async orderBook(tickerId, depth) {
      requireDepth(depth);
      const now = await sources.orderBooks.read(tickerId, asker);
      if (now === undefined) throw new BadUserInputError(`There is no ticker ${JSON.stringify(tickerId)}.`);
      return createFeed({
        listen: sources.orderBooks.listen(tickerId),
        toUpdate: (reading) => cutBook(reading, depth),
      });
    },
  };
}
