import {
  coerceInputLiteral,
  type FieldNode,
  type GraphQLArgument,
  GraphQLError,
  type GraphQLField,
  getArgumentValues,
  isNonNullType,
  Kind,
  type ValueNode,
  type VariableValues,
} from 'graphql';
import { withoutStacks } from '../../errors.ts';
import { findBadInput } from '../bad-input.ts';

/** The arguments of a field, coerced. */
export type Arguments = Readonly<Record<string, unknown>>;

/** Coerces the arguments of a field. @returns the error if one of them is invalid: only this field fails */
export function readArguments(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: VariableValues,
): Arguments | Error {
  try {
    const args = withoutStacks(() => getArgumentValues(field, node, variables));
    return findBadInput(field, args) ?? args;
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}

/** Coerces the arguments of a field for the variables of a request, as {@link readArguments} does. */
type ArgumentsReader = (variables: VariableValues) => Arguments | Error;

/**
 * Creates the reader of arguments with variables. Most arguments are one variable, whose value is coerced already, or contain
 * none. graphql-js reads all others, and reports all errors.
 */
export function createArgumentsReader(field: GraphQLField<unknown, unknown>, node: FieldNode): ArgumentsReader {
  const sources = field.args.flatMap((argument) => {
    const value = node.arguments?.find(({ name }) => name.value === argument.name)?.value;
    return value === undefined && !hasDefault(argument) ? [] : [sourceOf(argument, value)];
  });

  return (variables) => {
    const args: Record<string, unknown> = {};
    for (const source of sources) {
      if (source === undefined) return readArguments(field, node, variables);
      const value = source.variable === undefined ? source.value : variables.coerced[source.variable];
      if (value === undefined && source.isOptional) continue;
      if (value === undefined || (value === null && !source.isNullable)) return readArguments(field, node, variables);
      args[source.name] = value;
    }
    return findBadInput(field, args) ?? args;
  };
}

/** Where the value of an argument comes from; `undefined` if graphql-js has to find out. */
function sourceOf(argument: GraphQLArgument, node: ValueNode | undefined) {
  if (node === undefined) return undefined;
  const { name, type } = argument;
  const isNullable = !isNonNullType(type);
  const isOptional = isNullable && !hasDefault(argument);
  if (node.kind === Kind.VARIABLE) return { name, isNullable, isOptional, variable: node.name.value };
  const value = variablesIn(node).length > 0 ? undefined : withoutStacks(() => coerceInputLiteral(node, type));
  return value === undefined ? undefined : { name, isNullable, isOptional, value };
}

function hasDefault({ default: input, defaultValue }: GraphQLArgument): boolean {
  return input !== undefined || defaultValue !== undefined;
}

/** This many characters of an argument or a variable count as one value. */
const CHARACTERS_PER_VALUE = 10;

/**
 * The number of values in an argument or a variable, at all levels. Strings count by their length, because responses and
 * errors repeat them. It does not recurse: variables can be nested as deeply as their JSON.
 *
 * @param max it stops counting above this number
 */
export function countValues(value: unknown, max = Number.POSITIVE_INFINITY): number {
  if (typeof value === 'string') return value.length / CHARACTERS_PER_VALUE;
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  const rest: object[] = [value];
  while (rest.length > 0 && count <= max) {
    const each = rest.pop();
    if (Array.isArray(each)) {
      count += each.length;
      if (count <= max) for (const entry of each) add(entry);
      continue;
    }
    for (const name in each) {
      count += 1;
      add((each as Arguments)[name]);
    }
  }
  return count;

  function add(inside: unknown): void {
    if (typeof inside === 'string') count += inside.length / CHARACTERS_PER_VALUE;
    else if (typeof inside === 'object' && inside !== null) rest.push(inside);
  }
}

/** The names of the variables in a value of a document, each as often as it is used. */
export function variablesIn(value: ValueNode): readonly string[] {
  switch (value.kind) {
    case Kind.VARIABLE:
      return [value.name.value];
    case Kind.LIST:
      return value.values.flatMap(variablesIn);
    case Kind.OBJECT:
      return value.fields.flatMap((field) => variablesIn(field.value));
    default:
      return [];
  }
}
