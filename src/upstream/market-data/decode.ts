import { parseExactDecimal } from '../../domain/exact-decimal.ts';
import { isMilliseconds, TIMESTAMPS_END } from '../../domain/instant.ts';
import type { Pair, Ticker } from '../../domain/market.ts';
import type { Offer, RawOrderBook } from '../../domain/order-book.ts';
import { NumberText, parseJsonWithTexts } from '../json.ts';
import type { ReportUnreadable } from '../rows.ts';
import { readArray, readObject, readString, readTokenId, ShapeError, type WireObject } from '../wire.ts';

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

/**
 * Decodes one row of `/tickers`.
 *
 * @param leaveOut receives each figure that cannot be read
 * @throws ShapeError
 */
export function readTicker(value: unknown, leaveOut: (problem: ShapeError) => void): Ticker {
  const path = '$.tickers[…]';
  const row = readObject(value, path);
  const readFigure = (name: string) => {
    const figure = readDecimal(row[name])?.number;
    if (figure === undefined && row[name] != null) leaveOut(new ShapeError('a number', `${path}.${name}`));
    return figure;
  };
  return {
    ...readIds(row, path),
    base: readString(row['base_currency'], `${path}.base_currency`),
    target: readString(row['target_currency'], `${path}.target_currency`),
    lastPrice: readFigure('last_price'),
    baseVolume: readFigure('base_volume'),
    targetVolume: readFigure('target_volume'),
  };
}

/** Parses a response of `/orderbook`, with prices and quantities as the host wrote them. @throws SyntaxError */
export function parseOrderBook(text: string): unknown {
  return parseJsonWithTexts(text, ['price', 'quantity']);
}

/**
 * Decodes a response of `/orderbook`, whose numbers may be {@link NumberText}. A side that is null is empty, and so is a message
 * that is missing.
 *
 * @param requested the ticker id that was requested, which the response may leave out
 * @param report called if not all entries can be read
 * @returns `undefined` for a response without sides, or with empty sides and without the other fields: a host may send that
 *   for an unknown ticker
 * @throws ShapeError
 */
export function readOrderBook(
  document: unknown,
  requested: string,
  report?: ReportUnreadable,
): RawOrderBook | undefined {
  const book = readObject(document, '$');
  if (book['bids'] === undefined && book['asks'] === undefined) return undefined;
  const bids = readSide(book['bids'], '$.bids');
  const asks = readSide(book['asks'], '$.asks');
  const dropped = [...bids.dropped, ...asks.dropped];
  if (dropped.length > 0) {
    const side = bids.dropped.length > 0 ? 'bids' : 'asks';
    report?.(`expected a price and a quantity at $.${side}[…]`, dropped[0]);
  }
  const isEmpty = bids.rows.length + asks.rows.length + dropped.length === 0;
  try {
    return {
      tickerId: readString(book['ticker_id'] ?? requested, '$.ticker_id'),
      message: readString(book['message'] ?? '', '$.message'),
      timestamp: readBookTime(book['timestamp'], '$.timestamp'),
      bids: bids.rows,
      asks: asks.rows,
      entriesDropped: dropped.length,
    };
  } catch (error) {
    if (isEmpty && error instanceof ShapeError) return undefined;
    throw error;
  }
}

type Side = { readonly rows: readonly Offer[]; readonly dropped: readonly unknown[] };

function readSide(value: unknown, path: string): Side {
  const rows: Offer[] = [];
  const dropped: unknown[] = [];
  for (const entry of value == null ? [] : readArray(value, path)) {
    const offer = readOffer(entry);
    if (offer === undefined) dropped.push(entry);
    else rows.push(offer);
  }
  return { rows, dropped };
}

/** Sums of products of smaller numbers are finite. */
const NUMBERS_END = 1e100;

/** Reads `[price, quantity]`, which may have more elements, or `{price, quantity}`. */
function readOffer(entry: unknown): Offer | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const { price, quantity } = entry as WireObject;
  const [written, writtenQuantity] = Array.isArray(entry) ? entry : [price, quantity];
  const [own, other] = [readDecimal(written), readDecimal(writtenQuantity)];
  if (own === undefined || other === undefined) return undefined;
  if (Math.max(Math.abs(own.number), Math.abs(other.number)) >= NUMBERS_END) return undefined;
  return { price: own.number, quantity: other.number, priceText: own.text, quantityText: other.text };
}

/** A number as a double, and as the host wrote it unless that is the shortest text of the double. */
type WrittenNumber = { readonly number: number; readonly text?: string };

/** Reads a number, or a decimal in a string; `undefined` for anything else, and for one that is too long to compute with. */
function readDecimal(value: unknown): WrittenNumber | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? { number: value } : undefined;
  if (!(value instanceof NumberText) && typeof value !== 'bigint' && typeof value !== 'string') return undefined;

  // A string can have zeros at its start, which no number of JSON has.
  const text = (value instanceof NumberText ? value.text : String(value)).replace(/^(-?)0+(?=\d)/, '$1');
  const number = Number(text);
  if (!Number.isFinite(number) || parseExactDecimal(text) === undefined) return undefined;
  return text === String(number) ? { number } : { number, text };
}

/** The date and time of RFC 3339. Without an offset, nobody knows which moment it is. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Reads a Unix timestamp in any unit, or a date and time as Unix milliseconds. @throws ShapeError */
function readBookTime(value: unknown, path: string): number {
  const isDateTime = typeof value === 'string' && DATE_TIME.test(value);
  const timestamp = isDateTime ? Date.parse(value) : (readDecimal(value)?.number ?? Number.NaN);
  const isValid = isDateTime ? isMilliseconds(timestamp) : timestamp >= 0 && timestamp < TIMESTAMPS_END;
  if (!isValid) throw new ShapeError('a Unix timestamp', path);
  return timestamp;
}

function readIds(row: WireObject, path: string): Pick<Pair, 'tickerId' | 'baseId' | 'targetId' | 'poolId'> {
  return {
    tickerId: readString(row['ticker_id'], `${path}.ticker_id`),
    baseId: readTokenId(row['base_id'], `${path}.base_id`),
    targetId: readTokenId(row['target_id'], `${path}.target_id`),
    poolId: readString(row['pool_id'], `${path}.pool_id`),
  };
}
