import { describe, expect, onTestFinished, test } from 'vitest';
import { type RawOrderBook, toOrderBook } from '../../../src/domain/order-book.ts';
import { UpstreamTimeoutError } from '../../../src/errors.ts';
import { toAsyncValues } from '../../../src/live/broadcast/async-values.ts';
import { createOrderBooks, type OrderBooks } from '../../../src/live/market/order-books.ts';
import { type Bulkhead, createBulkhead } from '../../../src/upstream/bulkhead.ts';
import type { MarketDataClient } from '../../../src/upstream/market-data/client.ts';
import { roomyBulkhead, SOMEONE } from '../../upstream/connect.ts';
import { failureOf } from '../../upstream/failure.ts';

function bookOf(tickerId: string, price: number | undefined, timestamp = 1_000): RawOrderBook {
  const bids = price === undefined ? [] : [{ price, quantity: 1 }];
  return { tickerId, message: 'OK', timestamp, bids, asks: [], entriesDropped: 0 };
}

/** The order books of a host that answers as `answer` does, `calls` being how often it was asked for that ticker. */
function booksOf(
  answer: (tickerId: string, calls: number) => RawOrderBook | undefined | Promise<RawOrderBook | undefined>,
  options: { ttlMs?: number; now?: () => number; bulkhead?: Bulkhead } = {},
) {
  const asked: string[] = [];
  const calls = (tickerId: string) => asked.filter((name) => name === tickerId).length;
  const unused = () => Promise.reject(new Error('only books are asked for'));
  const host: MarketDataClient = {
    pairs: unused,
    tickers: unused,
    async orderBook(tickerId) {
      asked.push(tickerId);
      return answer(tickerId, calls(tickerId));
    },
  };
  const told: unknown[] = [];
  const clock = { now: 5_000 };
  const books: OrderBooks = createOrderBooks({
    host,
    bulkhead: options.bulkhead ?? roomyBulkhead('MARKET_DATA'),
    isListed: (tickerId) => tickerId.startsWith('LISTED'),
    ttlMs: options.ttlMs ?? 1_000,
    timeoutMs: 5_000,
    now: options.now ?? (() => clock.now),
    watch: () => ({ failed: (error) => told.push(error), recovered: () => told.push('recovered') }),
  });
  return { books, asked, calls, clock, told };
}

describe('how often is a book read', () => {
  test('once, for a hundred who ask at the same time', async () => {
    const reading = Promise.withResolvers<RawOrderBook>();
    const { books, asked } = booksOf(() => reading.promise);
    const readers = Array.from({ length: 100 }, () => books.read('LISTED', SOMEONE));
    reading.resolve(bookOf('LISTED', 5));
    const readings = await Promise.all(readers);
    expect(new Set(readings).size).toBe(1);
    expect(readings[0]).toEqual({ book: toOrderBook(bookOf('LISTED', 5)), observedAt: 5_000, freshUntil: 6_000 });
    expect(asked).toEqual(['LISTED']);
  });

  test('again when its time is over, counted from the end of the reading', async () => {
    const readings = [Promise.withResolvers<RawOrderBook>(), Promise.withResolvers<RawOrderBook>()];
    const { books, asked, clock } = booksOf(async (_, calls) => readings[calls - 1]?.promise);
    const first = books.read('LISTED', SOMEONE);
    clock.now = 7_000;
    const meanwhile = books.read('LISTED', SOMEONE);
    readings[0]?.resolve(bookOf('LISTED', 5));
    expect(await first).toEqual({ book: toOrderBook(bookOf('LISTED', 5)), observedAt: 7_000, freshUntil: 8_000 });
    expect(await meanwhile).toBe(await first);

    clock.now = 7_999;
    expect(await books.read('LISTED', SOMEONE)).toBe(await first);
    expect(asked.length).toBe(1);
    clock.now = 8_000;
    readings[1]?.resolve(bookOf('LISTED', 6));
    expect(await books.read('LISTED', SOMEONE)).toEqual({
      book: toOrderBook(bookOf('LISTED', 6)),
      observedAt: 8_000,
      freshUntil: 9_000,
    });
    expect(asked.length).toBe(2);
  });

  test('once for each ticker', async () => {
    const { books, asked } = booksOf((tickerId) => bookOf(tickerId, 5));
    await Promise.all(['LISTED A', 'LISTED B', 'LISTED A'].map((tickerId) => books.read(tickerId, SOMEONE)));
    expect(asked).toEqual(['LISTED A', 'LISTED B']);
  });

  test('a failure is everyone’s too, for as long as a book would be', async () => {
    const { books, asked, clock } = booksOf((tickerId, calls) => {
      if (calls === 1) throw new UpstreamTimeoutError('MARKET_DATA', 5, {});
      return bookOf(tickerId, 5);
    });
    const failures = await Promise.all([books.read('LISTED', SOMEONE), books.read('LISTED', SOMEONE)].map(failureOf));
    expect(failures).toMatchObject([{ code: 'UPSTREAM_TIMEOUT' }, { code: 'UPSTREAM_TIMEOUT' }]);
    expect(await failureOf(books.read('LISTED', SOMEONE))).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    expect(asked.length).toBe(1);
    clock.now += 1_000;
    expect(await books.read('LISTED', SOMEONE)).toMatchObject({ observedAt: 6_000 });
  });

  test('a book that was not asked for because its requester waits for too many is asked for by the next', async () => {
    const first = Promise.withResolvers<RawOrderBook>();
    const { books, asked } = booksOf((tickerId) => (tickerId === 'LISTED A' ? first.promise : bookOf(tickerId, 5)), {
      bulkhead: createBulkhead('MARKET_DATA', { maxConcurrent: 1, maxQueued: 1, maxWaitMs: 10_000 }),
    });
    const greedy = { client: 'greedy' };
    const [a, b, c] = ['LISTED A', 'LISTED B', 'LISTED C'].map((tickerId) => books.read(tickerId, greedy));
    expect(await failureOf(c ?? Promise.resolve())).toMatchObject({ code: 'UPSTREAM_BUSY' });
    first.resolve(bookOf('LISTED A', 5));
    await Promise.all([a, b]);
    expect(await books.read('LISTED C', SOMEONE)).toMatchObject({ book: { tickerId: 'LISTED C' } });
    expect(asked).toEqual(['LISTED A', 'LISTED B', 'LISTED C']);
  });
});

