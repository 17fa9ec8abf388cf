import type { Pair, Ticker } from '../../domain/market.ts';
import type { Offer, RawOrderBook } from '../../domain/order-book.ts';
import {
  readArray,
  readObject,
  readString,
  readTimestamp,
  readTokenId,
  ShapeError,
  toFiniteNumber,
  type WireObject,
} from '../wire.ts';

/** The rows of a list, and how many rows of the response could not be read. */
export type Rows<T> = { readonly rows: readonly T[]; readonly dropped: number };

/** Decodes one row of `/pairs`. @throws ShapeError */
export function readPair(value: unknown): Pair {
  const path = '$.pairs[…]';
  const row = readObject(value, path);
  return {
    ...readIds(row, path),
    base: readString(row['base'], `${path}.base`),
    target: readString(row['target'], `${path}.target`),
  };
}

/** Decodes one row of `/tickers`. @throws ShapeError */
export function readTicker(value: unknown): Ticker {
  const path = '$.tickers[…]';
  const row = readObject(value, path);
  return {
    ...readIds(row, path),
    base: readString(row['base_currency'], `${path}.base_currency`),
    target: readString(row['target_currency'], `${path}.target_currency`),
    lastPrice: toFiniteNumber(row['last_price']),
    baseVolume: toFiniteNumber(row['base_volume']),
    targetVolume: toFiniteNumber(row['target_volume']),
  };
}

/**
 * Decodes a response of `/orderbook`. A side that is null is empty.
 *
 * @returns `undefined` for a response without sides, or with empty sides and without the other fields: a host may send that
 *   for an unknown ticker
 * @throws ShapeError
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
    if (isEmpty && error instanceof ShapeError) return undefined;
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
