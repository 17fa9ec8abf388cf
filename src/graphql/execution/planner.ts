import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { QueryTooComplexError, withoutStacks } from '../../errors.ts';
import type { Limits } from '../limits.ts';
import { type Arguments, findLargeObject } from './arguments.ts';
import { compile } from './compile.ts';
import type { OperationPlan } from './plan.ts';

/** A valid document, with what is known of its operations. */
export type ValidDocument = {
  readonly document: DocumentNode;
  /** Selects an operation; `undefined` if the document has no such operation, or several and none is named. */
  operation(name: string | null | undefined): KnownOperation | undefined;
};

/** One operation of a valid document. */
export type KnownOperation = {
  /** Unique in this process. */
  readonly id: number;
  readonly document: DocumentNode;
  readonly definition: OperationDefinitionNode;
  /** The variables that decide what is selected. */
  readonly conditions: readonly string[];
  /** Whether its document is cached, so that its plan can be used again. */
  readonly isCached: boolean;
};

/** An operation with the variables of one request, ready to be executed. */
export type PlannedOperation = {
  readonly plan: OperationPlan;
  /** The arguments that contain variables, as the plan refers to them. */
  readonly args: readonly Arguments[];
  /** The variables, coerced. */
  readonly variables: Arguments;
};

/** A plan, the errors of variables that do not fit their types, or why the operation is too complex. */
export type Planned =
  | PlannedOperation
  | { readonly errors: readonly GraphQLError[]; readonly plan?: never }
  | { readonly excess: QueryTooComplexError; readonly errors?: never; readonly plan?: never };

/** Plans operations. A plan is compiled once for all requests with the same cached document and the same conditions. */
export type Planner = {
  plan(operation: KnownOperation, variables: Readonly<Record<string, unknown>> | null | undefined): Planned;
};

/** What a planner needs. */
type PlannerOptions = {
  readonly schema: GraphQLSchema;
  readonly limits: Pick<Limits, 'maxDepth' | 'maxNesting' | 'maxSiblings'>;
};

/** Maximum number of fields in all cached plans. */
const MAX_CACHED_FIELDS = 50_000;

/** Each error of a variable quotes its value, which can be nearly all of a large request. */
const FEW_ERRORS = { maxErrors: 5, hideSuggestions: true };

/** Creates a planner with an empty cache. */
export function createPlanner({ schema, limits }: PlannerOptions): Planner {
  type Compiled = { readonly plan: OperationPlan } | { readonly excess: QueryTooComplexError; readonly plan?: never };
  const cache = new LRUCache<string, Compiled>({
    maxSize: MAX_CACHED_FIELDS,
    sizeCalculation: ({ plan }) => 1 + (plan?.size ?? 0),
  });

  function compileOnce(operation: KnownOperation, variables: Parameters<typeof compile>[0]['variables']): Compiled {
    const { id, document, definition, conditions, isCached } = operation;
    const key = conditions.length === 0 ? `${id}` : `${id}:${conditions.map((name) => variables.coerced[name])}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const compiled = orExcess(() => compile({ schema, document, operation: definition, variables, limits }));
    if (isCached) cache.set(key, compiled);
    return compiled;
  }

  return {
    plan(operation, sent) {
      const definitions = operation.definition.variableDefinitions ?? [];
      const largeObject = findLargeObject(definitions, sent ?? {});
      if (largeObject !== undefined) return { errors: [largeObject] };
      const read = withoutStacks(() => getVariableValues(schema, definitions, sent ?? {}, FEW_ERRORS));
      if (read.errors !== undefined) return { errors: read.errors };
      const { variableValues } = read;
      const compiled = compileOnce(operation, variableValues);
      if (compiled.plan === undefined) return compiled;
      const { plan } = compiled;
      return { plan, args: plan.readArguments(variableValues), variables: variableValues.coerced };
    },
  };
}

function orExcess(makePlan: () => OperationPlan) {
  try {
    return { plan: makePlan() };
  } catch (error) {
    if (error instanceof QueryTooComplexError) return { excess: error };
    throw error;
  }
}

let operations = 0;

/** What is known of the operations of a valid document, found out when an operation is first selected. */
export function createValidDocument(document: DocumentNode, isCached = true): ValidDocument {
  const known = new Map<OperationDefinitionNode, KnownOperation>();

  return {
    document,
    operation(name) {
      const definition = getOperationAST(document, name);
      if (definition == null) return undefined;
      const before = known.get(definition);
      if (before !== undefined) return before;
      const operation = {
        id: operations++,
        document,
        definition,
        conditions: findConditions(document, definition),
        isCached,
      };
      known.set(definition, operation);
      return operation;
    },
  };
}

/** The variables of an operation that directives use, and that therefore decide what is selected. */
function findConditions(document: DocumentNode, operation: OperationDefinitionNode): readonly string[] {
  const names = new Set<string>();
  visit(document, {
    Directive(node) {
      for (const { value } of node.arguments ?? []) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return (operation.variableDefinitions ?? [])
    .map(({ variable }) => variable.name.value)
    .filter((name) => names.has(name));
}
