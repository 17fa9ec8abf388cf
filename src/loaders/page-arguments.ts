import type { BeaconHeight } from '../domain/beacon-height.ts';
import { type Cursor, parseCursor } from '../domain/cursor.ts';
import type { PageRequest } from '../domain/page.ts';
import { BadUserInputError } from '../errors.ts';

/** How a client asks for a page, after Relay, at the height that it or a cursor names. */
export type PageArguments = {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
  readonly at?: BeaconHeight | null | undefined;
};

const DEFAULT_PAGE_SIZE = 50;

/** Reads which page is wanted of the list of that filter and order. @throws BadUserInputError */
export function readPageArguments(
  args: PageArguments,
  list: Pick<Cursor, 'filter' | 'order'>,
  maxPageSize: number,
): PageRequest {
  if (args.first != null && args.last != null) throw new BadUserInputError('Give first or last, not both.');

  return {
    after: readCursor('after', args.after, list)?.position,
    before: readCursor('before', args.before, list)?.position,
    size: readSize(args, maxPageSize),
    fromEnd: args.last != null,
  };
}

/**
 * The height that the arguments name, `undefined` for none: the next page of a list is read where the last one was.
 *
 * @throws BadUserInputError where `at` and the cursors name different ones
 */
export function agreeOnHeight({ at, after, before }: PageArguments): BeaconHeight | undefined {
  const cursors = [after, before].flatMap((text) => (text == null ? [] : [parseCursor(text)?.beaconHeight]));
  const heights = new Set(at == null ? cursors : [at, ...cursors]);
  if (heights.size > 1) throw new BadUserInputError('A cursor belongs to its height: it cannot be used with another.');

  return [...heights][0];
}

function readSize({ first, last }: PageArguments, maxPageSize: number): number {
  const size = first ?? last ?? Math.min(DEFAULT_PAGE_SIZE, maxPageSize);
  const name = first == null ? 'last' : 'first';
  if (size < 0) throw new BadUserInputError(`${name} is ${size}: a page cannot have less than 0 entries.`);
  if (size > maxPageSize) throw new BadUserInputError(`${name} is ${size}: a page has ${maxPageSize} entries at most.`);
  return size;
}

function readCursor(
  name: string,
  text: string | null | undefined,
  list: Pick<Cursor, 'filter' | 'order'>,
): Cursor | undefined {
  if (text == null) return undefined;

  const cursor = parseCursor(text);
  if (cursor === undefined) throw new BadUserInputError(`${name} is no cursor of this gateway.`);
  if (cursor.filter !== list.filter || cursor.order !== list.order) {
    throw new BadUserInputError(`${name} is the cursor of a list with another filter or order.`);
  }
  return cursor;
}
