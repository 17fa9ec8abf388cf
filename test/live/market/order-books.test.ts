import { describe, expect, onTestFinished, test } from 'vitest';
import { type RawOrderBook, toOrderBook } from '../../../src/domain/order-book.ts';
import { UpstreamBusyError, UpstreamTimeoutError } from '../../../src/errors.ts';
import type { Observed, ReadOnce } from '../../../src/live/fleet-port.ts';
import { createOrderBooks, type OrderBooks } from '../../../src/live/market/order-books.ts';
import { type Bulkhead, createBulkhead } from '../../../src/turns/bulkhead.ts';
import type { MarketDataClient } from '../../../src/upstream/market-data/client.ts';
import { toAsyncValues } from '../../support/async-values.ts';
import { roomyBulkhead, SOMEONE } from '../../upstream/connect.ts';
import { failureOf } from '../../upstream/failure.ts';

function bookOf(tickerId: string, price: number | undefined, timestamp = 1_000): RawOrderBook {
  const bids = price === undefined ? [] : [{ price, quantity: 1 }];
  return { tickerId, message: 'OK', timestamp, bids, asks: [], entriesDropped: 0 };
}

/** The order books of a host that answers as `answer` does, `calls` being how often it was asked for that ticker. */
function booksOf(
  answer: (tickerId: string, calls: number) => RawOrderBook | undefined | Promise<RawOrderBook | undefined>,
  options: {
    ttlMs?: number;
    now?: () => number;
    bulkhead?: Bulkhead;
    readOnce?: ReadOnce<string, Observed<RawOrderBook | undefined>>;
  } = {},
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
  const state = { isRead: false };
  const books: OrderBooks = createOrderBooks({
    host,
    bulkhead: options.bulkhead ?? roomyBulkhead('MARKET_DATA'),
    isListed: (tickerId) => tickerId.startsWith('LISTED') || (state.isRead ? false : undefined),
    ttlMs: options.ttlMs ?? 1_000,
    timeoutMs: 5_000,
    now: options.now ?? (() => clock.now),
    readOnce: options.readOnce,
    watch: () => ({ failed: (error) => told.push(error), recovered: () => told.push('recovered') }),
  });
  return { books, asked, calls, clock, told, state };
}

describe('the newest snapshot of a book', () => {
  test('stays in memory when it is no longer fresh, while it is read again, and when that fails', async () => {
    const { books, clock, asked } = booksOf(async (tickerId, calls) => {
      if (calls === 2) throw new UpstreamTimeoutError('MARKET_DATA', 1, {});
      return bookOf(tickerId, calls);
    });
    expect([books.newest('LISTED'), books.reads()]).toEqual([undefined, 0]);
    const first = await books.read('LISTED', SOMEONE);
    expect([books.newest('LISTED'), books.reads()]).toEqual([first, 1]);

    clock.now += 10_000;
    const failing = books.read('LISTED', SOMEONE);
    expect(books.newest('LISTED')).toBe(first);
    await expect(failing).rejects.toThrow();
    expect([books.newest('LISTED'), books.reads()]).toEqual([first, 1]);

    clock.now += 10_000;
    const third = await books.read('LISTED', SOMEONE);
    expect([books.newest('LISTED'), books.reads()]).toEqual([third, 2]);
    expect(asked).toHaveLength(3);
  });

  test('stays in memory if it is not read again because its client has too many queued requests', async () => {
    const held = Promise.withResolvers<RawOrderBook>();
    const busy = () => new UpstreamBusyError('MARKET_DATA');
    const { books, clock } = booksOf((tickerId) => (tickerId === 'LISTED' ? bookOf(tickerId, 5) : held.promise), {
      bulkhead: createBulkhead({ busy, maxConcurrent: 1, maxQueued: 0, maxWaitMs: 10_000 }),
    });
    const first = await books.read('LISTED', SOMEONE);
    clock.now += 10_000;
    const other = books.read('LISTED too', SOMEONE);
    expect(await failureOf(books.read('LISTED', SOMEONE))).toMatchObject({ code: 'UPSTREAM_BUSY' });
    expect(books.newest('LISTED')).toBe(first);

    held.resolve(bookOf('LISTED too', 5));
    await other;
    expect(await books.read('LISTED', SOMEONE)).toMatchObject({ observedAt: 15_000 });
  });

  test('is that of a book that is followed', async () => {
    const { books } = booksOf((tickerId, calls) => bookOf(tickerId, calls));
    const updates = toAsyncValues(books.subscribe('LISTED', SOMEONE));
    const { value } = await updates.next();
    expect(books.newest('LISTED')).toBe(value);
    await updates.return?.();
    expect(books.newest('UNKNOWN')).toBeUndefined();
  });
});

