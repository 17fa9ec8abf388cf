import type { Random } from '../../src/sandbox/chain/random.ts';
import { bookMisfit, tickersMisfit } from '../questions/market.ts';
import { pick, type Stage } from '../stage.ts';
import { marketsWithBook, TICKER_FIELDS } from '../truth/market.ts';
import { BOOK_FIELDS, type Book, bookOf } from '../truth/order-book.ts';
import type { Stream } from './stream.ts';

const WITHOUT_HEIGHTS = { height: () => undefined, missed: () => 0, resumed: () => undefined };

/** Follows all tickers: each update must be one answer of the host, and never an older one than before. */
export function createTickersStream({ shown }: Stage): Stream {
  let oldest = 0;
  return {
    ...WITHOUT_HEIGHTS,
    kind: 'tickers',
    source: 'tickers',
    query: `subscription { tickers { ${TICKER_FIELDS} } }`,
    take(data) {
      const rows = data['tickers'] as readonly unknown[];
      const candidates = shown.since(oldest);
      const misfit = tickersMisfit(rows, candidates);
      const told = candidates.findLast(({ tickers }) => tickersMisfit(rows, [{ tickers }]) === undefined);
      oldest = told?.shownAt ?? oldest;
      return misfit;
    },
  };
}

/** Follows the book of a market: each update must be a book that the host showed, and never an older one than before. */
export function createOrderBookStream({ shown }: Stage, random: Random): Stream {
  const { chain } = shown;
  const market = pick(random, marketsWithBook(chain));
  const depth = pick(random, [0, 2, 20, 100]);
  let newest = '';
  return {
    ...WITHOUT_HEIGHTS,
    kind: 'order book',
    source: 'order_books',
    query: `subscription ($tickerId: String!, $depth: Int!) { orderBook(tickerId: $tickerId, depth: $depth) { ${BOOK_FIELDS} } }`,
    variables: { tickerId: market.tickerId, depth },
    take(data) {
      const book = data['orderBook'] as Book;
      if (book.timestamp < newest) return `a book of ${book.timestamp} after one of ${newest}`;
      newest = book.timestamp;
      return bookMisfit(book, (block) => bookOf(chain, market, block, depth), shown.since(0));
    },
  };
}
