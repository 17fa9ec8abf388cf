import {
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type VariableValues,
} from 'graphql';
import { orError, QueryTooComplexError } from '../../errors.ts';
import { estimateField, heightFinderOf } from '../complexity.ts';
import { type Limits, requireAtMost } from '../limits.ts';
import { type Arguments, readArguments, variablesIn } from './arguments.ts';
import type { Shapes } from './cached-pool.ts';
import { type CollectedField, collectFields } from './collect.ts';
import type { FieldPlan, ObjectPlan, OperationPlan } from './plan.ts';
import { writerOf } from './write-type.ts';

/** The operation that is compiled, and the limits that it must not exceed. */
type Compiled = {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /**
   * The variables that decide what is selected. The plan holds for all variables with the same decisions. Without them, everything
   * is selected.
   */
  readonly variables: VariableValues | undefined;
  readonly limits: Pick<Limits, 'maxDepth' | 'maxNesting' | 'maxSiblings'>;
  readonly shapes: Shapes;
};

/** The number of selections around a field: `depth` without those of introspection, `nesting` with all, and with fragments. */
type Depth = { readonly depth: number; readonly nesting: number };

/** The arguments of a node, which can belong to several types. */
type PlannedArguments = { readonly field: GraphQLField<unknown, unknown>; readonly args: FieldPlan['args'] };

/** The plan of a node, where it is, and the number of fields in it. */
type PlannedField = {
  readonly type: GraphQLObjectType;
  readonly comma: string;
  readonly depth: number;
  readonly nesting: number;
  readonly plan: FieldPlan;
  readonly size: number;
};

/** Minimum number of fields of a cached pool. Writing fewer takes no longer than a lookup. */
const MIN_CACHED_FIELDS = 3;

/** Maximum number of fields in a plan. With fragments, it can have far more than the document. */
const MAX_FIELDS = 10_000;

/** Maximum number of selections that are visited, including those that do not apply. */
const MAX_STEPS = 50_000;

