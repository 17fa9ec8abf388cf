import { isInterfaceType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { heightFinderOf } from '../../src/graphql/complexity.ts';
import { schema } from '../../src/graphql/schema.ts';

test('the heights of every argument that can name one count, except the height after which a subscription resumes', () => {
  const types = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) || isInterfaceType(type));
  const named = types.flatMap((type) =>
    Object.values(type.getFields()).flatMap((field) =>
      field.args.flatMap(({ name }) => {
        const find = heightFinderOf(field);
        const cursor = Buffer.from(`7:aaaaaaaaaaa:0:${'a'.repeat(64)}-${'b'.repeat(64)}:`).toString('base64url');
        const values = [7, cursor, 'PoolPair:a-b@7', ['Token:a', 'PoolPair:a-b@7']];
        const isNamed = values.some((value) => find?.({ [name]: value })[0] === 7);
        return isNamed ? [`${type.name}.${field.name}(${name})`] : [];
      }),
    ),
  );
  expect(named.sort()).toEqual([
    'Query.exchangeParams(at)',
    'Query.node(id)',
    'Query.nodes(ids)',
    'Query.pool(at)',
    'Query.poolPair(at)',
    'Query.poolPairs(after)',
    'Query.poolPairs(at)',
    'Query.poolPairs(before)',
    'Query.quote(at)',
    'Token.poolPairs(after)',
    'Token.poolPairs(before)',
  ]);
});
