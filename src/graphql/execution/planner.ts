import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  print,
  type VariableValues,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { orError, QueryTooComplexError } from '../../errors.ts';
import { type Limits, VALUE } from '../limits.ts';
import { type Arguments, countValues, readVariables } from './arguments.ts';
import { createShapes } from './cached-pool.ts';
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
export type Planner = ReturnType<typeof createPlanner>;

type PlannerOptions = {
  readonly schema: GraphQLSchema;
  readonly limits: Pick<Limits, 'maxComplexity' | 'maxDepth' | 'maxNesting' | 'maxSiblings'>;
};

/** Maximum number of fields in all cached plans. */
const MAX_CACHED_FIELDS = 50_000;

/** Maximum size of one plan: a longer document is not cached, so it has another plan each time. */
const MAX_PLAN_FIELDS = 12_000;

/** A plan holds its document. This many characters of it take about as much memory as a field. */
const CHARACTERS_PER_FIELD = 20;

/** Creates a planner with an empty cache. */
export function createPlanner({ schema, limits }: PlannerOptions) {
  const cache = new LRUCache<string, OperationPlan | QueryTooComplexError>({
    maxSize: MAX_CACHED_FIELDS,
    maxEntrySize: MAX_PLAN_FIELDS,
  });
  const shapes = createShapes();

  function compileOnce(operation: KnownOperation, variables: VariableValues): OperationPlan | QueryTooComplexError {
    const { id, document, definition, conditions } = operation;
    const key = `${id}:${conditions.map((name) => variables.coerced[name])}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const options = { schema, limits, shapes, document, operation: definition, variables };
    const compiled = orError(QueryTooComplexError, () => compile(options));
    const isPlan = !(compiled instanceof Error);
    const size = 1 + (isPlan ? compiled.size : 0) + Math.ceil((document.loc?.end ?? 0) / CHARACTERS_PER_FIELD);
    cache.set(key, isPlan ? { ...compiled, isCaching: true } : compiled, { size });
    return compiled;
  }

  return {
    plan(operation: KnownOperation, sent: Arguments | null | undefined): Planned {
      const { variableValues: values, errors } = readVariables(schema, operation.definition, sent ?? {});
      if (values === undefined) return { errors };
      const plan = compileOnce(operation, values);
      if (plan instanceof Error) return { excess: plan };
      const excess = findExcessInArguments(plan, values.coerced, limits.maxComplexity);
      if (excess !== undefined) return { excess };
      return { plan, args: plan.readArguments(values), variables: values.coerced };
    },
  };
}

/**
 * Why the arguments of an operation have too many values to be read; `undefined` if they do not. Each field walks through the
 * variables that it uses: a long list in many fields would take seconds.
 */
function findExcessInArguments({ usedVariables }: OperationPlan, coerced: Arguments, maxComplexity: number) {
  const max = maxComplexity / VALUE;
  let count = 0;
  for (const name of usedVariables) {
    count += countValues(coerced[name], max - count);
    if (count > max)
      return new QueryTooComplexError(`The arguments have more than ${max} values, counting a variable in each use.`);
  }
  return undefined;
}

/** Why an operation of a valid document is too complex with all that its directives can include; `undefined` if it is not. */
export function findExcessOf(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  options: PlannerOptions,
): QueryTooComplexError | undefined {
  const compiled = orError(QueryTooComplexError, () =>
    compile({ ...options, shapes: createShapes(), document, operation, variables: undefined }),
  );
  return compiled instanceof Error ? compiled : undefined;
}

/** The types that a variable in a directive can have. */
const CONDITIONS: readonly string[] = ['Boolean', 'Boolean!'];

let operations = 0;

/** What is known of the operations of a valid document, found out when an operation is first selected. */
export function createValidDocument(document: DocumentNode): ValidDocument {
  const known = new Map<OperationDefinitionNode, KnownOperation>();

  return {
    document,
    operation(name) {
      const definition = getOperationAST(document, name === '' ? undefined : name);
      if (definition == null) return undefined;
      const before = known.get(definition);
      if (before !== undefined) return before;
      const conditions = findConditions(document, definition);
      const operation = { id: operations++, document, definition, conditions };
      known.set(definition, operation);
      return operation;
    },
  };
}

/** The variables of an operation that directives use, and that therefore decide what is selected. */
function findConditions(document: DocumentNode, operation: OperationDefinitionNode): readonly string[] {
  const definitions = operation.variableDefinitions ?? [];
  if (definitions.length === 0) return [];
  const names = new Set<string>();
  visit(document, {
    Directive(node) {
      for (const { value } of node.arguments ?? []) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  // Another operation of the document can use the name of a variable in a directive, though it has another type here.
  const conditions = definitions.filter(({ type }) => CONDITIONS.includes(print(type)));
  return conditions.map(({ variable }) => variable.name.value).filter((name) => names.has(name));
}
