import { type GraphQLField, getNamedType, getNullableType, isLeafType, isListType } from 'graphql';
import { poolCount } from '../domain/exchange.ts';
import { DEFAULT_DEPTH, type Depth } from '../loaders/order-book.ts';
import type { Service } from './context.ts';

/** What a field adds to the complexity of an operation. */
export type Complexity = {
  /** Its own objects, and the work of finding them. */
  readonly field: number;
  /** How often what is selected in it counts. */
  readonly multiplier: number;
  /** How many entries a list directly in it has, where that is known. */
  readonly entries?: number;
  /** How many entries a list really has now: what its values are counted by, where that is known. */
  readonly actual?: number;
  /** It is a list whose length the field around it may know. */
  readonly isList?: boolean;
};

/** How many objects a list without a page size counts as at most, and as where its length is not known. */
export const ASSUMED_LIST_SIZE = 100;

/** What one value counts as, beside the object that holds it: most objects have about twenty. */
export const VALUE = 1 / 20;

/** What reading the exchange at an earlier height counts as. */
const EARLIER_HEIGHT = 100;

/** What looking through all pools counts as at most, however few of them are wanted. */
const ALL_POOLS = 100;

/** What asking the market-data host for an order book counts as. */
const ORDER_BOOK = 50;

/** How many entries a whole order book counts as, both sides together. */
const ASSUMED_ENTRIES = 500;

/** The complexity of a field that gives about that many objects. A count below 0 is refused later, and 0 here. */
export function objects(count: number): Complexity {
  const size = Math.max(0, count);
  return { field: size, multiplier: size };
}

/** The same for a field that gives about that many, and really so many now. */
export function objectsOf(count: number, actual: number | undefined): Complexity {
  return { ...objects(count), ...(actual !== undefined && { actual }) };
}

/**
 * The complexity of a list without a page size: its length now, where that is known, but no more than `most` objects. What
 * a longer list really has counts as values.
 */
export function listOf(actual: number | undefined, most: number = ASSUMED_LIST_SIZE): Complexity {
  return objectsOf(Math.min(most, actual ?? most), actual);
}

/** The complexity of about that many objects that may be read at an earlier height. */
export function objectsAt(count: number, at: unknown): Complexity {
  const { field, multiplier } = objects(count);
  return { field: field + (at == null ? 0 : EARLIER_HEIGHT), multiplier };
}

/** A page of pools, as its arguments describe it. */
export type PageOfPools = {
  readonly size: number;
  /** Whether all pools are looked at to make the list: for a filter, or for an order other than that of ids. */
  readonly isMade: boolean;
  /** How many pools there are now; `undefined` where that is not known, or at an earlier height. */
  readonly pools: number | undefined;
  readonly at?: unknown;
};

/** The complexity of a page of pools: no more pools than there are, and the work of making the list. */
export function pageOfPools({ size, isMade, pools = Number.POSITIVE_INFINITY, at }: PageOfPools): Complexity {
  const { field, multiplier } = objectsAt(Math.min(size, pools), at);
  return { field: field + (isMade ? Math.min(ALL_POOLS, pools) : 1), multiplier };
}

/** The complexity of a price from a pool: the pool has to be found for it, as for a field that gives the pool itself. */
export const POOL_PRICE: Complexity = objects(1);

/** The complexity of an order book, whose sides hold half of its depth each; 0 is everything. */
export function orderBook(depth: Depth): Complexity {
  const entries = (depth ?? DEFAULT_DEPTH) || ASSUMED_ENTRIES;
  return { field: ORDER_BOOK, multiplier: 1, entries: Math.max(0, entries) / 2 };
}

/** The complexity of a field that says nothing of it: a leaf is a value, a list is of some length. */
export function estimateObjects(field: GraphQLField<unknown, never>): Complexity {
  if (isLeafType(getNamedType(field.type))) return { field: VALUE, multiplier: 0 };
  return { field: 1, multiplier: 1, isList: isListType(getNullableType(field.type)) };
}

/** {@link estimateObjects} as fields declare it: it depends on nothing but the field. */
export function estimateField(_args: unknown, _context: unknown, field: GraphQLField<unknown, never>): Complexity {
  return estimateObjects(field);
}

/** How many pools the newest state has; `undefined` while there is none. */
export function poolsNow({ sources }: Service): number | undefined {
  const head = sources.head.current();
  return head && poolCount(head.exchange);
}
