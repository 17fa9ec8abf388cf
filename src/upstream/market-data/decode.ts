import { parseExactDecimal } from '../../domain/exact-decimal.ts';
import type { Pair, Ticker } from '../../domain/market.ts';
import type { Offer, RawOrderBook } from '../../domain/order-book.ts';
import type { ResponseReader } from '../body.ts';
import { NumberText } from '../json.ts';
import { createRowsReader, type Rows } from '../rows.ts';
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

/** Creates the reader of a response of `/pairs`. @param previous the rows of the response before */
export function createPairsReader(previous?: readonly Pair[]): ResponseReader<Rows<Pair>> {
  return createRowsReader({ name: 'pairs', read: readPair, previous });
}

/** Creates the reader of a response of `/tickers`. @param previous the rows of the response before */
export function createTickersReader(previous?: readonly Ticker[]): ResponseReader<Rows<Ticker>> {
  return createRowsReader({ name: 'tickers', read: readTicker, previous });
}

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
 * Decodes a response of `/orderbook`, whose numbers may be {@link NumberText}. A side that is null is empty.
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
    const [price, quantity] = entry.map(readDecimal);
    if (price === undefined || quantity === undefined) return [];
    return [{ price: price.number, quantity: quantity.number, priceText: price.text, quantityText: quantity.text }];
  });
  return { rows, dropped: entries.length - rows.length };
}

/** A number as a double, and as the host wrote it unless that is the shortest text of the double. */
type WrittenNumber = { readonly number: number; readonly text?: string };

/** Reads a number of a document; `undefined` for anything else, and for a number that is too long to compute with. */
function readDecimal(value: unknown): WrittenNumber | undefined {
  const written = value instanceof NumberText ? value.text : typeof value === 'bigint' ? String(value) : undefined;
  const number = toFiniteNumber(written === undefined ? value : Number(written));
  if (number === undefined || written === undefined) return number === undefined ? undefined : { number };
  return parseExactDecimal(written) === undefined ? undefined : { number, text: written };
}

function readIds(row: WireObject, path: string): Pick<Pair, 'tickerId' | 'baseId' | 'targetId' | 'poolId'> {
  return {
    tickerId: readString(row['ticker_id'], `${path}.ticker_id`),
    baseId: readTokenId(row['base_id'], `${path}.base_id`),
    targetId: readTokenId(row['target_id'], `${path}.target_id`),
    poolId: readString(row['pool_id'], `${path}.pool_id`),
  };
}
