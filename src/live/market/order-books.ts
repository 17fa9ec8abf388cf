import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import type { Instant } from '../../domain/instant.ts';
import { type OrderBook, type RawOrderBook, toOrderBook } from '../../domain/order-book.ts';
import { BadUserInputError, UpstreamBadShapeError, UpstreamBusyError } from '../../errors.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import type { Bulkhead, QueuedCall } from '../../turns/bulkhead.ts';
import type { Requester } from '../../turns/fair-queue.ts';
import type { MarketDataClient } from '../../upstream/market-data/client.ts';
import type { Subscribe } from '../broadcast/broadcast.ts';
import { createFollower, type Watcher } from '../broadcast/follower.ts';
import { type Observed, type ReadOnce, readAlone } from '../fleet-port.ts';

/** An order book as it was last read. */
export type OrderBookSnapshot = {
  readonly book: OrderBook;
  readonly observedAt: Instant;
  /** Until when it is returned to all clients. */
  readonly freshUntil: Instant;
};

/** The order books of the market-data host. One snapshot of a book is returned to all clients for a while. */
export type OrderBooks = ReturnType<typeof createOrderBooks>;

type OrderBooksOptions = {
  readonly host: MarketDataClient;
  readonly bulkhead: Bulkhead;
  /**
   * Whether the host lists a pair or ticker of that id; `undefined` if no list has it, and one of them was not read yet. Only if it is
   * listed, an empty book means that the ticker exists. If it is not, the host is not called.
   */
  readonly isListed: (tickerId: string) => boolean | undefined;
  /** How long one snapshot is returned to all clients. */
  readonly ttlMs: number;
  readonly timeoutMs: number;
  readonly now: () => Instant;
  readonly watch: () => Watcher;
  readonly tracing?: Tracing | undefined;
  /** Reads a response of the host; alone by default. */
  readonly readOnce?: ReadOnce<string, Observed<RawOrderBook | undefined>> | undefined;
};

type SharedRead = {
  readonly call: QueuedCall<OrderBookSnapshot | undefined>;
  endedAt: Instant | undefined;
  /** What the call returned. Until then, and if it fails, the snapshot before. */
  snapshot: OrderBookSnapshot | undefined;
  /** How many entries could not be read. Until there is a response, those of the snapshot before. */
  dropped: number;
};

const MAX_BOOKS_KEPT = 1_000;

/** For how long an unreadable entry is reported after its book was read. */
const UNREADABLE_MS = 60_000;

/** Minimum time until a book is read again whose snapshot another replica has read: it may no longer be fresh. */
const MIN_PAUSE_MS = 10;

/** The time between two reads of a book that is followed although its ticker does not exist. */
const NO_TICKER_PAUSE_MS = 60_000;

/** Longer ticker ids do not exist, unless they are listed. The host, or a proxy in front of it, may reject such a long address. */
const MAX_TICKER_ID_LENGTH = 200;

/** The error of a ticker id that the host does not know. */
export function noTicker(tickerId: string): BadUserInputError {
  return new BadUserInputError(`Ticker ${JSON.stringify(tickerId)} does not exist.`);
}

