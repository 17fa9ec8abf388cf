import { getIntrospectionQuery } from 'graphql';
import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import type { Operation } from '../judge.ts';

const deep = (levels: number) =>
  `{ poolPairs(first: 1) { nodes { ${'pairs { poolPair { '.repeat(levels)} id ${'} } '.repeat(levels)} } } }`;
const many = (count: number, field: (index: number) => string) =>
  `{ ${Array.from({ length: count }, (_, index) => `a${index}: ${field(index)}`).join(' ')} }`;
const multiplying = (levels: number) =>
  `${Array.from({ length: levels }, (_, level) => `fragment f${level} on PoolPair { a${level}: pairs { poolPair { ...f${level + 1} } } b${level}: pairs { poolPair { ...f${level + 1} } } }`).join('\n')}
  fragment f${levels} on PoolPair { id } { poolPairs(first: 100) { nodes { ...f0 } } }`;

/** Operations that exceed limits or are invalid, each with its error code. */
const INVALID_QUERIES: readonly ((context: SoakContext, random: Random) => Omit<Operation, 'kind'>)[] = [
  (_stage, random) => ({ query: deep(8 + random.below(40)), fails: 'QUERY_TOO_COMPLEX' }),
  (_stage, random) => ({ query: many(1_100 + random.below(900), () => '__typename'), fails: 'QUERY_TOO_COMPLEX' }),
  () => ({ query: many(500, () => 'poolPairs(first: 100) { nodes { id } }'), fails: 'QUERY_TOO_COMPLEX' }),
  () => ({ query: multiplying(12), fails: 'QUERY_TOO_COMPLEX' }),
  () => ({ query: many(4_000, () => 'beaconHeight'), fails: 'QUERY_TOO_COMPLEX' }),
  ({ shown: { chain } }) => ({
    query: many(70, (index) => `poolPairs(first: 1, at: ${chain.tip.height - 10 - index}) { totalCount }`),
    fails: 'QUERY_TOO_COMPLEX',
  }),
  () => ({ query: '{ poolPairs(first: 501) { totalCount } }', fails: 'BAD_USER_INPUT' }),
  () => ({ query: '{ poolPairs(first: 1, after: "not a cursor") { totalCount } }', fails: 'BAD_USER_INPUT' }),
  () => ({ query: '{ poolPair(token1Id: "BTC", token2Id: "7") { id } }', fails: 'BAD_USER_INPUT' }),
  () => ({ query: '{ orderBook(tickerId: "pBTC_PRV", depth: -1) { message } }', fails: 'BAD_USER_INPUT' }),
  () => ({
    query: 'query ($first: Int!) { poolPairs(first: $first) { totalCount } }',
    variables: { first: 'three' },
    fails: 'BAD_USER_INPUT',
  }),
  () => ({ query: '{ ticker(tickerId: "PRV_pUSDT") { lastPrice } }', fails: 'AMBIGUOUS_TICKER' }),
  () => ({ query: '{ poolPairs { nodes { password } } }', fails: 'GRAPHQL_VALIDATION_FAILED' }),
  () => ({ query: '{ poolPairs { ', fails: 'GRAPHQL_PARSE_FAILED' }),
  () => ({
    query: getIntrospectionQuery(),
    check: ({ __schema: schema }) => (schema === undefined ? 'no schema' : undefined),
  }),
  () => ({
    query: `{ __schema { types { fields { type { ${'fields { type { '.repeat(6)} name ${'} } '.repeat(6)} } } } } }`,
    fails: 'GRAPHQL_VALIDATION_FAILED',
  }),
];

/** A random operation that exceeds a limit or is invalid. */
export function pickInvalidQuery(context: SoakContext, random: Random): Operation {
  return { kind: 'an invalid request', ...pick(random, INVALID_QUERIES)(context, random) };
}
