import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type VariableValues,
} from 'graphql';
import { resolverOf } from '../bad-input.ts';
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
  /** Reads the arguments in which there are variables; an error in the place of those that are bad. */
  readArguments(variables: VariableValues): object[];
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
export const MAX_FIELDS = 10_000;

/** How many selections are looked at to find them: those that do not apply count too. */
const MAX_STEPS = 50_000;

/** Makes the plan of a validated operation, or `undefined` for one that selects too many fields. */
export function compile({ schema, document, operation, variables, inputs }: Compiled): OperationPlan | undefined {
  const fragments = Object.fromEntries(document.definitions.filter(isFragment).map((node) => [node.name.value, node]));
  const known = new Map<SelectionSetNode, Map<GraphQLObjectType, ObjectPlan>>();
  const readers: ((variables: VariableValues) => object)[] = [];
  let size = 0;
  let steps = 0;
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
    const selected = collect(type, sets);
    if (selected instanceof GraphQLError) return failing(type, selected);
    const before = seesVariables;
    seesVariables = false;
    const fields = selected.map(([name, nodes], index) => planField(type, name, nodes, index === 0 ? '' : ','));
    const isPart = !seesVariables && type.extensions['isPart'] === true && fields.length >= FIELDS_OF_A_PART;
    const plan = { typename: type.name, fields, failure: undefined, hasVariables: seesVariables, isPart };
    seesVariables ||= before;
    return plan;
  }

  /** The fields of a selection, or the error of a directive that cannot be read. */
  function collect(type: GraphQLObjectType, sets: readonly SelectionSetNode[]) {
    const count = () => {
      if (++steps > MAX_STEPS) throw new TooLargeError();
    };
    try {
      const selected = [...collectFields({ schema, fragments, variables, count }, type, sets)];
      size += selected.length;
      if (size > MAX_FIELDS) throw new TooLargeError();
      return selected;
    } catch (error) {
      if (error instanceof GraphQLError) return error;
      throw error;
    }
  }

  function planField(type: GraphQLObjectType, name: string, nodes: readonly FieldNode[], comma: string): FieldPlan {
    const node = nodes[0] as FieldNode;
    const field = schema.getField(type, node.name.value);
    const isTypename = node.name.value === '__typename';
    if (field === undefined) throw new Error(`There is no field ${node.name.value} of ${type.name}.`);

    const info = infoOf({
      fieldName: field.name,
      fieldNodes: nodes,
      returnType: field.type,
      parentType: type,
      schema,
      fragments,
      operation,
    });
    const args = field.args.length === 0 ? NO_ARGUMENTS : planArguments(field, node);
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return {
      name,
      opening: `${comma}${JSON.stringify(name)}:${isTypename ? JSON.stringify(type.name) : ''}`,
      nodes,
      property: field.name,
      resolve: resolverOf(field),
      info,
      args,
      mayFail: typeof args === 'number' || args instanceof Error,
      isNullable: !isNonNullType(field.type),
      writeQuickly: quickWriterOf(field.type),
      write: isTypename ? undefined : writerOf(field.type, { nodes, info, planOf: (inner) => planOf(inner, sets) }),
    };
  }

  function planArguments(field: GraphQLField<unknown, unknown>, node: FieldNode): object | number {
    if (!node.arguments?.some(({ value }) => hasVariables(value))) {
      const args = inputs.argumentsOf(field, node, NO_VARIABLES);
      return args instanceof Error ? args : { ...args };
    }
    seesVariables = true;
    return readers.push((given) => inputs.argumentsOf(field, node, given)) - 1;
  }

  try {
    const type = schema.getRootType(operation.operation);
    const root = type && planOf(type, [operation.selectionSet]);
    return root ? { root, size, readArguments: (given) => readers.map((read) => read(given)) } : undefined;
  } catch (error) {
    if (error instanceof TooLargeError) return undefined;
    throw error;
  }
}

/** The plan of objects that cannot be written. */
function failing({ name }: GraphQLObjectType, failure: GraphQLError): ObjectPlan {
  return { typename: name, fields: [], failure, hasVariables: false, isPart: false };
}

/** An operation selects more fields than a plan may have. */
class TooLargeError extends Error {}

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
