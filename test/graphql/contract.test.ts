import { readFileSync } from 'node:fs';
import {
  buildSchema,
  extendSchema,
  findBreakingChanges,
  findDangerousChanges,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  parse,
  printSchema,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';

/** What clients are promised: the first version, what came with history, quotes and depth, and the exchange of today. */
const contract = ['contract-market.graphql', 'contract-v3.graphql'].reduce(
  (promised, name) => extendSchema(promised, parse(readFixture(name))),
  buildSchema(readFixture('contract.graphql')),
);

describe('the schema', () => {
  test('contains the whole contract, with the same types', () => {
    expect(findBreakingChanges(contract, schema).map((change) => change.description)).toEqual([
      // The contract does not name it: graphql adds it to each schema that it reads.
      'DIRECTIVE_DEFINITION was removed from @deprecated.',
    ]);
    expect(findDangerousChanges(contract, schema).map((change) => change.description)).toEqual([
      // Without an order, lists begin with pools that have liquidity. Whoever names an order gets the same as before.
      'An optional argument Query.poolPair(version:) was added.',
      'Query.poolPairs(orderBy:) has changed defaultValue from ID_ASC to NON_EMPTY_FIRST.',
      'An optional argument Query.quote(route:) was added.',
      'An optional argument Subscription.prices(afterHeight:) was added.',
      'An optional argument Subscription.candles(poolId:) was added.',
      'An optional argument Subscription.priceCrossed(poolId:) was added.',
      'An optional argument Subscription.quote(route:) was added.',
      'An optional field PoolPairKey.poolId was added.',
      'Enum value PoolPairOrder.NON_EMPTY_FIRST was added.',
    ]);
  });

  test('has the directives of GraphQL of September 2025, with their locations', () => {
    const directives = schema.getDirectives().map(({ name, locations }) => [name, locations]);
    expect(Object.fromEntries(directives)).toEqual({
      deprecated: ['FIELD_DEFINITION', 'ARGUMENT_DEFINITION', 'INPUT_FIELD_DEFINITION', 'ENUM_VALUE'],
      include: ['FIELD', 'FRAGMENT_SPREAD', 'INLINE_FRAGMENT'],
      oneOf: ['INPUT_OBJECT'],
      skip: ['FIELD', 'FRAGMENT_SPREAD', 'INLINE_FRAGMENT'],
      specifiedBy: ['SCALAR'],
    });
  });

  test('has a description that explains its terms', () => {
    for (const term of ['node', 'market-data host', 'beacon height', 'pool', 'pair', 'ticker', 'order book'])
      expect(schema.description).toContain(`**${term}**`);
    const named = [...(schema.description ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
    const fields = Object.values(schema.getTypeMap()).flatMap((type) =>
      isObjectType(type)
        ? Object.values(type.getFields()).flatMap(({ name, args }) => [name, ...args.map((arg) => arg.name)])
        : [],
    );
    expect(named.filter((name) => !fields.includes(name))).toEqual([]);
    expect(printSchema(schema)).toContain('"""\nschema {');
  });

  test('every type, field, argument and enum value is described', () => {
    const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__') && !isBuiltIn(name));
    expect(types.length).toBeGreaterThan(30);
    expect(types.flatMap(undescribedParts)).toEqual([]);
  });

  test('a type describes only fields that it has', () => {
    const unknown = Object.values(schema.getTypeMap()).flatMap((type) => {
      if (!isObjectType(type)) return [];
      const { fieldDescriptions = {} } = (type.extensions['pothosOptions'] ?? {}) as { fieldDescriptions?: object };
      const fields = type.getFields();
      return Object.keys(fieldDescriptions).flatMap((name) => (name in fields ? [] : `${type.name}.${name}`));
    });
    expect(unknown).toEqual([]);
  });

  test('the description of each nullable field says when it is null', () => {
    const silent = Object.values(schema.getTypeMap())
      .filter((type) => isObjectType(type) && !type.name.startsWith('__'))
      .flatMap((type) => (isObjectType(type) ? Object.values(type.getFields()).map((field) => ({ type, field })) : []))
      .filter(({ field }) => !field.type.toString().endsWith('!') && !/\bnull\b/i.test(field.description ?? ''))
      .map(({ type, field }) => `${type.name}.${field.name}`);
    expect(silent).toEqual([]);
  });
});

function readFixture(name: string): string {
  return readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8');
}

function isBuiltIn(name: string): boolean {
  return ['Boolean', 'Float', 'ID', 'Int', 'String'].includes(name);
}

function undescribedParts(type: GraphQLNamedType): string[] {
  const parts: { name: string; description: string | null | undefined }[] = [type];
  if (isObjectType(type) || isInterfaceType(type)) {
    for (const field of Object.values(type.getFields())) {
      parts.push({ ...field, name: `${type.name}.${field.name}` });
      for (const arg of field.args) parts.push({ ...arg, name: `${type.name}.${field.name}(${arg.name})` });
    }
  }
  if (isInputObjectType(type)) {
    parts.push(...Object.values(type.getFields()).map((field) => ({ ...field, name: `${type.name}.${field.name}` })));
  }
  if (isEnumType(type)) {
    parts.push(...type.getValues().map((value) => ({ ...value, name: `${type.name}.${value.name}` })));
  }
  return parts.filter(({ description }) => !description).map(({ name }) => name);
}
