import type { Pair, Ticker } from '../../domain/market.ts';
import type { ResponseReader } from '../body.ts';
import { parseJson } from '../json.ts';
import { createFilteredReader } from '../json-filter.ts';
import { readArray, readObject, ShapeError } from '../wire.ts';
import { type Rows, readPair, readTicker } from './decode.ts';

/** Bytes that are kept beside the rows: enough for a message. */
const MAX_KEPT_BYTES = 2 ** 20;

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
