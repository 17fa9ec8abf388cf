import {
  GraphQLError,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  getDirectiveValues,
  type SelectionNode,
  type VariableValues,
} from 'graphql';

/** How many characters of what a client gives count as a value. */
const CHARACTERS_OF_A_VALUE = 10;

/** Whether a selection is made, as `@skip` and `@include` have it. */
export function isIncluded(selection: SelectionNode, variables: VariableValues): boolean {
  if (!selection.directives?.length) return true;
  const [skip, include] = [GraphQLSkipDirective, GraphQLIncludeDirective].map((directive) =>
    unlessBad(() => getDirectiveValues(directive, selection, variables)),
  );
  return skip?.['if'] !== true && include?.['if'] !== false;
}

function unlessBad<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof GraphQLError) return undefined;
    throw error;
  }
}

/**
 * How many values a client gives: those in a list or an object, at all levels. Texts count by their length, because they
 * come back in answers and errors.
 */
export function countValues(value: unknown): number {
  if (typeof value === 'string') return value.length / CHARACTERS_OF_A_VALUE;
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  for (const name in value) count += 1 + countValues((value as Readonly<Record<string, unknown>>)[name]);
  return count;
}

/** The same for variables as a client sends them: they can be nested as deeply as their JSON. */
export function countSentValues(variables: Readonly<Record<string, unknown>> | null | undefined): number {
  let count = 0;
  const left: unknown[] = [variables];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string') count += value.length / CHARACTERS_OF_A_VALUE;
    if (typeof value !== 'object' || value === null) continue;
    for (const name in value) {
      count += 1;
      left.push((value as Readonly<Record<string, unknown>>)[name]);
    }
  }
  return count;
}
