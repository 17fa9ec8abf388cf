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
import { withoutStacks } from '../errors.ts';
import { findBadInput } from './bad-input.ts';

/** Reads what a client gives with an operation, as its fields get it. */
export type Inputs = {
  /** The variables of an operation, or the errors of those that do not fit: nothing of it can be executed then. */
  variablesOf(schema: GraphQLSchema, operation: OperationDefinitionNode, given: Given): ReadVariables;
  /** The arguments of a field, or what is wrong with them, which costs that field only. */
  argumentsOf(field: Field, node: FieldNode, variables: VariableValues): Arguments | Error;
};

/** Variables as they were read. */
export type ReadVariables =
  | { readonly variableValues: VariableValues; readonly errors?: never }
  | { readonly errors: readonly GraphQLError[]; readonly variableValues?: never };

/** Variables as a client sends them. */
type Given = Readonly<Record<string, unknown>> | null | undefined;
type Field = GraphQLField<unknown, unknown>;
type Arguments = Readonly<Record<string, unknown>>;

/** What was read of one operation. */
type Reading = {
  readonly operation: OperationDefinitionNode;
  readonly given: Given;
  readonly variables: ReadVariables;
  readonly args: Map<FieldNode, Arguments | Error>;
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
      const variables = withoutStacks(() =>
        getVariableValues(schema, operation.variableDefinitions ?? [], given ?? {}, FEW_ERRORS),
      );
      last = { operation, given, variables, args: new Map() };
      return variables;
    },
    argumentsOf(field, node, variables) {
      if (field.args.length === 0) return NO_ARGUMENTS;
      const known = last?.variables.variableValues === variables ? last.args : undefined;
      const before = known?.get(node);
      if (before !== undefined) return before;
      const args = read(field, node, variables);
      known?.set(node, args);
      return args;
    },
  };
}

/** Each error of a variable quotes what was given, which can be nearly all of a large request. */
const FEW_ERRORS = { maxErrors: 5, hideSuggestions: true };

const NO_ARGUMENTS: Arguments = Object.freeze({});

function read(field: Field, node: FieldNode, variables: VariableValues): Arguments | Error {
  try {
    const args = withoutStacks(() => getArgumentValues(field, node, variables));
    return findBadInput(field, args) ?? args;
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}
