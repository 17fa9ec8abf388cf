import type { Pair, Ticker } from '../../domain/market.ts';
import { createSievedReader, type Reader } from '../decode.ts';
import { Misfit, readArray, readObject } from '../wire.ts';
import { readPair, readTicker } from './decode.ts';

/** What could be read of a list, and how many of its rows could not. */
export type Rows<T> = { readonly rows: readonly T[]; readonly dropped: number };

/** Reads a list: its rows as they come, then what stands around them. */
export type RowsReader<T> = {
  /** The list begins. A document can have it twice: then the last counts. */
  begin(): void;
  add(value: unknown): void;
  /** @throws Misfit where the answer holds no list; a 200 without one is no success */
  end(document: unknown): Rows<T>;
};

/** What is kept beside the rows: no more than a message. */
const MAX_DOCUMENT_BYTES = 2 ** 20;

/**
 * Makes the reader of a list with that name.
 *
 * A row that cannot be read is no reason to lose the others. One that says what the row at its place said before is that
 * row, and where all are, the list is that list: what has not changed is then in memory once, and is told by identity.
 *
 * @param read decodes one row, or throws Misfit
 */
export function createRowsReader<T extends object>(
  name: string,
  read: (value: unknown) => T,
  previous: readonly T[] = [],
): RowsReader<T> {
  let rows: T[] = [];
  let dropped = 0;
  let isSame = true;

  return {
    begin() {
      rows = [];
      dropped = 0;
      isSame = true;
    },
    add(value) {
      try {
        const row = read(value);
        const before = previous[rows.length];
        const isKnown = before !== undefined && saysTheSame(row, before);
        rows.push(isKnown ? before : row);
        isSame &&= isKnown;
      } catch (error) {
        if (!(error instanceof Misfit)) throw error;
        dropped += 1;
      }
    },
    end(document) {
      readArray(readObject(document, '$')[name], `$.${name}`);
      return { rows: isSame && rows.length === previous.length ? previous : rows, dropped };
    },
  };
}

/** Makes the reader of an answer of `/pairs`. @param previous what it is compared with */
export function createPairsReader(previous?: readonly Pair[]): Reader<Rows<Pair>> {
  return readAsItComes('pairs', createRowsReader('pairs', readPair, previous));
}

/** Makes the reader of an answer of `/tickers`. @param previous what it is compared with */
export function createTickersReader(previous?: readonly Ticker[]): Reader<Rows<Ticker>> {
  return readAsItComes('tickers', createRowsReader('tickers', readTicker, previous));
}

function readAsItComes<T>(name: string, { begin, add, end }: RowsReader<T>): Reader<Rows<T>> {
  return createSievedReader({ keep: [], list: { name, begin, add }, maxBytes: MAX_DOCUMENT_BYTES }, end);
}

/** Rows of one list have the same fields, each a text, a number or `undefined`. */
function saysTheSame<T extends object>(row: T, before: T): boolean {
  for (const field in row) if (!Object.is(row[field], before[field])) return false;
  return true;
}
