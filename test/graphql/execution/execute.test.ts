import fc from 'fast-check';
import { getIntrospectionQuery, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createContext } from '../../../src/graphql/context.ts';
import { schema } from '../../../src/graphql/schema.ts';
import { everyField, randomOperation } from '../../support/any-operation.ts';
import { createExecutions, type Executions, executePlanned } from '../../support/executions.ts';
import { startGateway } from '../../support/gateway.ts';
import { HONEST } from '../../support/operations.ts';
import { BTC, NOBODYS, PRV } from '../../support/tokens.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
let executions: Executions;
beforeAll(async () => {
  // The data must not change between two executions.
  const config = { headPollMs: 600_000, marketPollMs: 600_000, orderBookTtlMs: 600_000 };
  gateway = await startGateway({ config, sandbox: { pools: 18 } });
  await gateway.ask('{ beaconHeight pairs { id } tickers { id } }');
  executions = createExecutions(schema, () => createContext(gateway.app.service));
});
afterAll(() => gateway.close());

const POOL = `poolPair(token1Id: "${PRV}", token2Id: "${BTC}")`;
const NAMED = [`PoolPair:${PRV}-${BTC}`, `Token:${PRV}`, `Token:${NOBODYS}`, 'BestBlock:-1', 'BestBlock:99', 'x'];

describe('the executor returns the result of graphql-js for', () => {
  test.each<[string, string, Record<string, unknown>?]>([
    ['a field', '{ beaconHeight }'],
    ['promises between other values', '{ service { version } a: beaconHeight b: service { sandbox } tokens { id } }'],
    [
      'fragments in fragments',
      `{ ...A } fragment A on Query { ${POOL} { ...B ... { key } ... on Node { id } } } fragment B on PoolPair { token1 { ...C } } fragment C on Token { symbol }`,
    ],
    [
      'a field that several fragments select',
      `{ ${POOL} { token1 { id } ...B ... on PoolPair { token1 { symbol id } } token2 { symbol } } } fragment B on PoolPair { token2 { decimals } token1 { decimals } }`,
    ],
    [
      'a fragment spread twice',
      `{ ${POOL} { ...B ...B token1 { ...C } token2 { ...C } } } fragment B on PoolPair { id key } fragment C on Token { symbol id }`,
    ],
    ['aliases', `{ a: ${POOL} { x: id y: id __typename z: __typename } b: ${POOL} { id } }`],
    [
      'abstract types',
      `query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ...T ... on PoolPair { price } ... on BestBlock { height } } } fragment T on Token { symbol }`,
      { ids: NAMED },
    ],
    [
      'an object of any type',
      `{ a: node(id: "Token:${PRV}") { __typename ... on Token { decimals } } b: node(id: "Token:${NOBODYS}") { id } c: node(id: "x") { id } }`,
    ],
    [
      'directives that are constant',
      `{ ${POOL} { id @skip(if: true) key @include(if: false) price @skip(if: false) @include(if: true) } beaconHeight @include(if: true) }`,
    ],
    [
      'directives that omit nothing',
      `query ($a: Boolean!) { ${POOL} { id key @include(if: $a) ... @skip(if: $a) { price } } }`,
      { a: true },
    ],
    [
      'directives with other variables',
      `query ($a: Boolean!) { ${POOL} { id key @include(if: $a) ... @skip(if: $a) { price } ...F @include(if: $a) } } fragment F on PoolPair { spotPrice }`,
      { a: false },
    ],
    ['a selection that directives empty', `query ($a: Boolean = false) { ${POOL} { id @include(if: $a) } }`],
    [
      'variables with defaults',
      'query ($first: Int = 3, $order: PoolPairOrder! = ID_DESC) { poolPairs(first: $first, orderBy: $order) { nodes { id } } }',
    ],
    [
      'null for a variable with a default',
      'query ($first: Int = 3) { poolPairs(first: $first) { totalCount nodes { id } } }',
      { first: null },
    ],
    [
      'an omitted variable in an argument with a default',
      'query ($depth: Int! = 4) { orderBook(tickerId: "pBTC_PRV", depth: $depth) { bids { price } } }',
    ],
    [
      'variables in input objects',
      'query ($token: TokenId, $symbol: String!) { poolPairs(filter: { tokenId: $token, symbols: [$symbol, "pBTC"] }) { nodes { id } } }',
      { symbol: 'pETH' },
    ],
    [
      'invalid scalars in the document',
      `{ a: poolPair(token1Id: "x", token2Id: "${BTC}") { id } b: poolPairs(at: -1, filter: { tokenId: "y" }) { totalCount } beaconHeight }`,
    ],
    [
      'invalid scalars in variables',
      `query ($a: TokenId!, $at: BeaconHeight = 0, $f: PoolPairFilter) { poolPair(token1Id: $a, token2Id: "${BTC}") { id } a: poolPairs(at: $at) { totalCount } b: poolPairs(filter: $f) { totalCount } token(id: $a) { id } }`,
      { a: 'x', f: { tokenId: 'z' } },
    ],
    [
      'errors in a list',
      '{ poolPairs(first: 4) { nodes { id price(decimals1: 99) exactPrice(decimals2: -1) } edges { cursor node { spotPrice(decimals1: 31) } } } }',
    ],
    [
      'errors of several fields',
      `{ a: ${POOL.slice(0, -1)}, at: 9007199254740991) { id } b: poolPairs(first: 1, last: 1) { totalCount } c: ticker { id } d: orderBook(tickerId: "x", depth: -1) { bestBid } e: orderBook(tickerId: "none") { bestBid } }`,
    ],
    [
      'strings with characters that JSON escapes',
      `query ($id: ID!) { node(id: $id) { id } tokens { symbol } }`,
      { id: 'a"b\\\n\u2028\ud800' },
    ],
  ])('%s', async (_name, query, variableValues) => {
    await executions.expectSame({ document: parse(query), variableValues });
  });

  test.each(Object.entries(HONEST).filter(([name]) => !/introspection|types by name/.test(name)))(
    '%s',
    async (_name, toOperation) => {
      const { query, variables, operationName } = toOperation(gateway.sandbox.chain.tip.height);
      await executions.expectSame({ document: parse(query), variableValues: variables, operationName });
    },
  );

  test.each(everyField(schema))('every field of %s', async (_name, query, variableValues) => {
    await executions.expectSame({ document: parse(query), variableValues });
  });

  test('each operation of a document, with variables that select other fields', async () => {
    const document = parse(
      `query A($x: Boolean!) { ${POOL} { ...F } } query B($x: Boolean!) { beaconHeight ...G } fragment F on PoolPair { id price @skip(if: $x) } fragment G on Query { service { version @include(if: $x) sandbox } }`,
    );
    for (const operationName of ['A', 'B', 'A']) {
      for (const x of [true, false]) await executions.expectSame({ document, operationName, variableValues: { x } });
    }
  });

  test('an operation whose variables have the names of conditions of another one', async () => {
    const document = parse(
      `query A($x: String, $y: Boolean!, $z: String, $f: PoolPairFilter) { beaconHeight @skip(if: $y) pairs(filter: { base: $x, target: $z }) { id } poolPairs(filter: $f) { totalCount } }
       query B($x: Boolean!, $z: Boolean!, $f: Boolean!) { beaconHeight @skip(if: $x) service { version @skip(if: $z) sandbox @skip(if: $f) } }`,
    );
    for (const variableValues of [
      { x: 'p,true', y: false, z: 'q', f: { nonEmpty: true } },
      { x: 'p', y: true, z: 'false,q', f: { nonEmpty: true } },
    ])
      await executions.expectSame({ document, operationName: 'A', variableValues });
  });

  test('random operations', async () => {
    await fc.assert(
      fc.asyncProperty(randomOperation(schema), async ({ query, variableValues }) => {
        await executions.expectSame({ document: parse(query), variableValues });
      }),
      { numRuns: 150, endOnFailure: true },
    );
  });
});

