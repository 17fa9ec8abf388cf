import type { Instant } from '../domain/instant.ts';
import type { RawOrderBook } from '../domain/order-book.ts';
import type { Observed, ReadOnce } from '../live/fleet-port.ts';
import { createReadOnce } from './read-once.ts';
import type { Redis } from './redis.ts';
import type { FleetWatcher } from './watcher.ts';

type OrderBooksOptions = {
  readonly redis: Redis;
  /** How long one snapshot is returned to all clients. */
  readonly ttlMs: number;
  readonly maxWaitMs: number;
  readonly now: () => Instant;
  readonly watcher: FleetWatcher;
};

/** A response of the market-data host; `undefined` inside for a ticker that it does not have. */
type Response = { readonly book: RawOrderBook | undefined };

/**
 * Creates the function that reads an order book. While a book is fresh, the fleet reads it once. Its age is counted by the clock of
 * Redis, because the clocks of replicas may differ.
 */
export function createOrderBookReads({
  redis,
  ttlMs,
  maxWaitMs,
  now,
  watcher,
}: OrderBooksOptions): ReadOnce<string, Observed<RawOrderBook | undefined>> {
  const readOnce = createReadOnce<Response>({
    redis,
    kind: 'order_book',
    ttlMs,
    maxWaitMs,
    pack: async (response) => response,
    unpack: async (packed) => packed as Response,
    watcher,
  });

  return async (tickerId, read) => {
    const { value, ageMs } = await readOnce(tickerId, async () => ({ book: (await read()).value }));
    return { value: value.book, observedAt: now() - Math.ceil(ageMs) };
  };
}
