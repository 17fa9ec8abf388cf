import {
  GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
  type VariableValues,
} from 'graphql';
import { withoutStacks } from '../../errors.ts';
import type { Arguments } from './arguments.ts';

/** The variables of a request, coerced, or the errors of those that do not fit their types. */
type ReadVariables =
  | { readonly values: VariableValues; readonly errors?: never }
  | { readonly errors: readonly GraphQLError[]; readonly values?: never };

/** Each error of a variable quotes its value, which can be nearly all of a large request. */
const FEW_ERRORS = { maxErrors: 5, hideSuggestions: true };

/** Coerces the variables that a client sends with a valid operation. */
export function readVariables(
  schema: GraphQLSchema,
  { variableDefinitions: definitions = [] }: Pick<OperationDefinitionNode, 'variableDefinitions'>,
  sent: Arguments,
): ReadVariables {
  const largeObject = findLargeObject(definitions, sent);
  if (largeObject !== undefined) return { errors: [largeObject] };
  const { variableValues, errors } = withoutStacks(() => getVariableValues(schema, definitions, sent, FEW_ERRORS));
  return variableValues === undefined ? { errors } : { values: variableValues };
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
      const values = Array.isArray(each) ? each : Object.values(each);
      if (values !== each && values.length > MAX_INPUT_FIELDS) {
        const reason = `an object has ${values.length} fields. The maximum is ${MAX_INPUT_FIELDS}.`;
        return withoutStacks(
          () => new GraphQLError(`Variable "$${name}" has invalid value: ${reason}`, { nodes: definition }),
        );
      }
      for (const inside of values) if (isObject(inside)) rest.push(inside);
    }
  }
  return undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
