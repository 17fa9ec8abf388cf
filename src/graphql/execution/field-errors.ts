import { type FieldNode, GraphQLError, locatedError } from 'graphql';
import { MAX_ERRORS, TooManyErrorsError, withoutStacks } from '../../errors.ts';

/** A path in the answer, from its end to its start; `undefined` is the answer itself. */
export type Place = { readonly around: Place | undefined; readonly key: string | number } | undefined;

/** What went wrong in one answer, in the order in which it did: the first errors, and how many came after them. */
export type FieldErrors = { readonly reported: GraphQLError[]; more: number };

/** No errors yet. */
export function createFieldErrors(): FieldErrors {
  return { reported: [], more: 0 };
}

/** Whether nothing went wrong. */
export function hasNone({ reported, more }: FieldErrors): boolean {
  return reported.length === 0 && more === 0;
}

/**
 * The error with its place in the answer, as it is thrown on to where null may stand.
 *
 * @returns the error itself where it has a place, or would not be reported anyway
 */
export function placeFieldError(
  errors: FieldErrors,
  error: unknown,
  nodes: readonly FieldNode[] | undefined,
  place: Place,
): unknown {
  if (errors.reported.length >= MAX_ERRORS) return error;
  if (place === undefined && error instanceof GraphQLError) return error;
  return withoutStacks(() => locatedError(error, nodes, place && pathOf(place)));
}

/** Notes an error that has its place, or counts it where there are too many. */
export function addFieldError(errors: FieldErrors, error: unknown): void {
  if (errors.reported.length < MAX_ERRORS && error instanceof GraphQLError) errors.reported.push(error);
  else errors.more++;
}

/** The errors as the answer reports them: the first, and how many more there are. */
export function reportErrors({ reported, more }: FieldErrors): readonly GraphQLError[] {
  if (more === 0) return reported;
  const originalError = new TooManyErrorsError(more);
  return [...reported, withoutStacks(() => new GraphQLError(originalError.message, { originalError }))];
}

function pathOf(place: Place): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at = place; at !== undefined; at = at.around) path.push(at.key);
  return path.reverse();
}
