import type { ResponseReader } from './body.ts';
import { parseJson } from './json.ts';
import { createFilteredReader } from './json-filter.ts';
import { readArray, readObject, ShapeError, type WireObject } from './wire.ts';

/** Bytes that are kept beside the rows: enough for a message. */
const MAX_KEPT_BYTES = 2 ** 20;

/** The rows of a list, and how many rows of the response could not be read. */
export type Rows<T> = { readonly rows: readonly T[]; readonly dropped: number };

/** How a response with a list is read. */
type RowsOptions<T> = {
  /** The name of the list in the document. */
  readonly name: string;
  /** Decodes one row, or throws ShapeError. */
  readonly read: (value: unknown) => T;
  /** The rows of the response before. */
  readonly previous?: readonly T[] | undefined;
  /** The other members of the document that `check` needs. */
  readonly keep?: readonly string[];
  /** Checks the other members. @throws ShapeError */
  readonly check?: (document: WireObject) => void;
};

/**
 * Creates the reader of a response with a list. Its rows are read one by one while they arrive.
 *
 * A row that cannot be read is dropped, and the others are kept. A row that is equal to the previous one at its index is
 * replaced by it, and an unchanged list by the previous list. So whether something has changed is a comparison of references.
 */
export function createRowsReader<T extends object>(options: RowsOptions<T>): ResponseReader<Rows<T>> {
  const { name, read, previous = [], keep = [], check } = options;
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

  return createFilteredReader({ keep, parts, maxBytes: MAX_KEPT_BYTES }, (value) => {
    const document = readObject(value, '$');
    check?.(document);
    readArray(document[name], `$.${name}`);
    return { rows: isSame && rows.length === previous.length ? previous : rows, dropped };
  });
}

/** Rows of one list have the same fields, each a string, a number, a boolean or `undefined`. */
function areEqual<T extends object>(row: T, before: T): boolean {
  for (const field in row) if (!Object.is(row[field], before[field])) return false;
  return true;
}
