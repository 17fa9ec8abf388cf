import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { PageRequest } from '../domain/page.ts';
import { type Cursor, parseCursor } from '../domain/page.ts';
import { BadUserInputError } from '../errors.ts';
import { requireAtLeast, requireWithin } from './argument-ranges.ts';

/** The arguments of a page, as defined by the Relay connection specification, and the height to read. */
export type PageArguments = {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
  readonly at?: BeaconHeight | null | undefined;
};

/** The size of a page without `first` and `last`. */
export const DEFAULT_PAGE_SIZE = 50;

/** A page, and the height to read; `undefined` for the height of the response. */
type PageAtHeight = { readonly request: PageRequest; readonly at: BeaconHeight | undefined };

/**
 * Reads the arguments of a page of a list with that filter and order. A cursor names the height of the page that it is from.
 *
 * @throws BadUserInputError for a size or cursor that is not valid, and if `at` and the cursors name different heights
 */
export function readPageArguments(
  args: PageArguments,
  list: Pick<Cursor, 'filter' | 'order'>,
  maxPageSize: number,
): PageAtHeight {
  if (args.first != null && args.last != null) throw new BadUserInputError('Set first or last, not both.');

  const after = readCursor('after', args.after, list);
  const before = readCursor('before', args.before, list);
  const size = readPageSize(args, maxPageSize);
  const request = { after: after?.position, before: before?.position, size, fromEnd: args.last != null };
  return { request, at: agreeOnHeight([args.at, after?.beaconHeight, before?.beaconHeight]) };
}

function agreeOnHeight(named: readonly (BeaconHeight | null | undefined)[]): BeaconHeight | undefined {
  const [height, ...others] = named.filter((each) => each != null);
  if (others.every((other) => other === height)) return height;
  throw new BadUserInputError('The cursor belongs to another beacon height.');
}

/** The size of a page. @throws BadUserInputError for a negative size, and above the maximum */
export function readPageSize(
  { first, last }: Pick<PageArguments, 'first' | 'last'>,
  maxPageSize: number,
  defaultSize = DEFAULT_PAGE_SIZE,
): number {
  const size = first ?? last ?? Math.min(defaultSize, maxPageSize);
  const name = first == null ? 'last' : 'first';
  requireAtLeast(0, name, size);
  requireWithin(maxPageSize, name, size);
  return size;
}

function readCursor(
  name: string,
  text: string | null | undefined,
  list: Pick<Cursor, 'filter' | 'order'>,
): Cursor | undefined {
  if (text == null) return undefined;

  const cursor = parseCursor(text);
  if (cursor === undefined) throw new BadUserInputError(`${name} is not a valid cursor.`);
  if (cursor.filter !== list.filter || cursor.order !== list.order) {
    throw new BadUserInputError(`${name} is a cursor from a list with another filter or order.`);
  }
  return cursor;
}
