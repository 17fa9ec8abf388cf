import { type GraphQLField, getNamedType, getNullableType, isLeafType, isListType } from 'graphql';

/** What a field adds to the complexity of an operation: its own objects, and how often what is selected in it counts. */
export type Complexity = { readonly field: number; readonly multiplier: number };

/** How many objects a list without a page size counts as. */
const ASSUMED_LIST_SIZE = 100;

/** What reading the exchange at an earlier height counts as. */
const EARLIER_HEIGHT = 100;

/** The complexity of a field that gives about that many objects. */
export function objects(count: number): Complexity {
  return { field: count, multiplier: count };
}

/** The same for a field that may be read at an earlier height. */
export function objectsAt(count: number, at: unknown): Complexity {
  return { field: count + (at == null ? 0 : EARLIER_HEIGHT), multiplier: count };
}

/** The complexity of a field that says nothing of it: a leaf is no object, a list is of some length. */
export function estimateObjects(field: GraphQLField<unknown, never>): Complexity {
  if (isLeafType(getNamedType(field.type))) return objects(0);
  return objects(isListType(getNullableType(field.type)) ? ASSUMED_LIST_SIZE : 1);
}
