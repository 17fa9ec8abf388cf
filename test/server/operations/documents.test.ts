import { GraphQLError, parse, validate } from 'graphql';
import { describe, expect, test, vi } from 'vitest';
import { schema } from '../../../src/graphql/schema.ts';
import { createDocuments } from '../../../src/server/operations/documents.ts';
import { DEFAULT_LIMITS } from '../../support/limits.ts';
import { repeat } from '../../support/operations.ts';

const read = (text: string) => createDocuments({ schema, limits: DEFAULT_LIMITS, onRefused() {} }).read(text);

describe('a document that is valid', () => {
  test('is read once, if it is not long', async () => {
    const documents = createDocuments({ schema, limits: DEFAULT_LIMITS, onRefused() {} });
    const first = documents.read('{ beaconHeight }');
    expect(documents.read('{ beaconHeight }')).toBe(first);
    const long = `{ beaconHeight } ${'#'.repeat(20_000)}`;
    expect(await documents.read(long)).not.toBe(await documents.read(long));
    // Others evict it.
    for (let n = 0; n < 40; n++) documents.read(`{ a${n}: beaconHeight } ${'#'.repeat(15_000)}`);
    expect(documents.read('{ beaconHeight }')).not.toBe(first);
  });

  test('is read in several turns of the event loop, if it has many fields', async () => {
    const reading = read(`{ ${repeat(900, (n) => `a${n}: beaconHeight`)} }`);
    expect(reading).toBeInstanceOf(Promise);
    expect((await reading).valid?.document.definitions).toHaveLength(1);
  });

  test('may have a hundred operations, thousands of lines and long names', async () => {
    const operations = repeat(100, (n) => `query ${'Q'.repeat(995)}${n} { beaconHeight }`);
    expect((await read(`${'\n'.repeat(19_999)}${operations}`)).valid?.document.definitions).toHaveLength(100);
  });

  test('is parsed in a later turn of the event loop, if its text is long', async () => {
    expect(read(`{ beaconHeight } ${'#'.repeat(10_000)}`)).not.toBeInstanceOf(Promise);
    expect(read(`${'#'.repeat(30_000)}\n{ beaconHeight }`)).toBeInstanceOf(Promise);
  });
});

test('a document does not keep its comments in memory', async () => {
  const { valid } = await read(`{ ${'#\n'.repeat(50)} beaconHeight }`);
  expect(valid?.document.loc?.startToken).toMatchObject({ kind: '<SOF>', next: null });
});

