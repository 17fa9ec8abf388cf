import {
  coerceInputLiteral,
  coerceInputValue,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getVariableValues,
  isNonNullType,
  typeFromAST,
  type VariableDefinitionNode,
  type VariableValues,
} from 'graphql';
import { withoutStacks } from '../../errors.ts';
import type { Arguments } from './arguments.ts';

/** The variables of a request, coerced, or the errors of those that do not fit their types. */
type ReadVariables =
  | { readonly values: VariableValues; readonly errors?: never }
  | { readonly errors: readonly GraphQLError[]; readonly values?: never };

/** Reads the variables that a client sends with an operation. */
export type VariablesReader = (sent: Arguments) => ReadVariables;

/** Each error of a variable quotes its value, which can be nearly all of a large request. */
const FEW_ERRORS = { maxErrors: 5, hideSuggestions: true };

/**
 * Creates the reader of the variables of a valid operation. It looks up their types once, and graphql-js does that for each
 * request. If a variable does not fit its type, graphql-js reads all of them again and reports the errors.
 */
export function createVariablesReader(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
): VariablesReader {
  const variables = definitions.map((definition) => createVariable(schema, definition));

  return (sent) => {
    const largeObject = findLargeObject(definitions, sent);
    if (largeObject !== undefined) return { errors: [largeObject] };
    const coerced: Record<string, unknown> = Object.create(null);
    /** As they were sent. Only scalars with variables inside of their literals need that. */
    const sources: Record<string, VariableValues['sources'][string]> = Object.create(null);
    for (const signature of variables) {
      const { name, type, isRequired, initial } = signature;
      const value = Object.hasOwn(sent, name) ? sent[name] : undefined;
      sources[name] = value === undefined ? { signature } : { signature, value };
      if (value === undefined && initial === undefined && !isRequired) continue;
      coerced[name] = value === undefined ? initial : coerceInputValue(value, type);
      if (coerced[name] === undefined) return readAll(sent);
    }
    return { values: { sources, coerced } };
  };

  function readAll(sent: Arguments): ReadVariables {
    const { variableValues, errors } = withoutStacks(() => getVariableValues(schema, definitions, sent, FEW_ERRORS));
    return variableValues === undefined ? { errors } : { values: variableValues };
  }
}

/** A variable of an operation. */
type Variable = {
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly isRequired: boolean;
  /** Its default as it is written. */
  readonly default: { readonly literal: NonNullable<VariableDefinitionNode['defaultValue']> } | undefined;
  /** Its default, coerced. */
  readonly initial: unknown;
};

function createVariable(
  schema: GraphQLSchema,
  { variable, type: typeNode, defaultValue }: VariableDefinitionNode,
): Variable {
  // Validation has found an input type.
  const type = typeFromAST(schema, typeNode) as GraphQLInputType;
  const initial = defaultValue && withoutStacks(() => coerceInputLiteral(defaultValue, type));
  const isRequired = isNonNullType(type) || (defaultValue !== undefined && initial === undefined);
  return { name: variable.name.value, type, isRequired, default: defaultValue && { literal: defaultValue }, initial };
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