test('a subscriber that comes after a failure gets the next book that is read, and not the last one', async () => {
  const state = { isFailing: false };
  const { books } = booksOf(
    (tickerId) => {
      if (state.isFailing) throw new UpstreamTimeoutError('MARKET_DATA', 1, {});
      return bookOf(tickerId, 5);
    },
    { ttlMs: 5 },
  );
  const early = toAsyncValues(books.subscribe('LISTED', SOMEONE));
  const { value: before } = await early.next();
  state.isFailing = true;
  await expect.poll(() => books.followedBooks().books.size).toBe(0);
  const late = toAsyncValues(books.subscribe('LISTED', SOMEONE));
  const next = late.next();
  state.isFailing = false;
  const { value } = await next;
  expect(value).not.toBe(before);
  expect(value).toEqual(before);
  await Promise.all([early.return?.(), late.return?.()]);
});

describe('how often a book is read', () => {
  test('once for a hundred simultaneous requests', async () => {
    const reading = Promise.withResolvers<RawOrderBook>();
    const { books, asked } = booksOf(() => reading.promise);
    const readers = Array.from({ length: 100 }, () => books.read('LISTED', SOMEONE));
    reading.resolve(bookOf('LISTED', 5));
    const readings = await Promise.all(readers);
    expect(new Set(readings).size).toBe(1);
    expect(readings[0]).toEqual({ book: toOrderBook(bookOf('LISTED', 5)), observedAt: 5_000, freshUntil: 6_000 });
    expect(asked).toEqual(['LISTED']);
  });

  test('again after its time to live, counted from the end of the read', async () => {
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

  test('again after its time to live, counted from when another replica of the fleet has read it', async () => {
    let reads = 0;
    const readOnce = async (tickerId: string) => {
      reads += 1;
      return { value: bookOf(tickerId, reads), observedAt: reads === 1 ? 4_500 : 5_500 };
    };
    const { books, clock } = booksOf(() => undefined, { readOnce });
    const first = await books.read('LISTED', SOMEONE);
    expect(first).toMatchObject({ observedAt: 4_500, freshUntil: 5_500 });
    clock.now = 5_499;
    expect(await books.read('LISTED', SOMEONE)).toBe(first);
    clock.now = 5_500;
    expect(await books.read('LISTED', SOMEONE)).toMatchObject({ observedAt: 5_500, freshUntil: 6_500 });
    expect(reads).toBe(2);
  });

  test('once for each ticker', async () => {
    const { books, asked } = booksOf((tickerId) => bookOf(tickerId, 5));
    await Promise.all(['LISTED A', 'LISTED B', 'LISTED A'].map((tickerId) => books.read(tickerId, SOMEONE)));
    expect(asked).toEqual(['LISTED A', 'LISTED B']);
  });

  test('an error is shared for as long as a book would be', async () => {
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

  test('a book that was not read because its client has too many queued requests is read for the next client', async () => {
    const first = Promise.withResolvers<RawOrderBook>();
    const { books, asked } = booksOf((tickerId) => (tickerId === 'LISTED A' ? first.promise : bookOf(tickerId, 5)), {
      bulkhead: createBulkhead({
        busy: () => new UpstreamBusyError('MARKET_DATA'),
        ...{ maxConcurrent: 1, maxQueued: 1, maxWaitMs: 10_000 },
      }),
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

describe('an empty book', () => {
  test('of a ticker that the host lists is an empty book', async () => {
    const { books } = booksOf((tickerId) => bookOf(tickerId, undefined));
    expect(await books.read('LISTED', SOMEONE)).toEqual({
      book: toOrderBook(bookOf('LISTED', undefined)),
      observedAt: 5_000,
      freshUntil: 6_000,
    });
  });

  test('of a ticker that it does not list is no book', async () => {
    const { books } = booksOf((tickerId) => bookOf(tickerId, undefined));
    expect(await books.read('unknown', SOMEONE)).toBeUndefined();
  });

  test('that is missing, of a ticker that it does not list, is no book', async () => {
    const { books } = booksOf(() => undefined);
    expect(await books.read('unknown', SOMEONE)).toBeUndefined();
  });

  test('that is missing, of a ticker that it lists, is an error of the host', async () => {
    const { books } = booksOf(() => undefined);
    expect(await failureOf(books.read('LISTED', SOMEONE))).toEqual({
      code: 'UPSTREAM_BAD_SHAPE',
      retryable: true,
      message: 'The market-data host sent an invalid response: no order book for a listed ticker.',
      extensions: { upstream: 'MARKET_DATA' },
    });
  });

  test('with offers is a book, also while the lists were not read', async () => {
    const { books } = booksOf((tickerId) => bookOf(tickerId, 5));
    expect(await books.read('unlisted', SOMEONE)).toMatchObject({ book: { tickerId: 'unlisted' } });
  });
});

test('the book of another listed ticker is an error of the host, a name that is not listed is none', async () => {
  const { books } = booksOf((tickerId) => bookOf(tickerId === 'LISTED' ? 'LISTED too' : 'listed three', 5));
  expect(await failureOf(books.read('LISTED', SOMEONE))).toMatchObject({
    code: 'UPSTREAM_BAD_SHAPE',
    message: 'The market-data host sent an invalid response: the order book of another ticker.',
  });
  expect(await books.read('LISTED 3', SOMEONE)).toMatchObject({ book: { tickerId: 'listed three' } });
});

describe('a subscriber of a book receives', () => {
  const quickly = { ttlMs: 2, now: Date.now };

  test('the current book, then each one that differs', async () => {
    const { books } = booksOf((tickerId, calls) => bookOf(tickerId, calls < 5 ? 1 : 2), quickly);
    const heard = toAsyncValues(books.subscribe('LISTED', SOMEONE));
    onTestFinished(async () => void (await heard.return?.()));
    expect(await heard.next()).toMatchObject({ value: { book: { bids: [{ price: 1 }] } } });
    expect(await heard.next()).toMatchObject({ value: { book: { bids: [{ price: 2 }] } } });
  });

  test('the same as all other subscribers of that book, from one read', async () => {
    const reading = Promise.withResolvers<RawOrderBook>();
    const { books, asked } = booksOf(() => reading.promise, quickly);
    const subscribers = Array.from({ length: 100 }, () => toAsyncValues(books.subscribe('LISTED', SOMEONE)));
    onTestFinished(async () => void (await Promise.all(subscribers.map((heard) => heard.return?.()))));
    const heard = Promise.all(subscribers.map((values) => values.next()));
    await expect.poll(() => asked.length).toBe(1);
    reading.resolve(bookOf('LISTED', 5));
    expect(new Set((await heard).map(({ value }) => value)).size).toBe(1);
  });

  test('nothing while reads fail, and the newest book when one succeeds again', async () => {
    const { books, told } = booksOf((tickerId, calls) => {
      if (calls > 1 && calls < 5) throw new UpstreamTimeoutError('MARKET_DATA', 5, {});
      return bookOf(tickerId, calls);
    }, quickly);
    const heard = toAsyncValues(books.subscribe('LISTED', SOMEONE));
    onTestFinished(async () => void (await heard.return?.()));
    expect(await heard.next()).toMatchObject({ value: { book: { bids: [{ price: 1 }] } } });
    expect(await heard.next()).toMatchObject({ value: { book: { bids: [{ price: 5 }] } } });
    expect(told).toEqual([expect.any(UpstreamTimeoutError), 'recovered']);
  });

  test('when the last subscriber leaves, the book is not read any more; the next one starts again', async () => {
    const { books, calls } = booksOf((tickerId, count) => bookOf(tickerId, count), quickly);
    const [first, second, other] = [
      toAsyncValues(books.subscribe('LISTED', SOMEONE)),
      toAsyncValues(books.subscribe('LISTED', SOMEONE)),
      toAsyncValues(books.subscribe('LISTED too', SOMEONE)),
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

    const third = toAsyncValues(books.subscribe('LISTED', SOMEONE));
    onTestFinished(async () => void (await third.return?.()));
    await third.next();
    expect(calls('LISTED')).toBeGreaterThan(atTheEnd);
  });

  test('no update that it has skipped, which still counts when the book is no longer followed', async () => {
    const { books } = booksOf((tickerId, count) => bookOf(tickerId, count), quickly);
    const slow = books.subscribe('LISTED', SOMEONE)({ onNext() {}, onError() {} });
    await expect.poll(books.skippedValues).toBeGreaterThan(1);
    slow.cancel();
    expect([books.followed(), books.skippedValues() > 1]).toEqual([0, true]);
  });
});

test('the books that one client follows have one share of the queue; one that several follow has its own', async () => {
  const clients = new Map<string, Set<unknown>>();
  const bulkhead: Bulkhead = {
    queue(call) {
      const response = Promise.resolve().then(call);
      return {
        response,
        async wait({ client }) {
          const value = await response;
          const { book } = value as { book: { tickerId: string } };
          clients.set(book.tickerId, (clients.get(book.tickerId) ?? new Set()).add(client));
          return value;
        },
      };
    },
    isBusy: () => false,
  };
  const { books } = booksOf((tickerId, calls) => bookOf(tickerId, calls), { ttlMs: 1, now: Date.now, bulkhead });
  async function follow(tickerId: string, client: string): Promise<void> {
    const values = toAsyncValues(books.subscribe(tickerId, { client }));
    onTestFinished(async () => void (await values.return?.()));
    await values.next();
  }
  await Promise.all(['LISTED A', 'LISTED B'].map((tickerId) => follow(tickerId, 'one')));
  expect([...clients.values()]).toEqual([new Set(['one']), new Set(['one'])]);
  await follow('LISTED B', 'other');
  await expect.poll(() => clients.get('LISTED B')?.size).toBe(2);
  expect([...(clients.get('LISTED B') ?? [])]).toEqual(['one', expect.any(Symbol)]);
  expect(clients.get('LISTED A')).toEqual(new Set(['one']));
});

test('a book that is followed although its ticker does not exist is hardly read', async () => {
  const { books, calls } = booksOf(
    (tickerId, count) => (tickerId === 'UNKNOWN' ? undefined : bookOf(tickerId, count)),
    {
      ttlMs: 1,
      now: Date.now,
    },
  );
  const [known, unknown] = ['LISTED', 'UNKNOWN'].map((id) => toAsyncValues(books.subscribe(id, SOMEONE)));
  onTestFinished(async () => void (await Promise.all([known?.return?.(), unknown?.return?.()])));
  expect(await unknown?.next()).toMatchObject({ value: { message: 'Ticker "UNKNOWN" does not exist.' } });
  await known?.next();
  await expect.poll(() => calls('LISTED')).toBeGreaterThan(10);
  expect(calls('UNKNOWN')).toBe(1);
});

describe('the books that are followed', () => {
  test('are collected without reading any, from the first snapshot on until the last subscriber leaves', async () => {
    const reading = Promise.withResolvers<RawOrderBook>();
    const { books, asked } = booksOf((tickerId, calls) =>
      tickerId === 'LISTED_2' && calls === 1 ? reading.promise : bookOf(tickerId, 5),
    );
    const none = books.followedBooks();
    expect(none).toEqual({ books: new Map(), freshUntil: 6_000 });
    await books.read('LISTED_3', SOMEONE);
    expect(books.followedBooks().books).toBe(none.books);

    const [one, two] = [
      toAsyncValues(books.subscribe('LISTED_1', SOMEONE)),
      toAsyncValues(books.subscribe('LISTED_2', SOMEONE)),
    ];
    await one.next();
    const first = books.followedBooks().books;
    expect([...first]).toEqual([['LISTED_1', toOrderBook(bookOf('LISTED_1', 5))]]);
    expect(books.followedBooks().books).toBe(first);
    reading.resolve(bookOf('LISTED_2', 7));
    await two.next();
    expect([...books.followedBooks().books.keys()]).toEqual(['LISTED_1', 'LISTED_2']);
    expect(books.followedBooks().books).not.toBe(first);

    await one.return?.();
    expect([...books.followedBooks().books.keys()]).toEqual(['LISTED_2']);
    await two.return?.();
    expect(books.followedBooks().books).toEqual(new Map());
    expect(asked).toEqual(['LISTED_3', 'LISTED_1', 'LISTED_2']);
  });

  test('are left out while they cannot be read, and if their ticker does not exist', async () => {
    let isDown = false;
    const { books, told } = booksOf(
      (tickerId) => {
        if (isDown) throw new UpstreamTimeoutError('MARKET_DATA', 5, {});
        return tickerId === 'LISTED' ? bookOf(tickerId, 5) : undefined;
      },
      { ttlMs: 1 },
    );
    const [one, unknown] = [
      toAsyncValues(books.subscribe('LISTED', SOMEONE)),
      toAsyncValues(books.subscribe('UNKNOWN', SOMEONE)),
    ];
    await Promise.all([one.next(), unknown.next()]);
    expect([...books.followedBooks().books.keys()]).toEqual(['LISTED']);
    isDown = true;
    await expect.poll(() => told.length).toBe(1);
    expect(books.followedBooks().books).toEqual(new Map());
    isDown = false;
    await expect.poll(() => told.length).toBe(2);
    expect([...books.followedBooks().books.keys()]).toEqual(['LISTED']);
    await one.return?.();
    await unknown.return?.();
  });
});

test('a text that is too long for a ticker id does not exist, and the host is not called', async () => {
  const { books, asked } = booksOf(() => bookOf('X', 5));
  expect(await books.read('X'.repeat(201), SOMEONE)).toBeUndefined();
  expect(asked).toEqual([]);
  await books.read('X'.repeat(200), SOMEONE);
  expect(asked.length).toBe(1);
});

test('once the lists were read, the host is not called for an id that they do not have', async () => {
  const { books, asked, calls, state } = booksOf((tickerId) => bookOf(tickerId, 5), { ttlMs: 1, now: Date.now });
  const [listed, other] = ['LISTED', 'other'].map((id) => toAsyncValues(books.subscribe(id, SOMEONE)));
  onTestFinished(async () => void (await Promise.all([listed?.return?.(), other?.return?.()])));
  await Promise.all([listed?.next(), other?.next()]);
  expect(calls('other')).toBeGreaterThan(0);

  state.isRead = true;
  const before = calls('other');
  const listedBefore = calls('LISTED');
  await expect.poll(() => calls('LISTED')).toBeGreaterThan(listedBefore + 5);
  expect(await books.read('other', SOMEONE)).toBeUndefined();
  expect(await books.read('never read', SOMEONE)).toBeUndefined();
  expect(calls('other') - before).toBeLessThanOrEqual(1);
  expect(asked).not.toContain('never read');
  expect([...books.followedBooks().books.keys()]).toEqual(['LISTED']);
});