/** Creates the order books of a host. A book is read when it is requested. */
export function createOrderBooks(options: OrderBooksOptions) {
  const { host, bulkhead, isListed, ttlMs, timeoutMs, now, watch, tracing, readOnce = readAlone } = options;
  const shared = new LRUCache<string, SharedRead>({ max: MAX_BOOKS_KEPT });
  const followed = new Map<string, ReturnType<typeof follow>>();
  let skippedBefore = 0;
  let reads = 0;
  let collected: ReadonlyMap<string, OrderBook> = new Map();

  /** Whether a moment is less than `ms` ago. If the clock was set back since, the moment is ahead, and must be less than `ms` ahead. */
  const isWithin = (ms: number, moment: Instant) => Math.abs(now() - moment) < ms;

  /**
   * The book of a ticker; `undefined` for a ticker that does not exist.
   *
   * @param requester the client and operation that wait for it in the queue
   * @throws UpstreamError
   */
  async function read(tickerId: string, requester: Requester): Promise<OrderBookSnapshot | undefined> {
    const known = shared.get(tickerId);
    const isFresh = known?.endedAt !== undefined && isWithin(ttlMs, known.endedAt);
    return isFresh ? known.call.response : readAgain(tickerId, requester);
  }

  /** Whether the host is called. A call for any text of a client could end with `Retry-After`, and evict the book of a ticker. */
  function mayExist(tickerId: string): boolean {
    return isListed(tickerId) ?? tickerId.length <= MAX_TICKER_ID_LENGTH;
  }

  async function readAgain(tickerId: string, requester: Requester): Promise<OrderBookSnapshot | undefined> {
    if (!mayExist(tickerId)) return undefined;
    const known = shared.get(tickerId);
    const isInProgress = known !== undefined && known.endedAt === undefined;
    return (isInProgress ? known : share(tickerId)).call.wait(requester);
  }

  function share(tickerId: string): SharedRead {
    const before = shared.peek(tickerId);
    const fresh: SharedRead = {
      call: bulkhead.queue(() => fetchBook(tickerId, fresh)),
      endedAt: undefined,
      snapshot: before?.snapshot,
      dropped: before?.dropped ?? 0,
    };
    shared.set(tickerId, fresh);
    fresh.call.response.then(
      (snapshot) => {
        // Another replica may have read it a while ago.
        fresh.endedAt = snapshot?.observedAt ?? now();
        fresh.snapshot = snapshot;
        reads += 1;
      },
      (error) => {
        fresh.endedAt = now();
        // The host was not called because these clients have too many queued requests: other clients do not get this error.
        if (!(error instanceof UpstreamBusyError) || shared.peek(tickerId) !== fresh) return;
        if (before === undefined) shared.delete(tickerId);
        else shared.set(tickerId, before);
      },
    );
    return fresh;
  }

  async function fetchBook(tickerId: string, fresh: SharedRead): Promise<OrderBookSnapshot | undefined> {
    const { value: raw, observedAt } = await readOnce(tickerId, async () => ({
      value: await host.orderBook(tickerId),
      observedAt: now(),
    }));
    const isEmpty = raw === undefined || raw.bids.length + raw.asks.length === 0;
    const dropped = raw?.entriesDropped ?? 0;
    fresh.dropped = dropped;
    if (isEmpty && dropped > 0)
      throw new UpstreamBadShapeError('MARKET_DATA', 'no entry of the order book can be read', { dropped });
    if (isEmpty && !isListed(tickerId)) return undefined;
    if (raw === undefined) throw new UpstreamBadShapeError('MARKET_DATA', 'no order book for a listed ticker');
    // Hosts may spell the id in another way, but not as that of another ticker.
    if (raw.tickerId !== tickerId && isListed(raw.tickerId))
      throw new UpstreamBadShapeError('MARKET_DATA', 'the order book of another ticker');

    return { book: toOrderBook(raw), observedAt, freshUntil: observedAt + ttlMs };
  }

  function follow(tickerId: string, client: Requester['client']) {
    const watcher = watch();
    // Of the only client that follows it, or a client of its own, which does not wait behind other requests of any client.
    let requester: Requester = { client };
    let isFirst = true;
    let pauseMs = ttlMs;
    const follower = createFollower<OrderBookSnapshot | BadUserInputError>({
      async read(previous): Promise<OrderBookSnapshot | BadUserInputError> {
        // The first read may return a snapshot that was read for other clients a moment ago. Later ones do not rely on the clock.
        const readNow = isFirst ? read : readAgain;
        isFirst = false;
        pauseMs = ttlMs;
        const snapshot = await readNow(tickerId, requester);
        if (snapshot !== undefined) pauseMs = Math.min(ttlMs, Math.max(MIN_PAUSE_MS, snapshot.freshUntil - now()));
        const known = previous instanceof BadUserInputError ? undefined : previous;
        if (snapshot !== undefined) {
          if (known === undefined || !isDeepStrictEqual(known.book, snapshot.book)) return snapshot;
          // Subscribers that came during a failure wait for it.
          return follower.isFailing() ? { ...snapshot, book: known.book } : known;
        }
        if (known !== undefined) throw new UpstreamBadShapeError('MARKET_DATA', 'the order book no longer exists');
        pauseMs = Math.max(ttlMs, NO_TICKER_PAUSE_MS);
        return previous ?? noTicker(tickerId);
      },
      intervalMs: () => pauseMs,
      upstream: 'MARKET_DATA',
      timeoutMs,
      watcher,
      trace: tracing && { start: () => tracing.startPoll('order book') },
    });
    function addClient(other: Requester['client']): void {
      if (other !== client) requester = { client: Symbol(tickerId) };
    }
    return { ...follower, watcher, addClient };
  }

  /**
   * Follows a book while it has subscribers: sends the current snapshot, then each one that differs. After a failure, an equal book
   * is sent again. If the first read shows that the ticker does not exist, an error is sent in its place.
   *
   * @param client the client of the subscriber
   */
  function subscribe(tickerId: string, { client }: Requester): Subscribe<OrderBookSnapshot | BadUserInputError> {
    return (subscriber) => {
      const follower = followed.get(tickerId) ?? follow(tickerId, client);
      followed.set(tickerId, follower);
      follower.addClient(client);
      // A book from before a failure can be old: the next one that is read comes first.
      const old = follower.isFailing() ? follower.newest() : undefined;
      const isOld = (value: unknown) => value === old && !(value instanceof BadUserInputError);
      const subscription = follower.subscribe({
        onNext: (value) => (isOld(value) ? subscription.request() : subscriber.onNext(value)),
        onError: (error) => subscriber.onError(error),
      });

      return {
        request: () => subscription.request(),
        cancel() {
          subscription.cancel();
          if (follower.subscribers() === 0 && followed.get(tickerId) === follower) unfollow(tickerId, follower);
        },
      };
    };
  }

  function unfollow(tickerId: string, follower: ReturnType<typeof follow>): void {
    skippedBefore += follower.skippedValues();
    follower.stop();
    followed.delete(tickerId);
    // A book that is not followed any more cannot recover later, so its watcher is notified now.
    if (follower.isFailing()) follower.watcher.recovered();
  }

  function collect(): ReadonlyMap<string, OrderBook> {
    const books = new Map<string, OrderBook>();
    for (const [tickerId, follower] of followed) {
      const snapshot = follower.isFailing() ? undefined : follower.current();
      if (snapshot !== undefined && !(snapshot instanceof BadUserInputError)) books.set(tickerId, snapshot.book);
    }
    return books;
  }

  return {
    read,
    subscribe,
    /** The newest snapshot in memory, however old, of a book that is followed or was read. Nothing is read for it. */
    newest: (tickerId: string): OrderBookSnapshot | undefined => shared.peek(tickerId)?.snapshot,
    /** How many snapshots were read: while it is the same, no book in memory has changed. */
    reads: () => reads,
    /** How many entries could not be read, of the books that were read within the last minute. */
    unreadableEntries(): number {
      const recent = [...shared.values()].filter(({ endedAt = now() }) => isWithin(UNREADABLE_MS, endedAt));
      return recent.reduce((sum, { dropped }) => sum + dropped, 0);
    },
    /** The newest snapshots of the books that are followed, by ticker id: of those that can be read now. Nothing is read for it. */
    followedBooks() {
      const books = collect();
      if (!isDeepStrictEqual(books, collected)) collected = books;
      return {
        /** The same object until one of the books changes, can no longer be read, or another one is followed. */
        books: collected,
        /** Until when they may be shown without looking for newer ones. */
        freshUntil: now() + ttlMs,
      };
    },
    followed: () => followed.size,
    subscribers: (): number => [...followed.values()].reduce((sum, { subscribers }) => sum + subscribers(), 0),
    /** How many updates were skipped by slow subscribers. */
    skippedValues: (): number =>
      [...followed.values()].reduce((sum, { skippedValues: skipped }) => sum + skipped(), skippedBefore),
  };
}