describe('a document that is refused', () => {
  test('is counted each time, and not cached', async () => {
    let refused = 0;
    const documents = createDocuments({ schema, limits: DEFAULT_LIMITS, onRefused: () => refused++ });
    for (const text of ['{', '{', '{ nothing }', '{ nothing }', `{ ${repeat(900, (n) => `a${n}: nothing`)} }`]) {
      await documents.read(text);
    }
    expect(refused).toBe(5);
  });

  test.each([
    ['alone', '{ nothing }', [{ line: 1, column: 3 }]],
    ['behind line breaks of every kind', '\n\r\n\r{ beaconHeight\n  nothing }', [{ line: 5, column: 3 }]],
    ['in a fragment', '{ ...F }\nfragment F on Query { nothing }', [{ line: 2, column: 23 }]],
    ['in an argument', '{ nodes(ids: [1,\n {}]) { id } }', [{ line: 2, column: 2 }]],
  ])('has errors with locations: %s', async (_name, text, locations) => {
    const { errors } = await read(text);
    expect(errors?.map((error) => error.toJSON().locations)).toEqual([locations]);
  });

  // A document of each rule of graphql-js, without `@defer`, `@stream` and introspection. `_` is a short or a long selection.
  test.each([
    'type A { a: Int } { _ }',
    'mutation Q { a }',
    'query Q { _ } query Q { beaconHeight }',
    '{ _ } query Q { beaconHeight }',
    'subscription { head { id } prices { beaconHeight } }',
    'query Q($v: Nothing) { poolPairs(first: $v) { totalCount } _ }',
    '{ _ ... on BeaconHeight { a } }',
    'query Q($v: Token) { poolPairs(first: $v) { totalCount } _ }',
    '{ poolPairs _ }',
    '{ nothing _ }',
    '{ ...F _ } fragment F on Query { beaconHeight } fragment F on Query { beaconHeight }',
    '{ ...F _ }',
    '{ _ } fragment F on Query { beaconHeight }',
    '{ _ ... on Token { id } }',
    '{ ...F _ } fragment F on Query { ...F }',
    'query Q($v: Int, $v: Int) { poolPairs(first: $v) { totalCount } _ }',
    '{ poolPairs(first: $v) { totalCount } _ }',
    'query Q($v: Int) { _ }',
    '{ _ beaconHeight @nothing }',
    '{ _ beaconHeight @skip(if: true) @skip(if: true) }',
    '{ poolPairs(nothing: 1) { totalCount } _ }',
    '{ poolPairs(first: 1, first: 2) { totalCount } _ }',
    '{ poolPairs(first: "x") { totalCount } _ }',
    '{ nodes { id } _ }',
    'query Q($v: String) { poolPairs(first: $v) { totalCount } _ }',
    '{ a: beaconHeight a: service { version } _ }',
    '{ poolPairs(filter: { nonEmpty: true, nonEmpty: false }) { totalCount } _ }',
    // Every place of a document.
    'query Q @nothing { _ }',
    'query Q($v: Int = 1 @nothing) { poolPairs(first: $v) { totalCount } _ }',
    '{ _ ... @nothing { beaconHeight } }',
    '{ ...F @nothing _ } fragment F on Query { beaconHeight }',
    '{ ...F _ } fragment F on Query @nothing { beaconHeight }',
    '{ _ beaconHeight @skip(if: 1) }',
    'query Q($v: Int = "x") { poolPairs(first: $v) { totalCount } _ }',
    'query Q($v: [Nothing!]!) { nodes(ids: $v) { id } _ }',
    '{ ...F _ } fragment F on Nothing { id }',
    '{ _ ... on Nothing { id } }',
    '{ _ poolPairs(filter: { nonEmpty: $v }) { totalCount } }',
    'subscription { prices(poolPairs: [{ token1Id: "a", token1Id: "b", token2Id: "c" }]) { beaconHeight } }',
  ])('has the errors of graphql-js, also if it is long: %s', async (form) => {
    for (const fields of ['beaconHeight', repeat(340, (n) => `a${n}: beaconHeight`)]) {
      const text = form.replace(/\b_\b/, fields);
      const { errors = [] } = await read(text);
      const placesOf = (some: readonly GraphQLError[]) => some.map((error) => JSON.stringify(error.locations)).sort();
      expect(placesOf(errors)).toEqual(placesOf(validate(schema, parse(text))));
      expect(errors).not.toEqual([]);
    }
  });

  test.each([
    'poolPairs(first: _) { totalCount }',
    'poolPairs(orderBy: _) { totalCount }',
    'poolPairs(filter: _) { totalCount }',
    'poolPairs(filter: { nonEmpty: _, symbols: _ }) { totalCount }',
    'nodes(ids: _) { id }',
  ])('has the errors of graphql-js for values of every kind: %s', async (field) => {
    for (const value of ['null', 'RED', '1', '1.5', 'true', '"x"', '[1]', '[null]', '{}', '{ a: 1, nonEmpty: [2] }']) {
      const text = `{ ${field.replaceAll('_', value)} }`;
      const { errors = [] } = await read(text);
      expect(errors.map(({ message }) => message)).toEqual(validate(schema, parse(text)).map(({ message }) => message));
    }
  });

  test('has a syntax error with a location', async () => {
    const { errors } = await read('\n\n{ a b: }');
    expect(errors?.map((error) => error.toJSON())).toEqual([
      {
        message: 'Syntax Error: Expected Name, found "}".',
        locations: [{ line: 3, column: 8 }],
        extensions: { code: 'GRAPHQL_PARSE_FAILED', http: { status: 400, spec: true } },
      },
    ]);
  });

  test.each([100, 5_000])('reports a hundred of %i errors, and that there are more', async (count) => {
    const { errors = [] } = await read(`${'\n'.repeat(10_000)}{ ${repeat(count + 1, (n) => `a${n}`)} }`);
    expect(errors).toHaveLength(101);
    expect(errors[0]?.locations).toEqual([{ line: 10_001, column: 3 }]);
    expect(errors[100]?.message).toBe('Validation stopped after 100 errors.');
    expect(errors[100]?.extensions['code']).toBe('TOO_MANY_ERRORS');
  });

  test('has errors without stack traces, and its lines are counted once', async () => {
    const lines = '\n'.repeat(15_000);
    const matchAll = vi.spyOn(String.prototype, 'matchAll');
    const text = `${lines}{ ${repeat(200, (n) => `a${n}`)} }`;
    const { errors = [] } = await read(text);
    const searched = matchAll.mock.contexts.reduce<number>((sum, each) => sum + String(each).length, 0);
    matchAll.mockRestore();
    expect(searched).toBe(text.length);
    expect(errors.map(({ stack }) => stack)).toEqual(errors.map(() => expect.not.stringContaining('\n    at ')));
    expect(errors.every((error) => error instanceof GraphQLError)).toBe(true);
  });

  test('has errors that quote only the beginning of a long text', async () => {
    const { errors } = await read(`{ poolPairs(first: ${'9'.repeat(250_000)}) { totalCount } }`);
    expect(errors?.map(({ message }) => message.length <= 550)).toEqual([true]);
    expect(errors?.[0]?.message).toMatch(/^Int cannot represent .*99… \(250\d\d\d characters\)$/);
  });

  test.each([
    [
      'variables of fragments in many operations',
      `${repeat(90, (n) => `query Q${n}($v: Int) { ...F }`)} fragment F on Query { ${repeat(300, (n) => `a${n}: poolPairs(first: $v) { totalCount }`)} }`,
    ],
    [
      'fragments of many operations',
      `${repeat(90, (n) => `query Q${n} { ...F${n} }`)} ${repeat(900, (n) => `fragment F${n} on Query { ...F${n + 1} }`)} fragment F900 on Query { beaconHeight }`,
    ],
  ])('is refused because it takes long to validate: %s', async (_name, text) => {
    const { errors } = await read(text);
    expect(errors?.map(({ extensions }) => extensions['code'])).toEqual(['QUERY_TOO_COMPLEX']);
  });

  test.each([30, 3_000])('has one error for a literal that is long, of %i wrong fields', async (count) => {
    const fields = repeat(count, (n) => `wrong${n}: 1`);
    const { errors = [] } = await read(
      `{ a: poolPairs(filter: { ${fields} }) { totalCount } b: poolPairs(first: "x") { totalCount } }`,
    );
    expect(errors.map(({ message }) => message.slice(0, 60))).toEqual([
      'Expected value of type "PoolPairFilter" not to include unkno',
      'Int cannot represent non-integer value: "x"',
    ]);
  });

  test('has an error for each wrong field of a short literal', async () => {
    const { errors = [] } = await read('{ poolPairs(filter: { wrong: 1, bad: [{}], nonEmpty: 2 }) { totalCount } }');
    expect(errors.map(({ locations }) => locations?.[0]?.column)).toEqual([54, 23, 33]);
  });

  test.each([
    [
      'operations',
      repeat(101, (n) => `query Q${n} { beaconHeight }`),
      'The document has too many operations. The maximum is 100.',
    ],
    ['lines', `${'\n'.repeat(20_000)}{ beaconHeight }`, 'The document has too many lines. The maximum is 20000.'],
    [
      'lines of old files',
      `${'\r'.repeat(20_000)}{ beaconHeight }`,
      'The document has too many lines. The maximum is 20000.',
    ],
    [
      'characters of a name',
      `{ ${'a'.repeat(1_001)}: beaconHeight }`,
      'A name has 1001 characters. The maximum is 1000.',
    ],
  ])('is refused before it is validated, because it has too many %s', async (_name, text, message) => {
    const { errors } = await read(text);
    expect(errors?.map((error) => error.toJSON())).toEqual([
      { message, extensions: { code: 'QUERY_TOO_COMPLEX', http: { status: 400, spec: true } } },
    ]);
  });
});
