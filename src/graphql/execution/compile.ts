import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type VariableValues,
} from 'graphql';
import type { Inputs } from '../inputs.ts';
import { collectFields } from './collect.ts';
import { hasVariables } from './conditions.ts';
import type { FieldPlan, ObjectPlan } from './plan.ts';
import { quickWriterOf, writerOf } from './write-type.ts';

/** How an operation is executed. */
export type OperationPlan = {
  readonly root: ObjectPlan;
  /** How many fields it has, in all places together: what it takes to keep it. */
  readonly size: number;
  /** Reads the arguments in which there are variables; `undefined` where a field cannot have them. */
  readArguments(variables: VariableValues): object[] | undefined;
};

/** What is made into a plan. */
export type Compiled = {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** Those that decide what is selected; the plan is good for all variables that decide alike. */
  readonly variables: VariableValues;
  readonly inputs: Inputs;
};

/** Fewer are written as quickly as they are looked up. */
const FIELDS_OF_A_PART = 3;

/** How many fields a plan has at the most. A fragment that is spread in many places can have far more than the document. */
const MAX_FIELDS = 5_000;

/** Makes the plan of a validated operation, or `undefined` for one that is better executed as it stands. */
export function compile({ schema, document, operation, variables, inputs }: Compiled): OperationPlan | undefined {
  const fragments = Object.fromEntries(document.definitions.filter(isFragment).map((node) => [node.name.value, node]));
  const known = new Map<SelectionSetNode, Map<GraphQLObjectType, ObjectPlan>>();
  const readers: ((variables: VariableValues) => object | undefined)[] = [];
  let size = 0;
  /** Whether variables stand among the arguments of what was planned since this was last reset. */
  let seesVariables = false;

  /** One selection of one type is planned once, wherever the fragment that it is in is spread. */
  function planOf(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): ObjectPlan {
    const [only, another] = sets;
    if (only === undefined || another !== undefined) return planObject(type, sets);
    const plans = known.get(only) ?? new Map<GraphQLObjectType, ObjectPlan>();
    known.set(only, plans);
    const plan = plans.get(type) ?? planObject(type, sets);
    plans.set(type, plan);
    seesVariables ||= plan.hasVariables;
    return plan;
  }

  function planObject(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): ObjectPlan {
    if (type.isTypeOf != null) throw new UnplannedError();
    const selected = [...collectFields({ schema, fragments, variables }, type, sets)];
    size += selected.length;
    if (size > MAX_FIELDS) throw new UnplannedError();
    const before = seesVariables;
    seesVariables = false;
    const fields = selected.map(([name, nodes], index) => planField(type, name, nodes, index === 0 ? '' : ','));
    const isPart = !seesVariables && type.extensions['isPart'] === true && fields.length >= FIELDS_OF_A_PART;
    const plan = { typename: type.name, fields, hasVariables: seesVariables, isPart };
    seesVariables ||= before;
    return plan;
  }

  function planField(type: GraphQLObjectType, name: string, nodes: readonly FieldNode[], comma: string): FieldPlan {
    const node = nodes[0] as FieldNode;
    const field = schema.getField(type, node.name.value);
    const isTypename = node.name.value === '__typename';
    if (field === undefined || (field.name.startsWith('__') && !isTypename)) throw new UnplannedError();

    const info = infoOf({
      fieldName: field.name,
      fieldNodes: nodes,
      returnType: field.type,
      parentType: type,
      schema,
      fragments,
      operation,
    });
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return {
      name,
      opening: `${comma}${JSON.stringify(name)}:${isTypename ? JSON.stringify(type.name) : ''}`,
      nodes,
      property: field.name,
      resolve: field.resolve,
      info,
      args: field.args.length === 0 ? NO_ARGUMENTS : planArguments(field, node),
      isNullable: !isNonNullType(field.type),
      writeQuickly: quickWriterOf(field.type),
      write: isTypename ? undefined : writerOf(field.type, { nodes, info, planOf: (inner) => planOf(inner, sets) }),
    };
  }

  function planArguments(field: GraphQLField<unknown, unknown>, node: FieldNode): object | number {
    if (!node.arguments?.some(({ value }) => hasVariables(value)))
      return { ...getArgumentValues(field, node, NO_VARIABLES) };
    seesVariables = true;
    return readers.push((given) => inputs.argumentsOf(field, node, given)) - 1;
  }

  try {
    const type = schema.getRootType(operation.operation);
    const root = type && planOf(type, [operation.selectionSet]);
    return root ? { root, size, readArguments: (given) => readAll(readers, given) } : undefined;
  } catch (error) {
    // Whoever executes it as it stands finds out what is wrong with it, and says so.
    if (error instanceof UnplannedError || error instanceof GraphQLError) return undefined;
    throw error;
  }
}

function readAll(
  readers: readonly ((variables: VariableValues) => object | undefined)[],
  given: VariableValues,
): object[] | undefined {
  const all: object[] = [];
  for (const read of readers) {
    const args = read(given);
    if (args === undefined) return undefined;
    all.push(args);
  }
  return all;
}

/** What is not planned: introspection, and what is larger than it looks. */
class UnplannedError extends Error {}

const NO_ARGUMENTS = Object.freeze({});
const NO_VARIABLES: VariableValues = { sources: {}, coerced: {} };

/**
 * What a resolver is told of its field. It is the same in each execution: what differs between them no resolver of ours
 * asks for, and one that did would learn that it is not there.
 */
function infoOf(known: Partial<GraphQLResolveInfo>): GraphQLResolveInfo {
  return Object.assign(Object.create(OF_ONE_EXECUTION), known);
}

const OF_ONE_EXECUTION: Partial<GraphQLResolveInfo> = {
  get path(): never {
    throw new Error(NOT_TOLD);
  },
  get variableValues(): never {
    throw new Error(NOT_TOLD);
  },
  get rootValue(): never {
    throw new Error(NOT_TOLD);
  },
};

const NOT_TOLD = 'A resolver is not told what differs between executions.';

function isFragment(definition: DocumentNode['definitions'][number]): definition is FragmentDefinitionNode {
  return definition.kind === Kind.FRAGMENT_DEFINITION;
}
