import type { GraphQLField } from 'graphql';
import { BadUserInputError } from '../errors.ts';

type AnyField = Pick<GraphQLField<unknown, never>, 'extensions'>;
type Arguments = Readonly<Record<string, unknown>>;

/**
 * Finds an error in the arguments of a field: a value that its scalar could not parse, or one that the field refuses.
 *
 * A scalar that throws would fail the whole operation before it starts. The scalars of this schema return the error as the
 * value instead, and only the field with the argument fails. The extension `refuse` of a field is a function that throws
 * BadUserInputError for the arguments that the field refuses. Arguments are checked once, not for each object of a list.
 */
export function findBadInput({ extensions: { refuse } }: AnyField, args: Arguments): Error | undefined {
  const badScalar = findBadScalar(args, '');
  if (badScalar !== undefined || refuse === undefined) return badScalar;
  try {
    (refuse as (args: Arguments) => unknown)(args);
    return undefined;
  } catch (error) {
    if (error instanceof BadUserInputError) return error;
    throw error;
  }
}

/** The error of the first value that its scalar could not parse, with the name of the argument, such as `filter.tokenId`. */
function findBadScalar(value: unknown, path: string): BadUserInputError | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (value instanceof BadUserInputError) return new BadUserInputError(`${path} is not valid. ${value.message}`);
  // A list can have tens of thousands of entries, each of which takes ten times as long with `for (… in …)` and a path.
  for (const name of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const inside = (value as Arguments)[name];
    if (typeof inside !== 'object') continue;
    const badInput = findBadScalar(inside, path === '' ? `${name}` : `${path}.${name}`);
    if (badInput !== undefined) return badInput;
  }
  return undefined;
}
