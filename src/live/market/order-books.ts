import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import type { Instant } from '../../domain/instant.ts';
import { type OrderBook, toOrderBook } from '../../domain/order-book.ts';
import { BadUserInputError, UpstreamBadShapeError, UpstreamBusyError, UpstreamTimeoutError } from '../../errors.ts';
import type { Tracing } from '../../tracing.ts';
import type { Bulkhead, QueuedCall } from '../../upstream/bulkhead.ts';
import type { Requester } from '../../upstream/fair-queue.ts';
import type { MarketDataClient } from '../../upstream/market-data/client.ts';
import type { Subscribe } from '../broadcast/broadcast.ts';
import { createFollower, type Follower, type Watcher } from '../broadcast/follower.ts';

/** An order book as it was last read. */
export type OrderBookSnapshot = {
  readonly book: OrderBook;
  readonly observedAt: Instant;
  /** Until when it is returned to all clients. */
  readonly freshUntil: Instant;
};

/** The order books of the market-data host. One snapshot of a book is returned to all clients for a while. */
export type OrderBooks = {
  /**
   * `undefined` for a ticker that does not exist.
   *
   * @param requester the client and operation that wait for it in the queue
   * @throws UpstreamError
   */
  read(tickerId: string, requester: Requester): Promise<OrderBookSnapshot | undefined>;
  /**
   * Follows a book while it has subscribers: sends the current snapshot, then each one that differs. If the first read shows
   * that the ticker does not exist, an error is sent in its place.
   */
  subscribe(tickerId: string): Subscribe<OrderBookSnapshot | BadUserInputError>;
  /** How many books are followed. */
  followed(): number;
  /** How many subscribers they have. */
  subscribers(): number;
  /** How many updates were skipped by slow subscribers. */
  skippedValues(): number;
};

type OrderBooksOptions = {
  readonly host: MarketDataClient;
  readonly bulkhead: Bulkhead;
  /** Whether the host lists a pair or ticker of that id. Only then an empty book means that the ticker exists. */
  readonly isListed: (tickerId: string) => boolean;
  /** How long one snapshot is returned to all clients. */
  readonly ttlMs: number;
  readonly timeoutMs: number;
  readonly now: () => Instant;
  /** Creates the watcher of a book that is followed. */
  readonly watch: () => Watcher;
  readonly tracing?: Tracing | undefined;
};

type FollowedBook = Follower<OrderBookSnapshot | BadUserInputError> & { readonly watcher: Watcher };

type SharedRead = { readonly call: QueuedCall<OrderBookSnapshot | undefined>; endedAt: Instant | undefined };

const MAX_BOOKS_KEPT = 1_000;

/** Longer ticker ids do not exist. The host, or a proxy in front of it, may reject such a long address. */
const MAX_TICKER_ID_LENGTH = 200;

/** The error of a ticker id that the host does not know. */
export function noTicker(tickerId: string): BadUserInputError {
  return new BadUserInputError(`Ticker ${JSON.stringify(tickerId)} does not exist.`);
}

/** Creates the order books of a host. */
export function createOrderBooks(options: OrderBooksOptions): OrderBooks {
  const { host, bulkhead, isListed, ttlMs, timeoutMs, now, watch, tracing } = options;
  const shared = new LRUCache<string, SharedRead>({ max: MAX_BOOKS_KEPT });
  const followed = new Map<string, FollowedBook>();
  let skippedBefore = 0;

  async function read(tickerId: string, requester: Requester): Promise<OrderBookSnapshot | undefined> {
    if (tickerId.length > MAX_TICKER_ID_LENGTH && !isListed(tickerId)) return undefined;
    const known = shared.get(tickerId);
    const isFresh = known?.endedAt !== undefined && now() - known.endedAt < ttlMs;
    return isFresh ? known.call.answer : readAgain(tickerId, requester);
  }

  function readAgain(tickerId: string, requester: Requester): Promise<OrderBookSnapshot | undefined> {
    const known = shared.get(tickerId);
    const isUnderWay = known !== undefined && known.endedAt === undefined;
    return (isUnderWay ? known : share(tickerId)).call.wait(requester);
  }

  function share(tickerId: string): SharedRead {
    const fresh: SharedRead = { call: bulkhead.queue(() => fetchBook(tickerId)), endedAt: undefined };
    shared.set(tickerId, fresh);
    const end = () => {
      fresh.endedAt = now();
    };
    fresh.call.answer.then(end, (error) => {
      end();
      // The host was not called because these clients have too many queued requests: other clients do not get this error.
      if (error instanceof UpstreamBusyError && shared.peek(tickerId) === fresh) shared.delete(tickerId);
    });
    return fresh;
  }

  async function fetchBook(tickerId: string): Promise<OrderBookSnapshot | undefined> {
    const raw = await host.orderBook(tickerId);
    const isEmpty = raw === undefined || raw.bids.length + raw.asks.length === 0;
    if (isEmpty && !isListed(tickerId)) return undefined;
    if (raw === undefined) throw new UpstreamBadShapeError('MARKET_DATA', 'no order book for a listed ticker');

    const observedAt = now();
    return { book: toOrderBook(raw), observedAt, freshUntil: observedAt + ttlMs };
  }

  function follow(tickerId: string): FollowedBook {
    const watcher = watch();
    // A client of its own in the queue, however many subscribe: it does not wait behind other requests of any client.
    const requester: Requester = { client: Symbol(tickerId) };
    let isFirst = true;
    const follower = createFollower<OrderBookSnapshot | BadUserInputError>({
      async read(previous) {
        // The first read may return a snapshot that was read for other clients a moment ago.
        const readNow = isFirst ? read : readAgain;
        isFirst = false;
        const snapshot = await readNow(tickerId, requester);
        const known = previous instanceof BadUserInputError ? undefined : previous;
        if (snapshot !== undefined) return known && isDeepStrictEqual(known.book, snapshot.book) ? known : snapshot;
        if (known !== undefined) throw new UpstreamBadShapeError('MARKET_DATA', 'the order book no longer exists');
        return previous ?? noTicker(tickerId);
      },
      intervalMs: ttlMs,
      maxWaitMs: timeoutMs,
      timeoutError: () => new UpstreamTimeoutError('MARKET_DATA', timeoutMs, {}),
      watcher,
      trace: tracing && { start: () => tracing.startPoll('order book') },
    });
    return { ...follower, watcher };
  }

  function subscribe(tickerId: string): Subscribe<OrderBookSnapshot | BadUserInputError> {
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
    // A book that is not followed any more cannot recover later, so its watcher is notified now.
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