/** Compiles a validated operation. @throws QueryTooComplexError for an operation with too many fields, or nested too deeply */
export function compile({ schema, document, operation, variables, limits, shapes }: Compiled): OperationPlan {
  const definitions = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  const fragments = Object.fromEntries(definitions.map((node) => [node.name.value, node]));
  const readers: Reader[] = [];
  // Nodes without their selections: a plan can be used for days, and what a node selects can be large.
  const bare = new Map<FieldNode, FieldNode>();
  // A fragment can be used thousands of times: its fields are planned once, and their arguments are read once.
  const plannedFields = new Map<FieldNode, PlannedField>();
  const plannedArguments = new Map<FieldNode, PlannedArguments>();
  const usedVariables: string[] = [];
  let size = 0;
  let steps = 0;
  let deepest = 0;
  let hasNewShape = false;

  function planObject(type: GraphQLObjectType, sets: readonly SelectionSetNode[], around: Depth): ObjectPlan {
    const at = { depth: around.depth + 1, nesting: around.nesting + 1 };
    const collected = collect(type, sets, at);
    const failure = collected instanceof GraphQLError ? collected : undefined;
    const selected = collected instanceof GraphQLError ? [] : collected;
    const fields = selected.map((each, index) => planFieldOnce(type, each, index === 0 ? '' : ',', at));
    const hasVariables = fields.some(({ args }) => typeof args === 'number');
    const found = hasVariables || failure !== undefined ? undefined : shapes.of(type.name, fields);
    const isCacheable =
      found !== undefined &&
      type.extensions['isCacheable'] === true &&
      fields.length >= MIN_CACHED_FIELDS &&
      !fields.some(({ isAwaited }) => isAwaited);
    hasNewShape ||= isCacheable && found.isNew;
    return { fields, failure, shape: found?.shape, isCacheable };
  }

  /** The fields of a selection, or the error of an invalid directive. */
  function collect(type: GraphQLObjectType, sets: readonly SelectionSetNode[], { nesting }: Depth) {
    const count = (fragments: number) => {
      requireAtMost(limits.maxNesting, nesting + fragments, 'The nesting depth of selections and fragments');
      if (++steps > MAX_STEPS) throw tooManyFields();
    };
    return orError(GraphQLError, () => {
      const selected = [...collectFields({ schema, fragments, variables, count }, type, sets)];
      const siblings = selected.reduce((sum, [, { nodes }]) => sum + nodes.length, 0);
      requireAtMost(limits.maxSiblings, siblings, 'The number of fields in one selection set');
      addSize(selected.length);
      return selected;
    });
  }

  function addSize(fields: number): void {
    size += fields;
    if (size > MAX_FIELDS) throw tooManyFields();
  }

  /** The plan of a field, or the one of the same node at the same place in another use of a fragment. */
  function planFieldOnce(
    type: GraphQLObjectType,
    selected: readonly [string, CollectedField],
    comma: string,
    around: Depth,
  ): FieldPlan {
    const [node, ...others] = selected[1].nodes;
    if (node === undefined || others.length > 0) return planField(type, selected, comma, around);
    const { depth } = around;
    const nesting = around.nesting + selected[1].nesting;
    const known = plannedFields.get(node);
    if (known?.type === type && known.comma === comma && known.depth === depth && known.nesting === nesting) {
      addSize(known.size);
      return known.plan;
    }
    const before = size;
    const plan = planField(type, selected, comma, around);
    plannedFields.set(node, { type, comma, depth, nesting, plan, size: size - before });
    return plan;
  }

  function planField(
    type: GraphQLObjectType,
    [name, { nodes: selected, nesting }]: readonly [string, CollectedField],
    comma: string,
    around: Depth,
  ): FieldPlan {
    const nodes = selected.map(withoutSelections);
    const node = nodes[0] as FieldNode;
    const field = schema.getField(type, node.name.value);
    const isTypename = node.name.value === '__typename';
    if (field === undefined) throw new Error(`There is no field ${node.name.value} of ${type.name}.`);

    // All executions share it, so it has nothing that differs between them, such as a path. The resolvers do not use that.
    const info = { fieldName: field.name, returnType: field.type, parentType: type, schema } as GraphQLResolveInfo;
    const args = argumentsOf(field, node);
    const sets = selected.flatMap(({ selectionSet }) => selectionSet ?? []);
    const isOfSchema = getNamedType(field.type).name.startsWith('__');
    deepest = Math.max(deepest, around.depth);
    // Introspection counts as one level.
    const at = { depth: isOfSchema ? Number.NEGATIVE_INFINITY : around.depth, nesting: around.nesting + nesting };
    const selections: ObjectPlan[] = [];
    const planOf = (inner: GraphQLObjectType) => {
      const plan = planObject(inner, sets, at);
      selections.push(plan);
      return plan;
    };
    return {
      name,
      opening: `${comma}${JSON.stringify(name)}:${isTypename ? JSON.stringify(type.name) : ''}`,
      nodes,
      definition: field,
      info,
      args,
      isNullable: !isNonNullType(field.type),
      write: isTypename ? undefined : writerOf(field.type, { nodes, info, planOf }),
      selections,
      complexity: fieldComplexity(field),
      findHeights: heightFinderOf(field),
      isOfSchema,
      isAwaited: field.extensions['isAwaited'] === true,
    };
  }

  function withoutSelections(node: FieldNode): FieldNode {
    if (node.selectionSet === undefined) return node;
    const known = bare.get(node) ?? { ...node, selectionSet: undefined };
    bare.set(node, known);
    return known;
  }

  function argumentsOf(field: GraphQLField<unknown, unknown>, node: FieldNode): FieldPlan['args'] {
    const known = plannedArguments.get(node);
    if (known?.field === field) return known.args;
    const args = field.args.length === 0 ? NO_ARGUMENTS : planArguments(field, node);
    plannedArguments.set(node, { field, args });
    return args;
  }

  function planArguments(field: GraphQLField<unknown, unknown>, node: FieldNode): FieldPlan['args'] {
    const used = node.arguments?.flatMap(({ value }) => variablesIn(value)) ?? [];
    if (used.length === 0) {
      const args = readArguments(field, node, NO_VARIABLES);
      return args instanceof Error ? args : { ...args };
    }
    usedVariables.push(...used);
    // A field with an error instead of its arguments fails when it is executed.
    return readers.push(readerOf(field, node)) - 1;
  }

  const type = schema.getRootType(operation.operation);
  if (type == null) throw new Error(`The schema has no ${operation.operation}.`);
  const root = planObject(type, [operation.selectionSet], { depth: 0, nesting: 0 });
  requireAtMost(limits.maxDepth, deepest, 'The selection depth of the operation');
  // Each update of a subscription has the same shapes.
  const isCaching = operation.operation === 'subscription' || !hasNewShape;
  return { root, size, isCaching, usedVariables, readArguments: readerOfAll(readers) };
}

/** Reads arguments. It is created outside of `compile`, whose variables reference the document. */
type Reader = (variables: VariableValues) => Arguments;

function readerOf(field: GraphQLField<unknown, unknown>, node: FieldNode): Reader {
  return (variables) => readArguments(field, node, variables) as Arguments;
}

function readerOfAll(readers: readonly Reader[]): OperationPlan['readArguments'] {
  return (variables) => readers.map((read) => read(variables));
}

function tooManyFields(): QueryTooComplexError {
  return new QueryTooComplexError(
    `The operation selects more than ${MAX_FIELDS} fields, counting the fields of a fragment each time it is used.`,
  );
}

/** The declared complexity of a field, or the estimate if it declares none. */
function fieldComplexity(field: GraphQLField<unknown, unknown>): FieldPlan['complexity'] {
  const options = field.extensions['pothosOptions'] as Partial<Pick<FieldPlan, 'complexity'>> | undefined;
  return options?.complexity ?? estimateField(field);
}

const NO_ARGUMENTS = Object.freeze({});
const NO_VARIABLES: VariableValues = { sources: {}, coerced: {} };
