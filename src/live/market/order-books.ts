import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import type { Instant } from '../../domain/instant.ts';
import { type OrderBook, toOrderBook } from '../../domain/order-book.ts';
import { BadUserInputError, UpstreamBadShapeError, UpstreamBusyError, UpstreamTimeoutError } from '../../errors.ts';
import type { Bulkhead, QueuedCall } from '../../upstream/bulkhead.ts';
import type { Requester } from '../../upstream/fair-queue.ts';
import type { MarketDataClient } from '../../upstream/market-data/client.ts';
import { createFollower, type Follower, type Watcher } from '../broadcast/follower.ts';
import type { Subscribe } from '../broadcast/subscriber.ts';

/** An order book as it was when it was last read. */
export type OrderBookReading = {
  readonly book: OrderBook;
  readonly observedAt: Instant;
  /** Until when it serves everyone who asks. */
  readonly freshUntil: Instant;
};

/** The order books of the market-data host. One reading of a book serves everyone who asks for it for a while. */
export type OrderBooks = {
  /**
   * `undefined` for a ticker that does not exist.
   *
   * @param requester whose turn it waits for where too much is asked for at once
   * @throws UpstreamError
   */
  read(tickerId: string, requester: Requester): Promise<OrderBookReading | undefined>;
  /**
   * Follows a book for as long as someone listens: the book now, and then each one that differs from the one before. Where
   * its first reading shows that there is no such ticker, an error stands for the book.
   */
  subscribe(tickerId: string): Subscribe<OrderBookReading | BadUserInputError>;
  /** How many books are followed. */
  followed(): number;
  /** How many subscribe to them. */
  subscribers(): number;
  /** How often a subscriber passed an update over. */
  skippedValues(): number;
};

/** How order books are read. */
export type OrderBooksOptions = {
  readonly host: MarketDataClient;
  readonly bulkhead: Bulkhead;
  /** Whether the host lists pairs or tickers of that name: what makes an empty book one of a ticker that exists. */
  readonly isListed: (tickerId: string) => boolean;
  /** How long one reading serves everyone. */
  readonly ttlMs: number;
  readonly timeoutMs: number;
  readonly now: () => Instant;
  /** Makes a watcher for each book that is followed. */
  readonly watch: () => Watcher;
};

type FollowedBook = Follower<OrderBookReading | BadUserInputError> & { readonly watcher: Watcher };

type Shared = { readonly reading: QueuedCall<OrderBookReading | undefined>; endedAt: Instant | undefined };

const MAX_BOOKS_KEPT = 1_000;

/** Nobody's ticker is longer; the host, or what stands before it, may refuse an address that is. */
const MAX_TICKER_ID_LENGTH = 200;

/** The error of a ticker id that the host does not know. */
export function noTicker(tickerId: string): BadUserInputError {
  return new BadUserInputError(`Ticker ${JSON.stringify(tickerId)} does not exist.`);
}

/** Makes the order books of a host. */
export function createOrderBooks(options: OrderBooksOptions): OrderBooks {
  const { host, bulkhead, isListed, ttlMs, timeoutMs, now, watch } = options;
  const shared = new LRUCache<string, Shared>({ max: MAX_BOOKS_KEPT });
  const followed = new Map<string, FollowedBook>();
  let skippedBefore = 0;

  async function read(tickerId: string, requester: Requester): Promise<OrderBookReading | undefined> {
    if (tickerId.length > MAX_TICKER_ID_LENGTH && !isListed(tickerId)) return undefined;
    const known = shared.get(tickerId);
    const isFresh = known?.endedAt !== undefined && now() - known.endedAt < ttlMs;
    return isFresh ? known.reading.answer : readAgain(tickerId, requester);
  }

  function readAgain(tickerId: string, requester: Requester): Promise<OrderBookReading | undefined> {
    const known = shared.get(tickerId);
    const isUnderWay = known !== undefined && known.endedAt === undefined;
    return (isUnderWay ? known : share(tickerId)).reading.wait(requester);
  }

  function share(tickerId: string): Shared {
    const fresh: Shared = { reading: bulkhead.queue(() => ask(tickerId)), endedAt: undefined };
    shared.set(tickerId, fresh);
    const end = () => {
      fresh.endedAt = now();
    };
    fresh.reading.answer.then(end, (error) => {
      end();
      // The host was not asked, because of what these requesters asked for beside: that is not everyone's failure.
      if (error instanceof UpstreamBusyError && shared.peek(tickerId) === fresh) shared.delete(tickerId);
    });
    return fresh;
  }

  async function ask(tickerId: string): Promise<OrderBookReading | undefined> {
    const raw = await host.orderBook(tickerId);
    const isEmpty = raw === undefined || raw.bids.length + raw.asks.length === 0;
    if (isEmpty && !isListed(tickerId)) return undefined;
    if (raw === undefined) throw new UpstreamBadShapeError('MARKET_DATA', 'no order book for a listed ticker');

    const observedAt = now();
    return { book: toOrderBook(raw), observedAt, freshUntil: observedAt + ttlMs };
  }

  function follow(tickerId: string): FollowedBook {
    const watcher = watch();
    // One of its own, however many subscribe: it waits behind nobody's other questions.
    const requester: Requester = { client: Symbol(tickerId) };
    let isFirst = true;
    const follower = createFollower<OrderBookReading | BadUserInputError>({
      async read(previous) {
        // The first may serve from what was read for others a moment ago.
        const readNow = isFirst ? read : readAgain;
        isFirst = false;
        const reading = await readNow(tickerId, requester);
        const known = previous instanceof BadUserInputError ? undefined : previous;
        if (reading !== undefined) return known && isDeepStrictEqual(known.book, reading.book) ? known : reading;
        if (known !== undefined) throw new UpstreamBadShapeError('MARKET_DATA', 'the order book no longer exists');
        return previous ?? noTicker(tickerId);
      },
      intervalMs: ttlMs,
      maxWaitMs: timeoutMs,
      timeoutError: () => new UpstreamTimeoutError('MARKET_DATA', timeoutMs, {}),
      watcher,
    });
    return { ...follower, watcher };
  }

  function subscribe(tickerId: string): Subscribe<OrderBookReading | BadUserInputError> {
    return (subscriber) => {
      const follower = followed.get(tickerId) ?? follow(tickerId);
      followed.set(tickerId, follower);
      const subscription = follower.subscribe(subscriber);

      return {
        request: () => subscription.request(),
        cancel() {
          subscription.cancel();
          if (follower.subscribers() === 0 && followed.get(tickerId) === follower) unfollow(tickerId, follower);
        },
      };
    };
  }

  function unfollow(tickerId: string, follower: FollowedBook): void {
    skippedBefore += follower.skippedValues();
    follower.stop();
    followed.delete(tickerId);
    // What nobody follows any more cannot heal: of what is followed, it is the last that is heard.
    if (follower.isFailing()) follower.watcher.recovered();
  }

  return {
    read,
    subscribe,
    followed: () => followed.size,
    subscribers: () => [...followed.values()].reduce((sum, { subscribers }) => sum + subscribers(), 0),
    skippedValues: () =>
      [...followed.values()].reduce((sum, { skippedValues: skipped }) => sum + skipped(), skippedBefore),
  };
}