describe('is it an empty book, or no ticker at all', () => {
  test('an empty book of a ticker that the host lists is an empty book', async () => {
    const { books } = booksOf((tickerId) => bookOf(tickerId, undefined));
    expect(await books.read('LISTED', SOMEONE)).toEqual({
      book: toOrderBook(bookOf('LISTED', undefined)),
      observedAt: 5_000,
      freshUntil: 6_000,
    });
  });

  test('an empty book of a ticker that it does not list is none', async () => {
    const { books } = booksOf((tickerId) => bookOf(tickerId, undefined));
    expect(await books.read('unknown', SOMEONE)).toBeUndefined();
  });

  test('no book of a ticker that it does not list is none', async () => {
    const { books } = booksOf(() => undefined);
    expect(await books.read('unknown', SOMEONE)).toBeUndefined();
  });

  test('no book of a ticker that it lists is a failure of the host', async () => {
    const { books } = booksOf(() => undefined);
    expect(await failureOf(books.read('LISTED', SOMEONE))).toEqual({
      code: 'UPSTREAM_BAD_SHAPE',
      retryable: true,
      message: 'The market-data host sent an invalid response: no order book for a listed ticker.',
      extensions: { upstream: 'MARKET_DATA' },
    });
  });

  test('a book with offers is shown, whether the host lists the ticker or not', async () => {
    const { books } = booksOf((tickerId) => bookOf(tickerId, 5));
    expect(await books.read('unlisted', SOMEONE)).toMatchObject({ book: { tickerId: 'unlisted' } });
  });
});

describe('what does a subscriber of a book hear', () => {
  const quickly = { ttlMs: 2, now: Date.now };

  test('the book now, and then each one that differs', async () => {
    const { books } = booksOf((tickerId, calls) => bookOf(tickerId, calls < 5 ? 1 : 2), quickly);
    const heard = toAsyncValues(books.subscribe('LISTED'));
    onTestFinished(async () => void (await heard.return?.()));
    expect(await heard.next()).toMatchObject({ value: { book: { bids: [{ price: 1 }] } } });
    expect(await heard.next()).toMatchObject({ value: { book: { bids: [{ price: 2 }] } } });
  });

  test('the same as all others of that book, from one reading', async () => {
    const reading = Promise.withResolvers<RawOrderBook>();
    const { books, asked } = booksOf(() => reading.promise, quickly);
    const subscribers = Array.from({ length: 100 }, () => toAsyncValues(books.subscribe('LISTED')));
    onTestFinished(async () => void (await Promise.all(subscribers.map((heard) => heard.return?.()))));
    const heard = Promise.all(subscribers.map((values) => values.next()));
    expect(asked.length).toBe(1);
    reading.resolve(bookOf('LISTED', 5));
    expect(new Set((await heard).map(({ value }) => value)).size).toBe(1);
  });

  test('nothing while reading fails, and the newest once it succeeds again', async () => {
    const { books, told } = booksOf((tickerId, calls) => {
      if (calls > 1 && calls < 5) throw new UpstreamTimeoutError('MARKET_DATA', 5, {});
      return bookOf(tickerId, calls);
    }, quickly);
    const heard = toAsyncValues(books.subscribe('LISTED'));
    onTestFinished(async () => void (await heard.return?.()));
    expect(await heard.next()).toMatchObject({ value: { book: { bids: [{ price: 1 }] } } });
    expect(await heard.next()).toMatchObject({ value: { book: { bids: [{ price: 5 }] } } });
    expect(told).toEqual([expect.any(UpstreamTimeoutError), 'recovered']);
  });

  test('when the last subscriber leaves, the book is read no more; the next one starts anew', async () => {
    const { books, calls } = booksOf((tickerId, count) => bookOf(tickerId, count), quickly);
    const [first, second, other] = [
      toAsyncValues(books.subscribe('LISTED')),
      toAsyncValues(books.subscribe('LISTED')),
      toAsyncValues(books.subscribe('LISTED too')),
    ];
    onTestFinished(async () => void (await other.return?.()));
    await Promise.all([first.next(), second.next(), other.next()]);

    await first.return?.();
    const before = calls('LISTED');
    await expect.poll(() => calls('LISTED')).toBeGreaterThan(before + 1);

    await second.return?.();
    const atTheEnd = calls('LISTED');
    const otherBefore = calls('LISTED too');
    await expect.poll(() => calls('LISTED too')).toBeGreaterThan(otherBefore + 5);
    expect(calls('LISTED')).toBe(atTheEnd);

    const third = toAsyncValues(books.subscribe('LISTED'));
    onTestFinished(async () => void (await third.return?.()));
    await third.next();
    expect(calls('LISTED')).toBeGreaterThan(atTheEnd);
  });
});

test('a name that is too long for a ticker is no ticker, and the host is not asked for it', async () => {
  const { books, asked } = booksOf(() => bookOf('X', 5));
  expect(await books.read('X'.repeat(201), SOMEONE)).toBeUndefined();
  expect(asked).toEqual([]);
  await books.read('X'.repeat(200), SOMEONE);
  expect(asked.length).toBe(1);
});
