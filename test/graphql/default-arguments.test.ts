import { type GraphQLArgument, isNonNullType, isObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import { startGatewayForTest, type TestGateway } from '../support/gateway.ts';
import { PRV } from '../support/tokens.ts';

type Case = {
  readonly name: string;
  readonly type: string;
  /** The default, and another value that gives another answer. */
  readonly values: readonly [byDefault: string, other: string];
  readonly query: (value: string) => string;
};

const BOOK = 'bids { price } asks { price }';

/** Every argument with a default, and how its field is queried. */
const CASES: readonly Case[] = [
  {
    name: 'Query.bestBlock(chainId:)',
    type: 'Int',
    values: ['-1', '0'],
    query: (value) => `{ bestBlock(chainId: ${value}) { id } }`,
  },
  {
    name: 'Query.poolPairs(orderBy:)',
    type: 'PoolPairOrder',
    values: ['ID_ASC', 'ID_DESC'],
    query: (value) => `{ poolPairs(orderBy: ${value}, first: 9) { nodes { id } pageInfo { endCursor } } }`,
  },
  {
    name: 'Token.poolPairs(orderBy:)',
    type: 'PoolPairOrder',
    values: ['ID_ASC', 'ID_DESC'],
    query: (value) => `{ token(id: "${PRV}") { poolPairs(orderBy: ${value}, first: 9) { nodes { id } } } }`,
  },
  {
    name: 'Query.orderBook(depth:)',
    type: 'Int',
    values: ['100', '0'],
    query: (value) => `{ orderBook(tickerId: "pBTC_PRV", depth: ${value}) { ${BOOK} } }`,
  },
  {
    name: 'Pair.orderBook(depth:)',
    type: 'Int',
    values: ['100', '0'],
    query: (value) => `{ pair(tickerId: "pBTC_PRV") { orderBook(depth: ${value}) { ${BOOK} } } }`,
  },
  {
    name: 'Ticker.orderBook(depth:)',
    type: 'Int',
    values: ['100', '0'],
    query: (value) => `{ ticker(tickerId: "pBTC_PRV") { orderBook(depth: ${value}) { ${BOOK} } } }`,
  },
  {
    name: 'Subscription.orderBook(depth:)',
    type: 'Int',
    values: ['100', '0'],
    query: (value) => `{ orderBook(tickerId: "pBTC_PRV", depth: ${value}) { ${BOOK} } }`,
  },
  {
    name: 'Subscription.prices(onlyChanged:)',
    type: 'Boolean',
    values: ['false', 'true'],
    query: (value) => `{ prices(onlyChanged: ${value}) { poolPairs { id } } }`,
  },
];

function argumentsWithDefault(): (readonly [string, GraphQLArgument])[] {
  return Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__'))
    .flatMap((type) => (isObjectType(type) ? Object.values(type.getFields()).map((field) => ({ type, field })) : []))
    .flatMap(({ type, field }) => field.args.map((arg) => [`${type.name}.${field.name}(${arg.name}:)`, arg] as const))
    .filter(([, arg]) => arg.default !== undefined || arg.defaultValue !== undefined);
}

describe('an argument with a default', () => {
  test('is nullable, and a test covers its null', () => {
    const args = argumentsWithDefault();
    expect(args.filter(([, { type }]) => isNonNullType(type)).map(([name]) => name)).toEqual([]);
    expect(args.map(([name]) => name).toSorted()).toEqual(CASES.map(({ name }) => name).toSorted());
  });

  test.each(CASES)('$name has its default if it is null', async ({ name, type, values, query }) => {
    const gateway = await startGatewayForTest();
    const ask = name.startsWith('Subscription.') ? secondUpdate(gateway) : gateway.ask;
    const operation = name.startsWith('Subscription.') ? 'subscription' : 'query';

    const expected = await ask(`${operation} ${query(values[0])}`);
    expect(expected?.errors).toBeUndefined();
    expect(await ask(`${operation} ${query(values[1])}`)).not.toEqual(expected);
    expect(await ask(`${operation} ${query('null')}`)).toEqual(expected);
    for (const variables of [{ value: null }, {}]) {
      expect(await ask(`${operation} ($value: ${type}) ${query('$value')}`, variables)).toEqual(expected);
    }
  });
});

/** Follows a subscription until the first block or book after its start. */
function secondUpdate({ subscribe, sandbox }: TestGateway) {
  return async (document: string, variables?: Record<string, unknown>) => {
    const updates = subscribe(document, variables);
    const { value } = await updates.next();
    if (!document.includes('prices')) return value;
    sandbox.replaceTip();
    return (await updates.next()).value;
  };
}
