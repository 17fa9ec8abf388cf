import { selectPairs, type Ticker } from '../domain/market.ts';
import type { PoolPair } from '../domain/pool-pair.ts';
import { type PriceSelection, selectPrices } from '../domain/price-selection.ts';
import { BadUserInputError } from '../errors.ts';
import type { Head } from '../live/head.ts';
import { mapValues, type Values } from '../live/iterate.ts';
import type { OrderBookReading } from '../live/order-books.ts';
import { type PairFilterInput, toFilter } from './market.ts';
import { cutBook, requireDepth } from './order-book.ts';
import type { Sources } from './sources.ts';

/** The prices at one height, as one subscriber gets them. */
export type PriceUpdate = {
  readonly head: Head;
  /** The height of the update before this one on the same subscription; `undefined` for the first. */
  readonly previousHeight: number | undefined;
  readonly poolPairs: readonly PoolPair[];
};

/** What a client may say of the prices it wants. */
export type PricesArguments = {
  readonly poolPairs?: PriceSelection['poolPairs'] | null;
  readonly tokenIds?: PriceSelection['tokenIds'] | null;
  readonly onlyChanged: boolean;
};

/**
 * What subscriptions stream: what is true now, then what becomes true. Each fails at once where its upstream was never
 * read; after that it goes on whatever happens there.
 */
export type Updates = {
  head(): Promise<Values<Head>>;
  /** @throws BadUserInputError for an empty list */
  prices(args: PricesArguments): Promise<Values<PriceUpdate>>;
  tickers(filter: PairFilterInput | null | undefined): Promise<Values<readonly Ticker[]>>;
  /** @throws BadUserInputError for a negative depth or a ticker that does not exist */
  orderBook(tickerId: string, depth: number): Promise<Values<OrderBookReading>>;
};

/**
 * Makes the updates of one operation.
 *
 * @param startAnswer called before each update is handed over: it is an answer of its own, at the head given or, for
 *   market data, at the current one
 */
export function createUpdates(sources: Sources, startAnswer: (head?: Head) => void): Updates {
  return {
    async head() {
      await sources.head.get();
      return mapValues(sources.head.listen(), (head) => {
        startAnswer(head);
        return head;
      });
    },

    async prices({ poolPairs, tokenIds, onlyChanged }) {
      if (poolPairs?.length === 0)
        throw new BadUserInputError('poolPairs is empty: name pools, or leave it out for all.');
      if (tokenIds?.length === 0)
        throw new BadUserInputError('tokenIds is empty: name tokens, or leave it out for all.');
      await sources.head.get();

      const selection = { poolPairs: poolPairs ?? undefined, tokenIds: tokenIds ?? undefined };
      let previous: Head | undefined;
      return mapValues(sources.head.listen(), (head) => {
        startAnswer(head);
        const update = {
          head,
          previousHeight: previous?.beaconHeight,
          poolPairs: selectPrices(head.exchange, selection, onlyChanged ? previous?.exchange : undefined),
        };
        previous = head;
        return update;
      });
    },

    async tickers(filter) {
      await sources.market.tickers.get();
      let previous: unknown;
      return mapValues(sources.market.tickers.listen(), ({ market }) => {
        if (market === previous) return undefined;
        previous = market;
        startAnswer();
        return selectPairs(market.rows, toFilter(filter));
      });
    },

    async orderBook(tickerId, depth) {
      requireDepth(depth);
      const now = await sources.orderBooks.read(tickerId);
      if (now === undefined) throw new BadUserInputError(`There is no ticker ${JSON.stringify(tickerId)}.`);
      return mapValues(sources.orderBooks.listen(tickerId), (reading) => {
        startAnswer();
        return cutBook(reading, depth);
      });
    },
  };
}
