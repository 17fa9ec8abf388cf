import type { BeaconHeight } from '../domain/beacon-height.ts';
import { type Cursor, type PageRequest, parseCursor } from '../domain/page.ts';
import { BadUserInputError } from '../errors.ts';

/** @throws BadUserInputError for a number below the minimum, and for infinity, which a literal such as `1e400` is */
export function requireAtLeast(min: number, name: string, value: number | null | undefined): void {
  if (value == null || (value >= min && value < Number.POSITIVE_INFINITY)) return;
  const expected = value < min ? `${min} or greater` : 'finite';
  throw new BadUserInputError(`${name} is ${value}. It must be ${expected}.`);
}

/** @throws BadUserInputError for a number above a limit of this gateway */
export function requireWithin(max: number, name: string, value: number): void {
  if (value <= max) return;
  throw new BadUserInputError(`${name} is ${value}. The maximum is ${max}.`);
}

/** @throws BadUserInputError for a number below the minimum or above the maximum */
export function requireBetween(min: number, max: number, name: string, value: number | null | undefined): void {
  if (value == null || (value >= min && value <= max)) return;
  throw new BadUserInputError(`${name} is ${value}. It must be from ${min} to ${max}.`);
}

/** The arguments of a field, as a client sends them: it can omit each of them, or set it to null. */
export type SentArguments<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

/** The arguments of a page, as defined by the Relay connection specification, and the height to read. */
export type PageArguments = SentArguments<{
  first: number;
  after: string;
  last: number;
  before: string;
  at: BeaconHeight;
}>;

/** The size of a page without `first` and `last`. */
export const DEFAULT_PAGE_SIZE = 50;

/**
 * Reads the arguments of a page of a list with that filter and order. A cursor names the height of the page that it is from.
 *
 * @throws BadUserInputError for a size or cursor that is not valid, and if `at` and the cursors name different heights
 */
export function readPageArguments(
  args: PageArguments,
  list: Pick<Cursor, 'filter' | 'order'>,
  maxPageSize: number,
): { readonly request: PageRequest; readonly at: BeaconHeight | undefined } {
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
