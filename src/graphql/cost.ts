import { type DocumentNode, type GraphQLSchema, getOperationAST } from 'graphql';
import { ASSUMED_LIST_SIZE, VALUE } from './complexity.ts';
import { countSentValues } from './input-values.ts';
import type { Inputs } from './inputs.ts';
import { type Limits, requireAtMost } from './limits.ts';
import type { SelectionCost } from './selection-cost.ts';
import { createWalk, type FixedCosts, type Means } from './selection-walk.ts';

/** An operation that is about to be executed. */
export type Operation = {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: Readonly<Record<string, unknown>> | null | undefined;
  readonly contextValue: object;
};

/** What is known of an operation that is not refused, before it is executed. */
export type OperationCost = {
  /** About how many objects one answer of it holds; those of the schema count as values. */
  readonly complexity: number;
  /** About how many values one answer of it holds. */
  readonly values: number;
};

/**
 * Makes what refuses operations that ask for too much, before anything of them is executed. What counts is the operation that is
 * selected, with its variables. A selection without arguments and aliases costs the same each time, and is measured once for
 * all operations of its document.
 *
 * @returns what measures an operation @throws QueryTooComplexError
 */
export function createCostMeasure(limits: Limits, inputs: Inputs): (operation: Operation) => OperationCost {
  const fixed: FixedCosts = new WeakMap();

  return (operation) => {
    const cost = measure(operation, { limits, inputs, fixed });
    if (cost === undefined) return { complexity: costOfSent(operation), values: 0 };

    requireAtMost(limits.maxDepth, cost.depth, 'The selection depth of the operation');
    requireAtMost(limits.maxComplexity, cost.objects, 'The complexity of the operation');
    requireAtMost(limits.maxValues, cost.values, 'The estimated number of values in the response');
    requireAtMost(
      limits.maxSchemaObjects,
      cost.schemaObjects,
      'The estimated number of schema objects in the response',
    );
    requireAtMost(
      limits.maxHeightsPerOperation,
      cost.heights,
      'The number of beacon heights in addition to the current one',
    );
    return { complexity: cost.objects + cost.schemaObjects * VALUE, values: cost.values };
  };
}

/** What the variables of an operation cost that is not executed: reading them, and reporting what is wrong with them. */
export function costOfSent({ variableValues }: Operation): number {
  return countSentValues(variableValues) * VALUE;
}

type Cost = Pick<SelectionCost, 'objects' | 'schemaObjects' | 'values' | 'depth'> & { readonly heights: number };

/** What an operation asks for; `undefined` for one that cannot be executed anyway. */
function measure(operation: Operation, means: Means): Cost | undefined {
  const { schema, document, operationName } = operation;
  const selected = getOperationAST(document, operationName);
  const rootType = selected && schema.getRootType(selected.operation);
  if (selected == null || rootType == null) return undefined;

  const { variableValues: variables } = means.inputs.variablesOf(schema, selected, operation.variableValues);
  if (variables === undefined) return undefined;

  const heights = new Set<number>();
  const walk = createWalk(operation, variables, { ...means, heights });
  const cost = walk(selected.selectionSet, rootType);
  return {
    ...cost,
    objects: cost.objects + cost.objectsPerEntry * ASSUMED_LIST_SIZE,
    values: cost.values + cost.valuesPerEntry * ASSUMED_LIST_SIZE,
    heights: heights.size,
  };
}
