import type { Pair, Ticker } from '../../domain/market.ts';
import type { Offer, RawOrderBook } from '../../domain/order-book.ts';
import {
  Misfit,
  readArray,
  readObject,
  readString,
  readTimestamp,
  readTokenId,
  toFiniteNumber,
  type WireObject,
} from '../wire.ts';

/** What could be read of a list, and how many of its rows could not. */
export type Rows<T> = { readonly rows: readonly T[]; readonly dropped: number };

/** Decodes the answer of `/pairs`. @throws Misfit where it holds no list; a 200 without one is no success */
export function readPairs(document: unknown): Rows<Pair> {
  return readRows(readObject(document, '$')['pairs'], '$.pairs', (row, path) => ({
    ...readIds(row, path),
    base: readString(row['base'], `${path}.base`),
    target: readString(row['target'], `${path}.target`),
  }));
}

/** Decodes the answer of `/tickers`. @throws Misfit where it holds no list; a 200 without one is no success */
export function readTickers(document: unknown): Rows<Ticker> {
  return readRows(readObject(document, '$')['tickers'], '$.tickers', (row, path) => ({
    ...readIds(row, path),
    base: readString(row['base_currency'], `${path}.base_currency`),
    target: readString(row['target_currency'], `${path}.target_currency`),
    lastPrice: toFiniteNumber(row['last_price']),
    baseVolume: toFiniteNumber(row['base_volume']),
    targetVolume: toFiniteNumber(row['target_volume']),
  }));
}

/**
 * Decodes the answer of `/orderbook`; a side that is null is empty.
 *
 * @returns `undefined` for an answer without sides, or with nothing in them and not what a book has beside: what a host may
 *   give for a ticker that it does not know
 * @throws Misfit
 */
export function readOrderBook(document: unknown): RawOrderBook | undefined {
  const book = readObject(document, '$');
  if (book['bids'] == null && book['asks'] == null) return undefined;

  const bids = readSide(book['bids'], '$.bids');
  const asks = readSide(book['asks'], '$.asks');
  const entriesDropped = bids.dropped + asks.dropped;
  const isEmpty = bids.rows.length + asks.rows.length + entriesDropped === 0;
  try {
    return { ...readBookHead(book), bids: bids.rows, asks: asks.rows, entriesDropped };
  } catch (error) {
    if (isEmpty && error instanceof Misfit) return undefined;
    throw error;
  }
}

function readBookHead(book: WireObject): Pick<RawOrderBook, 'tickerId' | 'message' | 'timestamp'> {
  return {
    tickerId: readString(book['ticker_id'], '$.ticker_id'),
    message: readString(book['message'], '$.message'),
    timestamp: readTimestamp(book['timestamp'], '$.timestamp'),
  };
}

/** A row without an id or a token cannot be shown; one such row is no reason to lose the others. */
function readRows<T>(list: unknown, path: string, read: (row: WireObject, path: string) => T): Rows<T> {
  const values = readArray(list, path);
  const rows = values.flatMap((value, index) => {
    const rowPath = `${path}[${index}]`;
    try {
      return [read(readObject(value, rowPath), rowPath)];
    } catch (error) {
      if (error instanceof Misfit) return [];
      throw error;
    }
  });
  return { rows, dropped: values.length - rows.length };
}

function readSide(value: unknown, path: string): Rows<Offer> {
  if (value == null) return { rows: [], dropped: 0 };

  const entries = readArray(value, path);
  const rows = entries.flatMap((entry) => {
    if (!Array.isArray(entry) || entry.length !== 2) return [];
    const [price, quantity] = entry.map(toFiniteNumber);
    return price === undefined || quantity === undefined ? [] : [{ price, quantity }];
  });
  return { rows, dropped: entries.length - rows.length };
}

function readIds(row: WireObject, path: string): Pick<Pair, 'tickerId' | 'baseId' | 'targetId' | 'poolId'> {
  return {
    tickerId: readString(row['ticker_id'], `${path}.ticker_id`),
    baseId: readTokenId(row['base_id'], `${path}.base_id`),
    targetId: readTokenId(row['target_id'], `${path}.target_id`),
    poolId: readString(row['pool_id'], `${path}.pool_id`),
  };
}
