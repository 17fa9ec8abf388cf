import { parseExactDecimal } from '../domain/exact-decimal.ts';
import type { Instant } from '../domain/instant.ts';
import type { Offer, RawOrderBook } from '../domain/order-book.ts';
import type { Observed, ReadOnce } from '../live/read-once.ts';
import type { Redis } from './redis.ts';
import { createSharedReads, type SharedReadsWatcher } from './shared-reads.ts';
import { parseJson } from './shared-value.ts';

type SharedOrderBooksOptions = {
  readonly redis: Pick<Redis, 'command' | 'fleetKey' | 'isAvailable' | 'key' | 'run'>;
  /** How long one snapshot is returned to all clients. */
  readonly ttlMs: number;
  readonly maxWaitMs: number;
  readonly now: () => Instant;
  readonly watcher: SharedReadsWatcher;
};

/** As many as each replica has in memory. */
const MAX_BOOKS = 1_000;

/** Larger books are read by each replica for itself. */
const MAX_BYTES = 4 * 2 ** 20;

/** A response of the market-data host; `undefined` inside for a ticker that it does not have. */
type Response = { readonly book: RawOrderBook | undefined };

/**
 * Creates the reads of order books, which the replicas of a fleet share in Redis. A book is as old at each replica as it is: its
 * age is counted by the clock of Redis, because the clocks of replicas may differ.
 */
export function createSharedOrderBooks(
  options: SharedOrderBooksOptions,
): ReadOnce<string, Observed<RawOrderBook | undefined>> {
  const { redis, ttlMs, maxWaitMs, now, watcher } = options;
  const reads = createSharedReads<Response>({
    redis,
    kind: 'order_book',
    ttlMs,
    maxWaitMs,
    async encode({ book }) {
      const bytes = Buffer.from(JSON.stringify({ book: book === undefined ? null : toRow(book) }));
      return bytes.length > MAX_BYTES ? undefined : bytes;
    },
    decode: async (bytes) => readResponse(bytes),
    maxValues: () => MAX_BOOKS,
    watcher,
  });

  return async (tickerId, read) => {
    const { value, ageMs } = await reads(tickerId, async () => ({ book: (await read()).value }));
    return { value: value.book, observedAt: now() - Math.ceil(ageMs) };
  };
}

/** A book as an array: an entry with two texts only if one of its numbers is not the text of its double. */
function toRow({ tickerId, message, timestamp, bids, asks, entriesDropped }: RawOrderBook): readonly unknown[] {
  return [tickerId, message, timestamp, bids.map(toEntry), asks.map(toEntry), entriesDropped];
}

function toEntry({ price, quantity, priceText, quantityText }: Offer): readonly unknown[] {
  return priceText === undefined && quantityText === undefined
    ? [price, quantity]
    : [price, quantity, priceText ?? null, quantityText ?? null];
}

/** Reads what {@link toRow} wrote; `undefined` for anything else. */
function readResponse(bytes: Buffer): Response | undefined {
  const row = parseJson(bytes.toString())?.['book'];
  if (row === null) return { book: undefined };
  if (!Array.isArray(row) || row.length !== 6) return undefined;
  const [tickerId, message, timestamp, bidRows, askRows, entriesDropped] = row as readonly unknown[];
  const bids = readSide(bidRows);
  const asks = readSide(askRows);
  if (typeof tickerId !== 'string' || typeof message !== 'string') return undefined;
  if (typeof timestamp !== 'number' || typeof entriesDropped !== 'number') return undefined;
  if (bids === undefined || asks === undefined) return undefined;
  return { book: { tickerId, message, timestamp, bids, asks, entriesDropped } };
}

function readSide(rows: unknown): readonly Offer[] | undefined {
  if (!Array.isArray(rows)) return undefined;
  const offers = rows.map(readEntry);
  return offers.includes(undefined) ? undefined : (offers as Offer[]);
}

function readEntry(entry: unknown): Offer | undefined {
  if (!Array.isArray(entry)) return undefined;
  const [price, quantity, priceText = null, quantityText = null] = entry as readonly unknown[];
  if (typeof price !== 'number' || typeof quantity !== 'number') return undefined;
  if (!isTextOf(priceText, price) || !isTextOf(quantityText, quantity)) return undefined;
  return {
    price,
    quantity,
    ...(priceText !== null && { priceText }),
    ...(quantityText !== null && { quantityText }),
  };
}

/** Whether a text is an exact decimal of a number, or there is none. */
function isTextOf(text: unknown, number: number): text is string | null {
  return (
    text === null || (typeof text === 'string' && Number(text) === number && parseExactDecimal(text) !== undefined)
  );
}
