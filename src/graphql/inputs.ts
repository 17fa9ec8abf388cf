import {
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getArgumentValues,
  getVariableValues,
  type OperationDefinitionNode,
  type VariableValues,
} from 'graphql';

/** Reads what a client gives with an operation, as its fields get it. */
export type Inputs = {
  /** The variables of an operation; `undefined` where they do not fit, and nothing of it can be executed. */
  variablesOf(schema: GraphQLSchema, operation: OperationDefinitionNode, given: Given): VariableValues | undefined;
  /** The arguments of a field; `undefined` where they cannot be read, which costs that field only. */
  argumentsOf(field: Field, node: FieldNode, variables: VariableValues): Arguments | undefined;
};

/** Variables as a client sends them. */
type Given = Readonly<Record<string, unknown>> | null | undefined;
type Field = GraphQLField<unknown, unknown>;
type Arguments = Readonly<Record<string, unknown>>;

/** What was read of one operation. */
type Reading = {
  readonly operation: OperationDefinitionNode;
  readonly given: Given;
  readonly variables: VariableValues | undefined;
  readonly args: Map<FieldNode, Arguments | undefined>;
};

/**
 * Makes a reader. It remembers the last operation: who measures it and who executes it want the same, one right after the
 * other.
 */
export function createInputs(): Inputs {
  let last: Reading | undefined;

  return {
    variablesOf(schema, operation, given) {
      if (last?.operation === operation && last.given === given) return last.variables;
      const { variableValues: variables } = getVariableValues(
        schema,
        operation.variableDefinitions ?? [],
        given ?? {},
        ONE_ERROR,
      );
      last = { operation, given, variables, args: new Map() };
      return variables;
    },
    argumentsOf(field, node, variables) {
      if (field.args.length === 0) return NO_ARGUMENTS;
      const known = last?.variables === variables ? last.args : undefined;
      const before = known?.get(node);
      if (before !== undefined) return before;
      const args = read(field, node, variables);
      known?.set(node, args);
      return args;
    },
  };
}

/** Nobody is told of them from here. */
const ONE_ERROR = { maxErrors: 1 };

const NO_ARGUMENTS: Arguments = Object.freeze({});

function read(field: Field, node: FieldNode, variables: VariableValues): Arguments | undefined {
  try {
    return getArgumentValues(field, node, variables);
  } catch (error) {
    if (error instanceof GraphQLError) return undefined;
    throw error;
  }
}
