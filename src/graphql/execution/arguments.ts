import {
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  getArgumentValues,
  Kind,
  type ValueNode,
  type VariableDefinitionNode,
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
  const rest: unknown[] = [value];
  while (rest.length > 0 && count <= max) {
    const each = rest.pop();
    if (typeof each === 'string') count += each.length / CHARACTERS_PER_VALUE;
    if (typeof each !== 'object' || each === null) continue;
    if (Array.isArray(each)) {
      count += each.length;
      if (count <= max) for (const entry of each) rest.push(entry);
      continue;
    }
    for (const name in each) {
      count += 1;
      rest.push((each as Arguments)[name]);
    }
  }
  return count;
}

/** Maximum number of fields of an input object in a variable. The types of the schema have far fewer. */
const MAX_INPUT_FIELDS = 32;

/**
 * The error of a variable with an object that has too many fields for any input type; `undefined` if there is none.
 *
 * Each error of graphql-js about such an object would quote all of it.
 */
export function findLargeObject(
  definitions: readonly VariableDefinitionNode[],
  variables: Arguments,
): GraphQLError | undefined {
  for (const definition of definitions) {
    const { value: name } = definition.variable.name;
    const rest: unknown[] = Object.hasOwn(variables, name) ? [variables[name]] : [];
    while (rest.length > 0) {
      const each = rest.pop();
      if (typeof each !== 'object' || each === null) continue;
      const values = Array.isArray(each) ? each : Object.values(each);
      if (values !== each && values.length > MAX_INPUT_FIELDS) {
        const reason = `an object has ${values.length} fields. The maximum is ${MAX_INPUT_FIELDS}.`;
        return withoutStacks(
          () => new GraphQLError(`Variable "$${name}" has invalid value: ${reason}`, { nodes: definition }),
        );
      }
      for (const inside of values) if (typeof inside === 'object') rest.push(inside);
    }
  }
  return undefined;
}

/** Whether a value of a document contains variables. */
export function hasVariables(value: ValueNode): boolean {
  switch (value.kind) {
    case Kind.VARIABLE:
      return true;
    case Kind.LIST:
      return value.values.some(hasVariables);
    case Kind.OBJECT:
      return value.fields.some((field) => hasVariables(field.value));
    default:
      return false;
  }
}
