import DataLoader from 'dataloader';
import { atDepth } from '../domain/order-book.ts';
import { BadUserInputError } from '../errors.ts';
import type { OrderBookReading, OrderBooks } from '../live/order-books.ts';
import type { Asker } from '../upstream/fair-queue.ts';
import type { Basis } from './basis.ts';

/** The order books of one answer. */
export type OrderBookLoader = {
  /**
   * The best entries of a book, `undefined` for a ticker that does not exist.
   *
   * @param depth of both sides together; 0 is everything
   * @throws BadUserInputError for a negative depth, UpstreamError
   */
  get(tickerId: string, depth: number): Promise<OrderBookReading | undefined>;
};

/** Makes the order-book loader of one answer: however many fields ask for a book, and to whatever depth, it is one reading. */
export function createOrderBookLoader(orderBooks: OrderBooks, basis: Basis, asker: Asker): OrderBookLoader {
  const books = new DataLoader<string, OrderBookReading | undefined>((tickerIds) =>
    Promise.all(tickerIds.map((tickerId) => orderBooks.read(tickerId, asker).catch((error: Error) => error))),
  );

  return {
    async get(tickerId, depth) {
      requireDepth(depth);
      const reading = await books.load(tickerId);
      // That there is no such book was read at some moment too, which nobody notes.
      if (reading === undefined) return basis.momentary(undefined);
      basis.lastsUntil(reading.freshUntil);
      return cutBook(reading, depth);
    },
  };
}

/** @throws BadUserInputError for a negative depth */
export function requireDepth(depth: number): void {
  if (depth < 0) throw new BadUserInputError(`depth is ${depth}: it is 0 for everything, or the number of entries.`);
}

/** A reading with only the best entries of its book. */
export function cutBook(reading: OrderBookReading, depth: number): OrderBookReading {
  return { ...reading, book: atDepth(reading.book, depth) };
}
