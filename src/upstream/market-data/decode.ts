import type { Pair, Ticker } from '../../domain/market.ts';
import type { Offer, RawOrderBook } from '../../domain/order-book.ts';
import type { ResponseReader } from '../body.ts';
import { parseJson } from '../json.ts';
import { createFilteredReader } from '../json-filter.ts';
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

/** Bytes that are kept beside the rows: enough for a message. */
const MAX_KEPT_BYTES = 2 ** 20;

/** The rows of a list, and how many rows of the response could not be read. */
export type Rows<T> = { readonly rows: readonly T[]; readonly dropped: number };

/** Creates the reader of a response of `/pairs`. @param previous the rows of the response before */
export function createPairsReader(previous?: readonly Pair[]): ResponseReader<Rows<Pair>> {
  return createRowsReader('pairs', readPair, previous);
}

/** Creates the reader of a response of `/tickers`. @param previous the rows of the response before */
export function createTickersReader(previous?: readonly Ticker[]): ResponseReader<Rows<Ticker>> {
  return createRowsReader('tickers', readTicker, previous);
}

/**
 * Creates the reader of a response with a list of that name. Its rows are read one by one while they arrive.
 *
 * A row that cannot be read is dropped, and the others are kept. A row that is equal to the previous one at its index is
 * replaced by it, and an unchanged list by the previous list. So whether something has changed is a comparison of references.
 *
 * @param read decodes one row, or throws ShapeError
 */
function createRowsReader<T extends object>(
  name: string,
  read: (value: unknown) => T,
  previous: readonly T[] = [],
): ResponseReader<Rows<T>> {
  let rows: T[] = [];
  let dropped = 0;
  let isSame = true;

  function add(value: unknown): void {
    try {
      const row = read(value);
      const before = previous[rows.length];
      const isKnown = before !== undefined && areEqual(row, before);
      rows.push(isKnown ? before : row);
      isSame &&= isKnown;
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      dropped += 1;
    }
  }

  const parts = {
    name,
    isList: true,
    // A document can have the list twice. Then the last one counts.
    begin() {
      rows = [];
      dropped = 0;
      isSame = true;
    },
    take: (row: Buffer) => add(parseJson(row.toString())),
  };

  return createFilteredReader({ keep: [], parts, maxBytes: MAX_KEPT_BYTES }, (document) => {
    readArray(readObject(document, '$')[name], `$.${name}`);
    return { rows: isSame && rows.length === previous.length ? previous : rows, dropped };
  });
}

/** Rows of one list have the same fields, each a string, a number or `undefined`. */
function areEqual<T extends object>(row: T, before: T): boolean {
  for (const field in row) if (!Object.is(row[field], before[field])) return false;
  return true;
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
