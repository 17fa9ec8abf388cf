import { parseJson } from './json.ts';
import { createFilteredReader } from './json-filter.ts';
import type { ResponseReader } from './response-body.ts';
import { readArray, readObject, ShapeError, type WireObject } from './wire.ts';

/** Bytes that are kept beside the rows: enough for a message. */
const MAX_KEPT_BYTES = 2 ** 20;

/** The rows of a list, and how many rows of the response could not be read, or not completely. */
export type Rows<T> = { readonly rows: readonly T[]; readonly dropped: number };

/** Receives the first part of a response that could not be read, and why. */
export type ReportUnreadable = (problem: string, example: unknown) => void;

/** How a response with a list is read. */
export type RowsOptions<T> = {
  /** The name of the list in the document. */
  readonly name: string;
  /** Decodes one row, or throws ShapeError. It reports parts of a row that it leaves out. */
  readonly read: (value: unknown, leaveOut: (problem: ShapeError) => void) => T;
  /**
   * Returns the key of a row. Of several rows with the same key, the first one counts. Rows with an empty key all count. Without this
   * function, every row counts.
   */
  readonly keyOf?: (row: T) => string;
  /** Called once at the end if not all rows could be read completely. */
  readonly report?: ReportUnreadable | undefined;
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
 * A row that cannot be read, has more than 64 KB, or is listed twice, is dropped, and the others are kept. A row that is equal to the
 * previous one at its index is replaced by it, and an unchanged list by the previous list. So whether something has changed is a
 * comparison of references.
 */
export function createRowsReader<T extends object>(options: RowsOptions<T>): ResponseReader<Rows<T>> {
  const { name, read, keyOf, report, previous = [], keep = [], check } = options;
  const keys = new Set<string>();
  let rows: T[] = [];
  let dropped = 0;
  let isSame = true;
  /** The first problem of the current row. */
  let problem: ShapeError | undefined;
  let first: { readonly problem: ShapeError; readonly row: string } | undefined;
  const leaveOut = (left: ShapeError) => {
    problem ??= left;
  };

  function add(text: string): void {
    problem = undefined;
    try {
      const row = read(parseJson(text), leaveOut);
      const key = keyOf?.(row);
      if (key && keys.has(key)) throw new ShapeError('another id in each row', `$.${name}[…]`);
      if (key) keys.add(key);
      const before = previous[rows.length];
      const isKnown = before !== undefined && areEqual(row, before);
      rows.push(isKnown ? before : row);
      isSame &&= isKnown;
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      problem = error;
    }
    if (problem !== undefined) drop(problem, text);
  }

  function drop(why: ShapeError, row: string): void {
    dropped += 1;
    first ??= { problem: why, row };
  }

  const parts = {
    name,
    isList: true,
    // A document can have the list twice. Then the last one counts.
    begin() {
      rows = [];
      keys.clear();
      dropped = 0;
      isSame = true;
      first = undefined;
    },
    take: (row: Buffer) => add(row.toString()),
    tooLong: (row: Buffer) => drop(new ShapeError('a row of at most 64 KB', `$.${name}[…]`), row.toString()),
  };

  return createFilteredReader({ keep, parts, maxBytes: MAX_KEPT_BYTES }, (value) => {
    const document = readObject(value, '$');
    check?.(document);
    readArray(document[name], `$.${name}`);
    if (first !== undefined) report?.(first.problem.message, first.row);
    return { rows: isSame && rows.length === previous.length ? previous : rows, dropped };
  });
}

/** Rows of one list have the same fields, each a string, a number, a boolean or `undefined`. */
function areEqual<T extends object>(row: T, before: T): boolean {
  for (const field in row) if (!Object.is(row[field], before[field])) return false;
  return true;
}
