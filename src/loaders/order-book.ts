import DataLoader from 'dataloader';
import { atDepth } from '../domain/order-book.ts';
import { BadUserInputError } from '../errors.ts';
import type { OrderBookReading, OrderBooks } from '../live/market/order-books.ts';
import type { Requester } from '../upstream/fair-queue.ts';
import type { Dependencies } from './dependencies.ts';

/** The order books of one answer. */
export type OrderBookLoader = {
  /**
   * The best entries of a book, `undefined` for a ticker that does not exist.
   *
   * @param depth of both sides together: 0 is everything, null is {@link DEFAULT_DEPTH}
   * @throws BadUserInputError for a negative depth, UpstreamError
   */
  get(tickerId: string, depth: Depth): Promise<CutOrderBook | undefined>;
};

/** A reading with only the best entries of its book. */
export type CutOrderBook = OrderBookReading & {
  /** The ticker whose book was read. */
  readonly tickerId: string;
  /** How many entries of both sides together it has at the most; 0 is everything. */
  readonly depth: number;
};

/** How many entries of both sides together a client wants. */
export type Depth = number | null | undefined;

/** How many entries a book has where the client does not say. */
export const DEFAULT_DEPTH = 100;

/** Makes the order-book loader of one answer: however many fields ask for a book, and to whatever depth, it is one reading. */
export function createOrderBookLoader(
  orderBooks: OrderBooks,
  dependencies: Dependencies,
  requester: Requester,
): OrderBookLoader {
  const books = new DataLoader<string, OrderBookReading | undefined>((tickerIds) =>
    Promise.all(tickerIds.map((tickerId) => orderBooks.read(tickerId, requester).catch((error: Error) => error))),
  );

  return {
    async get(tickerId, depth) {
      const entries = readDepth(depth);
      const reading = await books.load(tickerId);
      // That there is no such book was read at some moment too, which nobody notes.
      if (reading === undefined) return dependencies.expireNow(undefined);
      dependencies.expireAt(reading.freshUntil);
      return cutBook(reading, tickerId, entries);
    },
  };
}

/** The number of entries that a client wants. @throws BadUserInputError for a negative depth */
export function readDepth(depth: Depth): number {
  const entries = depth ?? DEFAULT_DEPTH;
  if (entries >= 0) return entries;
  throw new BadUserInputError(`depth is ${depth}. It must be 0 (the complete book) or greater.`);
}

/** The reading with only the best entries of its book. */
export function cutBook(reading: OrderBookReading, tickerId: string, depth: number): CutOrderBook {
  return { ...reading, tickerId, depth, book: atDepth(reading.book, depth) };
}
