import { complexityFromQuery } from '@pothos/plugin-complexity';
import { type DocumentNode, GraphQLError, type GraphQLSchema, getOperationAST, Kind } from 'graphql';
import { QueryTooComplexError } from '../errors.ts';
import type { Limits } from './limits.ts';

/** An operation that is about to be executed. */
export type Operation = {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: Readonly<Record<string, unknown>> | null | undefined;
  readonly contextValue: object;
};

/**
 * Refuses an operation that asks for too much, before anything of it is executed. What counts is the operation that is
 * selected, with its variables; each selection is measured once, so fragments that multiply cost nothing here.
 *
 * @throws QueryTooComplexError
 */
export function requireAffordable(operation: Operation, limits: Limits): void {
  const cost = measure(operation);
  if (cost === undefined) return;
  if (cost.depth > limits.maxDepth) {
    throw new QueryTooComplexError(`The operation is ${cost.depth} levels deep: ${limits.maxDepth} is the most.`);
  }
  if (cost.complexity > limits.maxComplexity) {
    throw new QueryTooComplexError(
      `The operation asks for about ${cost.complexity} objects: ${limits.maxComplexity} is the most.`,
    );
  }
}

/** How deep an operation is and about how many objects it gives; `undefined` for one that cannot be executed anyway. */
function measure({ schema, document, operationName, variableValues, contextValue }: Operation) {
  const operation = getOperationAST(document, operationName);
  if (operation == null) return undefined;

  const fragments = document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const selected: DocumentNode = { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] };
  try {
    return complexityFromQuery(selected, { schema, ctx: contextValue, variables: { ...variableValues } });
  } catch (error) {
    if (error instanceof GraphQLError) return undefined;
    throw error;
  }
}