describe('the executor returns the result of graphql-js for unusual operations', () => {
  test.each<[string, string, Record<string, unknown>?]>([
    ['introspection', getIntrospectionQuery()],
    ['a type by its name', '{ beaconHeight __type(name: "Query") { name } }'],
    ['null for a directive', 'query ($a: Boolean = true) { beaconHeight @include(if: $a) }', { a: null }],
    [
      'null for a directive further down',
      `query ($a: Boolean = true) { ${POOL} { id @skip(if: $a) } poolPairs(first: 2) { nodes { price @include(if: $a) } } }`,
      { a: null },
    ],
    [
      'null for an argument that is not nullable',
      'query ($a: String = "x") { beaconHeight orderBook(tickerId: $a) { bestBid } }',
      { a: null },
    ],
    [
      'null for an argument that is not nullable, on each object',
      'query ($a: Int = 1) { chainInfo { shard(id: $a) { id } } }',
      { a: null },
    ],
    [
      'more errors than are reported',
      '{ poolPairs(first: 20) { nodes { a: price(decimals1: 99) b: price(decimals2: -1) c: exactPrice(decimals1: 31) d: spotPrice(decimals1: 77) e: inversePrice(decimals2: 40) f: price(decimals1: 98) } } }',
    ],
  ])('%s', async (_name, query, variableValues) => {
    await executions.expectSame({ document: parse(query), variableValues });
  });
});

describe('an operation that cannot be executed has the errors of graphql-js', () => {
  test.each<[string, string, Record<string, unknown>?]>([
    ['variables of wrong types', 'query ($first: Int) { poolPairs(first: $first) { totalCount } }', { first: 'x' }],
    ['a variable that is missing', 'query ($id: ID!) { node(id: $id) { id } }'],
    [
      'several invalid variables',
      'query ($id: ID!, $n: Int, $ids: [ID!]) { node(id: $id) { id } a: poolPairs(first: $n) { totalCount } nodes(ids: $ids) { id } }',
      { id: {}, n: 1.5, ids: [1, {}] },
    ],
  ])('%s', async (_name, query, variableValues) => {
    await executions.expectSameRefusal({ document: parse(query), variableValues });
  });
});

test.each([
  [
    'in the document',
    '{ poolPairs(first: 9) { nodes { price(decimals1: 99) } } tickers { orderBook(depth: -1) { bestBid } } }',
  ],
  [
    'in variables',
    'query ($d: Int = 99, $n: Int = -1) { poolPairs(first: 9) { nodes { price(decimals1: $d) } } tickers { orderBook(depth: $n) { bestBid } } }',
  ],
])('an invalid argument is checked once, not for each object of a list: %s', async (_name, query) => {
  const contextValue = createContext(gateway.app.service);
  const { errors = [] } = await executePlanned({ schema, document: parse(query), contextValue });
  expect(errors.length).toBeGreaterThan(30);
  expect(new Set(errors.map(({ originalError }) => originalError)).size).toBe(2);
});
