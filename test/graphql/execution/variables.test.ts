import fc from 'fast-check';
import {
  buildSchema,
  type FieldNode,
  type GraphQLField,
  getArgumentValues,
  getVariableValues,
  type OperationDefinitionNode,
  parse,
  type VariableValues,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { createArgumentsReader } from '../../../src/graphql/execution/arguments.ts';
import { createVariablesReader } from '../../../src/graphql/execution/variables.ts';

const schema = buildSchema(`
  enum Color { RED GREEN }
  input Filter { name: String, sizes: [Int!] = [1, 2], color: Color! = RED }
  type Query {
    field(id: ID!, first: Int = 10, color: Color, filter: Filter, names: [String!], at: Float! = 0.5): String
  }
`);
const field = schema.getQueryType()?.getFields()['field'] as GraphQLField<unknown, unknown>;

function operationOf(text: string): OperationDefinitionNode & { readonly field: FieldNode } {
  const [operation] = parse(text).definitions as [OperationDefinitionNode];
  return { ...operation, field: operation.selectionSet.selections[0] as FieldNode };
}

const VARIABLES = `
  $id: ID!, $first: Int, $few: Int = 3, $color: Color, $green: Color! = GREEN, $filter: Filter = {name: "a", color: RED},
  $names: [String!], $name: String, $at: Float!, $toString: String`;

/** Values of which some fit some types. */
const anyValue = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, 1, 0.5, 2 ** 40, 'a', 'RED', 'BLUE', true, [], ['a'], ['a', null], [1]),
  fc.constantFrom<unknown>({ name: 'b', color: 'GREEN' }, { sizes: 1, color: 'RED' }, { color: null }, { other: 1 }),
);
const anyVariables = fc.dictionary(
  fc.constantFrom('id', 'first', 'few', 'color', 'green', 'filter', 'names', 'name', 'at', 'toString', 'unknown'),
  anyValue,
);
/** Variables that fit their types, so that arguments are read. */
const validVariables = fc.record(
  {
    id: fc.constantFrom('x', 7),
    at: fc.constantFrom(0.25, 1),
    first: fc.constantFrom(null, 1),
    few: fc.constantFrom(null, 4),
    color: fc.constantFrom(null, 'RED'),
    green: fc.constantFrom('RED', 'GREEN'),
    filter: fc.constantFrom<unknown>(null, { name: 'b' }, { sizes: 5, color: 'GREEN' }),
    names: fc.constantFrom<unknown>(null, 'a', ['a', 'b']),
    name: fc.constantFrom(null, 'c'),
    toString: fc.constantFrom(null, 'd'),
  },
  { requiredKeys: ['id', 'at'] },
);

const messagesOf = (errors: readonly { readonly message: string }[] | undefined) =>
  errors?.map(({ message }) => message);

describe('the variables of a request are those of graphql-js', () => {
  const { variableDefinitions = [] } = operationOf(`query (${VARIABLES}) { field(id: $id) }`);
  const read = createVariablesReader(schema, variableDefinitions);

  test('whatever a client sends', () => {
    fc.assert(
      fc.property(anyVariables, (sent) => {
        const { values, errors } = read(sent);
        const expected = getVariableValues(schema, variableDefinitions, sent, { maxErrors: 5, hideSuggestions: true });
        expect(messagesOf(errors)).toEqual(messagesOf(expected.errors));
        expect(values?.coerced).toEqual(expected.variableValues?.coerced);
        expect(Object.keys(values?.sources ?? {})).toEqual(Object.keys(expected.variableValues?.sources ?? {}));
      }),
      { numRuns: 2_000 },
    );
  });

  test('with their sources, from which scalars read variables inside of literals', () => {
    fc.assert(
      fc.property(validVariables, (sent) => {
        const { values } = read(sent);
        const expected = getVariableValues(schema, variableDefinitions, sent).variableValues;
        const relevant = (sources: VariableValues['sources'] = {}) =>
          Object.entries(sources).map(([name, { value, signature }]) => {
            const { type, default: initial } = signature;
            return [name, value, signature.name, String(type), initial?.literal];
          });
        expect(relevant(values?.sources)).toEqual(relevant(expected?.sources));
        expect(values?.coerced).toEqual(expected?.coerced);
      }),
    );
  });
});

describe('the arguments of a field are those of graphql-js', () => {
  test.each([
    ['variables', 'id: $id, first: $first, color: $color, filter: $filter, names: $names, at: $at'],
    ['variables with defaults', 'id: $id, first: $few, color: $green, filter: $filter'],
    ['constants beside variables', 'id: "x", first: $few, color: GREEN, filter: {name: "b"}, names: ["a"], at: 1'],
    ['variables inside of lists and objects', 'id: $id, filter: {name: $name, color: $green}, names: ["a", $name]'],
    ['arguments that are omitted, with and without default', 'id: $id, color: $color'],
    ['a nullable variable for a required argument with a default', 'id: $id, at: $at, first: $first'],
    ['a variable that is named like a property of objects', 'id: $id, filter: {name: $toString}'],
  ])('%s', (_what, args) => {
    const operation = operationOf(`query (${VARIABLES}) { field(${args}) }`);
    const { variableDefinitions = [] } = operation;
    const variables = createVariablesReader(schema, variableDefinitions);
    const read = createArgumentsReader(field, operation.field);
    fc.assert(
      fc.property(validVariables, (sent) => {
        const { values } = variables(sent);
        const { variableValues } = getVariableValues(schema, variableDefinitions, sent);
        if (values === undefined || variableValues === undefined) throw new Error('the variables are valid');
        const expected = withError(() => ({ ...getArgumentValues(field, operation.field, variableValues) }));
        const found = withError(() => read(values));
        expect(found).toEqual(expected);
      }),
    );
  });

  test('null for a required argument is the error of graphql-js', () => {
    const { field: node } = operationOf('query ($at: Float) { field(id: "x", at: $at) }');
    const values = { sources: {}, coerced: { at: null } };
    const read = createArgumentsReader(field, node)(values);
    const expected = withError(() => getArgumentValues(field, node, values));
    expect(read).toBeInstanceOf(Error);
    expect(withError(() => read)).toEqual(expected);
  });
});

/** The value, or the message of the error. */
function withError(work: () => unknown): unknown {
  try {
    const value = work();
    return value instanceof Error ? value.message : value;
  } catch (error) {
    return (error as Error).message;
  }
}
