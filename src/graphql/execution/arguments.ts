import {
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getArgumentValues,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  type ValueNode,
  type VariableDefinitionNode,
  type VariableValues,
} from 'graphql';
import { BadUserInputError, orError, withoutStacks } from '../../errors.ts';

/** The arguments of a field, coerced. */
export type Arguments = Readonly<Record<string, unknown>>;

/** Coerces the arguments of a field. @returns the error if one of them is invalid: only this field fails */
export function readArguments(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: VariableValues,
): Arguments | Error {
  return orError(GraphQLError, () => {
    const args = withoutStacks(() => getArgumentValues(field, node, variables));
    return findBadInput(field, args) ?? args;
  });
}

/**
 * Finds an error in the arguments of a field: a value that its scalar could not parse, or one that the field refuses.
 *
 * A scalar that throws would fail the whole operation before it starts. The scalars of this schema return the error as the
 * value instead, and only the field with the argument fails. The extension `refuse` of a field is a function that throws
 * BadUserInputError for the arguments that the field refuses. Arguments are checked once, not for each object of a list.
 */
export function findBadInput(
  { extensions: { refuse } }: Pick<GraphQLField<unknown, never>, 'extensions'>,
  args: Arguments,
): Error | undefined {
  const badScalar = findBadScalar(args, '');
  if (badScalar !== undefined || refuse === undefined) return badScalar;
  return orError(BadUserInputError, () => void (refuse as (args: Arguments) => unknown)(args));
}

/** The error of the first value that its scalar could not parse, with the name of the argument, such as `filter.tokenId`. */
function findBadScalar(value: unknown, path: string): BadUserInputError | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (value instanceof BadUserInputError) return new BadUserInputError(`${path} is not valid. ${value.message}`);
  // A list can have tens of thousands of entries, each of which takes ten times as long with `for (… in …)` and a path.
  for (const name of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const inside = (value as Arguments)[name];
    if (typeof inside !== 'object') continue;
    const badInput = findBadScalar(inside, path === '' ? `${name}` : `${path}.${name}`);
    if (badInput !== undefined) return badInput;
  }
  return undefined;
}

/** Each error of a variable quotes its value, which can be nearly all of a large request. */
const FEW_ERRORS = { maxErrors: 5, hideSuggestions: true };

/** Coerces the variables that a client sends with a valid operation, or returns the errors of those that do not fit their types. */
export function readVariables(
  schema: GraphQLSchema,
  { variableDefinitions: definitions = [] }: Pick<OperationDefinitionNode, 'variableDefinitions'>,
  sent: Arguments,
): ReturnType<typeof getVariableValues> {
  const largeObject = findLargeObject(definitions, sent);
  if (largeObject !== undefined) return { errors: [largeObject] };
  return withoutStacks(() => getVariableValues(schema, definitions, sent, FEW_ERRORS));
}

/** Maximum number of fields of an input object in a variable. The types of the schema have far fewer. */
const MAX_INPUT_FIELDS = 32;

/**
 * The error of a variable with an object that has too many fields for any input type; `undefined` if there is none.
 *
 * Each error of graphql-js about such an object would quote all of it.
 */
function findLargeObject(
  definitions: readonly VariableDefinitionNode[],
  variables: Arguments,
): GraphQLError | undefined {
  for (const definition of definitions) {
    const { value: name } = definition.variable.name;
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (!isObject(value)) continue;
    const rest = [value];
    for (let each = rest.pop(); each !== undefined; each = rest.pop()) {
      // Object.values takes three times as long for an object with many fields.
      const fields = Array.isArray(each) ? 0 : Object.keys(each).length;
      if (fields > MAX_INPUT_FIELDS) {
        const reason = `an object has ${fields} fields. The maximum is ${MAX_INPUT_FIELDS}.`;
        return withoutStacks(
          () => new GraphQLError(`Variable "$${name}" has invalid value: ${reason}`, { nodes: definition }),
        );
      }
      for (const inside of Array.isArray(each) ? each : Object.values(each)) if (isObject(inside)) rest.push(inside);
    }
  }
  return undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
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
