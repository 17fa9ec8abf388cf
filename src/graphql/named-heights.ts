import type { GraphQLField } from 'graphql';
import { heightOfCursor } from '../domain/page.ts';
import type { Arguments } from './execution/arguments.ts';

/** Finds the beacon heights in the value of an argument. What is no number names none. */
type FindHeights = (value: unknown) => readonly unknown[];

/** The extensions of an argument that names beacon heights. The cost of an operation counts them. */
type NamesHeights = { readonly findHeights: FindHeights };

/** Of an argument that is a height. */
export const IS_HEIGHT: NamesHeights = { findHeights: (value) => [value] };

/** Of an argument that is a cursor. */
export const IS_CURSOR: NamesHeights = { findHeights: (value) => [heightOfCursor(String(value))] };

/** Of an argument that is an id for `node`, or a list of them: the id of a pool can end with `@<height>`. */
export const IS_NODE_ID: NamesHeights = { findHeights: (value) => [value].flat().map(heightOfId) };

function heightOfId(id: unknown): number | undefined {
  const height = /@(\d+)$/.exec(String(id))?.[1];
  return height === undefined ? undefined : Number(height);
}

/** Finds the heights that the arguments of a field name; `undefined` for a field none of whose arguments can. */
export function heightFinderOf({ args }: GraphQLField<unknown, unknown>) {
  const finders = args.flatMap(({ name, extensions }) => {
    const find = extensions['findHeights'] as FindHeights | undefined;
    return find === undefined ? [] : [{ name, find }];
  });
  if (finders.length === 0) return undefined;
  return (values: Arguments): readonly number[] =>
    finders
      .flatMap(({ name, find }) => (values[name] == null ? [] : find(values[name])))
      .filter((height) => typeof height === 'number');
}
