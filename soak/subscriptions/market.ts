import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { marketsWithBook, TICKER_FIELDS } from '../expected/market.ts';
import { BOOK_FIELDS, type Book, expectedBook } from '../expected/order-book.ts';
import { bookMismatch, tickersMismatch } from '../queries/market.ts';
import type { CheckedSubscription } from './subscription.ts';

const WITHOUT_HEIGHTS = { height: () => undefined, skipped: () => 0, resumed: () => undefined };

/** A subscription to all tickers: each update must be one response of the host, and never an older one than before. */
export function createTickersSubscription({ shown }: SoakContext): CheckedSubscription {
  let oldest = 0;
  let newest: readonly unknown[] | undefined;
  return {
    ...WITHOUT_HEIGHTS,
    kind: 'tickers',
    source: 'tickers',
    query: `subscription { tickers { ${TICKER_FIELDS} } }`,
    check(data) {
      const rows = data['tickers'] as readonly unknown[];
      newest = rows;
      const candidates = shown.since(oldest);
      const mismatch = tickersMismatch(rows, candidates);
      const match = candidates.findLast(({ tickers }) => tickersMismatch(rows, [{ tickers }]) === undefined);
      oldest = match?.shownAt ?? oldest;
      return mismatch;
    },
    isOf: (blocks) => newest !== undefined && tickersMismatch(newest, blocks) === undefined,
  };
}

/** A subscription to an order book: each update must be a book that the host showed just now, and never an older one than before. */
export function createOrderBookSubscription({ shown, served }: SoakContext, random: Random): CheckedSubscription {
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
    check(data) {
      const book = data['orderBook'] as Book;
      if (book.timestamp < newest) return `a book of ${book.timestamp} after one of ${newest}`;
      newest = book.timestamp;
      return bookMismatch(
        book,
        (block) => expectedBook(chain, market, block, depth),
        served.markets(performance.now()),
      );
    },
    isOf: (blocks) => blocks.some(({ block }) => new Date(block.time * 1_000).toISOString() === newest),
  };
}
