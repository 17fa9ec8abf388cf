import { buildSchema, type GraphQLInterfaceType, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createExecutions, executePlanned } from '../../support/executions.ts';

/** A schema whose fields fail in every way: at once or later, nullable or not. */
const schema = buildSchema(`
  type Query { thing: Thing things: [Thing] all: [Thing!]! lists: [[Int!]] must: Thing! any: [Any] one: Any leaf: Leaf }
  interface Any { name: String }
  type Thing implements Any {
    name: String thing: Thing must: Thing! later: Int mustLater: Int! bad: Int mustBad: Int!
    things: [Thing!] all: [Thing!]! some: [Thing] nothing: Int mustHave: Int! error: Int
  }
  type Other implements Any { name: String other: Int! }
  enum Word { YES NO }
  type Leaf { int: Int float: Float text: String id: ID flag: Boolean word: Word }
`);

const THING = {
  name: 'a "thing"',
  thing: () => THING,
  must: () => THING,
  later: () => later(new Error('later')),
  mustLater: () => later(new Error('must later')),
  bad: () => fail('bad'),
  mustBad: () => fail('must bad'),
  things: () => [THING, later(THING), THING],
  all: () => [THING, null, THING],
  some: () => [THING, later(new Error('entry')), null, new Error('entry at once'), later(null)],
  nothing: undefined,
  mustHave: null,
  error: new Error('given as a value'),
};

const LEAVES: Readonly<Record<string, unknown>> = {
  good: { int: -0, float: 1e300, text: '\u2028"\\\ud800', id: 7, flag: false, word: 'YES' },
  coerced: { int: '12', float: true, text: 4, id: 9n, flag: 1, word: 'NO' },
  wrong: { int: 2 ** 31, float: Number.NaN, text: {}, id: {}, flag: 'x', word: 'MAYBE' },
  missing: {},
};

function root(leaf: string) {
  return {
    thing: THING,
    things: () => [THING, later(THING), null],
    all: () => later([THING, THING]),
    lists: () => [[1, 2], null, [3, null], later([4]), [later(6), later(new Error('in a list'))]],
    must: () => later(THING),
    any: () => [
      THING,
      { kind: 'Other', other: 1 },
      { kind: 'Nobody' },
      later({ kind: 'Other', name: 'o' }),
      { kind: 'Word' },
    ],
    one: () => later(THING),
    leaf: LEAVES[leaf],
  };
}

(schema.getType('Any') as GraphQLInterfaceType).resolveType = (value) => value.kind ?? 'Thing';

function fail(message: string): never {
  throw new Error(message);
}

/** It is handled at once: in a list, the executor can come to it in a later turn of the event loop. */
function later<T>(value: T): Promise<T> {
  const promise = Promise.resolve().then(() => {
    if (value instanceof Error) throw value;
    return value;
  });
  promise.catch(() => {});
  return promise;
}

describe('errors have the paths that graphql-js gives them', () => {
  const { expectSame } = createExecutions(schema, () => ({}));

  test.each([
    '{ thing { bad name later nothing error } }',
    '{ thing { name mustBad } }',
    '{ thing { thing { thing { mustHave } name } name } }',
    '{ thing { must { must { mustHave } } name } leaf { int } }',
    '{ must { must { mustLater } } }',
    '{ must { mustBad } thing { name } }',
    '{ thing { mustLater } must { name } }',
    '{ things { name } }',
    '{ things { things { name } later } }',
    '{ things { all { name } } }',
    '{ things { some { name } bad } }',
    '{ all { name some { bad } } }',
    '{ all { mustLater } }',
    '{ lists }',
    '{ one { __typename name ... on Thing { bad } ... on Other { other } } }',
    '{ leaf { int float text id flag word __typename } thing { __typename } __typename }',
  ])('%s', async (query) => {
    for (const leaf of Object.keys(LEAVES)) await expectSame({ document: parse(query), rootValue: root(leaf) });
  });

  test('several errors in one object that becomes null are all reported', async () => {
    const document = parse('{ thing { later mustBad bad } leaf { int } }');
    const { text, errors } = await executePlanned({ schema, document, rootValue: root('good') });
    expect(text).toBe('{"thing":null,"leaf":{"int":0}}');
    expect(errors?.map(({ message, path }) => [message, path])).toEqual([
      ['later', ['thing', 'later']],
      ['must bad', ['thing', 'mustBad']],
    ]);
  });
});
