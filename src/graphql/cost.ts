import { complexityFromQuery } from '@pothos/plugin-complexity';
import { type DocumentNode, GraphQLError, type GraphQLSchema, getOperationAST, separateOperations } from 'graphql';
import { QueryTooComplexError } from '../errors.ts';
import { namedHeights } from './heights.ts';
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

  requireAtMost(limits.maxDepth, cost.depth, 'levels of selections');
  requireAtMost(limits.maxComplexity, cost.complexity, 'objects, as complexity counts them');
  requireAtMost(limits.maxHeightsPerOperation, cost.heights, 'heights beside the current one');
}

type Cost = { readonly depth: number; readonly complexity: number; readonly heights: number };

/** What an operation asks for; `undefined` for one that cannot be executed anyway. */
function measure({ schema, document, operationName, variableValues, contextValue }: Operation): Cost | undefined {
  const operation = getOperationAST(document, operationName);
  const selected = separateOperations(document)[operation?.name?.value ?? ''];
  if (operation == null || selected === undefined) return undefined;

  const variables = { ...variableValues };
  try {
    const { depth, complexity } = complexityFromQuery(selected, { schema, ctx: contextValue, variables });
    return { depth, complexity, heights: namedHeights(selected, variables).size };
  } catch (error) {
    if (error instanceof GraphQLError) return undefined;
    throw error;
  }
}

function requireAtMost(limit: number, wanted: number, what: string): void {
  if (wanted > limit) throw new QueryTooComplexError(`The operation asks for ${wanted} ${what}: ${limit} is the most.`);
}
