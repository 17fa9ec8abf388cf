import DataLoader from 'dataloader';
import { atDepth } from '../domain/order-book.ts';
import { BadUserInputError } from '../errors.ts';
import type { OrderBookSnapshot, OrderBooks } from '../live/market/order-books.ts';
import type { Requester } from '../upstream/fair-queue.ts';
import type { Dependencies } from './dependencies.ts';

/** The order books of one answer. */
export type OrderBookLoader = {
  /**
   * The best entries of a book; `undefined` for a ticker that does not exist.
   *
   * @throws BadUserInputError for a negative depth, UpstreamError
   */
  get(tickerId: string, depth: Depth): Promise<CutOrderBook | undefined>;
};

/** An order book with only its best entries. */
export type CutOrderBook = OrderBookSnapshot & {
  /** The ticker id that was requested. */
  readonly tickerId: string;
  /** Maximum number of entries of both sides together; 0 is the complete book. */
  readonly depth: number;
};

/** The argument `depth`: the maximum number of entries of both sides together; 0 is the complete book. */
export type Depth = number | null | undefined;

/** The depth if the argument is not set. */
export const DEFAULT_DEPTH = 100;

/** Creates the order-book loader of one answer. All fields with the same ticker id show the same snapshot, at any depth. */
export function createOrderBookLoader(
  orderBooks: OrderBooks,
  dependencies: Dependencies,
  requester: Requester,
): OrderBookLoader {
  const books = new DataLoader<string, OrderBookSnapshot | undefined>((tickerIds) =>
    Promise.all(tickerIds.map((tickerId) => orderBooks.read(tickerId, requester).catch((error: Error) => error))),
  );

  return {
    async get(tickerId, depth) {
      const entries = readDepth(depth);
      const snapshot = await books.load(tickerId);
      // Nothing shows when the ticker starts to exist.
      if (snapshot === undefined) return dependencies.expireNow(undefined);
      dependencies.expireAt(snapshot.freshUntil);
      return cutBook(snapshot, tickerId, entries);
    },
  };
}

/** The depth that an argument means. @throws BadUserInputError for a negative depth */
export function readDepth(depth: Depth): number {
  const entries = depth ?? DEFAULT_DEPTH;
  if (entries >= 0) return entries;
  throw new BadUserInputError(`depth is ${depth}. It must be 0 (the complete book) or greater.`);
}

/** The order book with only its best entries. */
export function cutBook(snapshot: OrderBookSnapshot, tickerId: string, depth: number): CutOrderBook {
  return { ...snapshot, tickerId, depth, book: atDepth(snapshot.book, depth) };
}
