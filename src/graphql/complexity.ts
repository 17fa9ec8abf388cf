import { type GraphQLField, getNamedType, getNullableType, isLeafType, isListType } from 'graphql';

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

/** How many objects a list without a page size counts as. */
export const ASSUMED_LIST_SIZE = 100;

/** What one value counts as, beside the object that holds it: most objects have about twenty. */
export const VALUE = 1 / 20;

/** What reading the exchange at an earlier height counts as. */
const EARLIER_HEIGHT = 100;

/** What looking through all pools counts as, however few of them are wanted. */
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

/** The complexity of a list without a page size that really has so many entries now. */
export function listOf(actual: number | undefined): Complexity {
  return { field: 1, multiplier: 1, isList: true, ...(actual !== undefined && { actual }) };
}

/** The same for a field that may be read at an earlier height. */
export function objectsAt(count: number, at: unknown): Complexity {
  const { field, multiplier } = objects(count);
  return { field: field + (at == null ? 0 : EARLIER_HEIGHT), multiplier };
}

/** The complexity of a page of pools: all are put in order to find those that it shows. */
export function pageOfPools(size: number, at: unknown): Complexity {
  const { field, multiplier } = objectsAt(size, at);
  return { field: field + ALL_POOLS, multiplier };
}

/** The complexity of an order book, whose sides hold half of its depth each; 0 is everything. */
export function orderBook(depth: number): Complexity {
  return { field: ORDER_BOOK, multiplier: 1, entries: Math.max(0, depth || ASSUMED_ENTRIES) / 2 };
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
