import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

describe('bad input fails its own field, and the rest of the answer is complete', () => {
  const pool = `poolPair(token1Id: "${PRV}", token2Id: "${BTC}"`;
  test.each([
    ['a token id that is too short', `poolPair(token1Id: "${PRV.slice(1)}", token2Id: "${BTC}") { id }`],
    ['a token id in capitals', `poolPair(token1Id: "${PRV}", token2Id: "${BTC.toUpperCase()}") { id }`],
    ['a token id that is a number', `poolPair(token1Id: 4, token2Id: "${BTC}") { id }`],
    ['a token id inside a filter', 'poolPairs(filter: { tokenId: "x" }) { totalCount }'],
    ['height 0', `${pool}, at: 0) { id }`],
    ['a height below 0', `${pool}, at: -5) { id }`],
    ['half a height', `${pool}, at: 1.5) { id }`],
    ['a height that is a text', `${pool}, at: "1640000") { id }`],
    ['a height above 2^53 - 1', `${pool}, at: 9007199254740992) { id }`],
    ['a page below 0', 'poolPairs(first: -1) { totalCount }'],
    ['a page that is too large', 'poolPairs(last: 501) { totalCount }'],
    ['both first and last', 'poolPairs(first: 1, last: 1) { totalCount }'],
    ['a text that is no cursor', 'poolPairs(before: "x") { totalCount }'],
    ['a negative depth', 'orderBook(tickerId: "pBTC_PRV", depth: -1) { bestBid }'],
    ['no ticker at all', 'ticker { id }'],
    ['a text that is no id', 'node(id: "x") { id }'],
    ['an id with something behind its height', `node(id: "PoolPair:${PRV}-${BTC}@1640000@junk") { id }`],
    ['a token that is none', 'token(id: "x") { id }'],
  ])('%s', async (_name, field) => {
    const { data, errors } = await gateway.ask(`{ bad: ${field} beaconHeight }`);
    expect(data).toEqual({ bad: null, beaconHeight: gateway.sandbox.chain.tip.height });
    expect(errors).toEqual([
      {
        message: expect.any(String),
        path: ['bad'],
        locations: expect.any(Array),
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
  });

  test.each([-1, 31, 1_000])('%d decimals', async (decimals) => {
    const { data, errors } = await gateway.ask(
      `{ ${pool}) { price(decimals1: ${decimals}) exactPrice(decimals2: ${decimals}) spotPrice } }`,
    );
    expect(data.poolPair).toEqual({ price: null, exactPrice: null, spotPrice: expect.any(Number) });
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['poolPair', 'price'], 'BAD_USER_INPUT'],
      [['poolPair', 'exactPrice'], 'BAD_USER_INPUT'],
    ]);
  });

  test('in a variable', async () => {
    const { data, errors } = await gateway.ask(
      'query ($at: BeaconHeight, $id: TokenId!) { poolPairs(at: $at) { totalCount } token(id: $id) { id } beaconHeight }',
      { at: 'x', id: 'y' },
    );
    expect(data).toEqual({ poolPairs: null, token: null, beaconHeight: gateway.sandbox.chain.tip.height });
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['poolPairs'], 'BAD_USER_INPUT'],
      [['token'], 'BAD_USER_INPUT'],
    ]);
  });
});

describe('an error in the document', () => {
  test.each([
    ['is no GraphQL', '{', undefined, 'GRAPHQL_PARSE_FAILED'],
    ['asks for a field that is not there', '{ nothing }', undefined, 'GRAPHQL_VALIDATION_FAILED'],
    [
      'has variables that do not fit',
      'query ($n: Int!) { poolPairs(first: $n) { totalCount } }',
      { n: 'x' },
      'BAD_USER_INPUT',
    ],
    ['lacks a variable', 'query ($n: Int!) { poolPairs(first: $n) { totalCount } }', {}, 'BAD_USER_INPUT'],
    ['has too many tokens', `{ ${'beaconHeight '.repeat(10_000)} }`, undefined, 'QUERY_TOO_COMPLEX'],
    ['is too deep', `{ chainInfo ${'{ beacon '.repeat(3_000)}${'}'.repeat(3_000)} }`, undefined, 'QUERY_TOO_COMPLEX'],
  ])('has a code where it %s', async (_name, query, variables, code) => {
    const { data, errors } = await gateway.ask(query, variables);
    expect(data).toBeUndefined();
    expect(errors?.[0]?.extensions).toEqual({ code });
  });
});
