import { beforeAll, describe, expect, test } from 'vitest';
import { startGateway, startGatewayForTest, type TestGateway } from '../support/gateway.ts';
import { BTC, NOBODYS, PRV } from '../support/tokens.ts';

const PAGE =
  'totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { id beaconHeight price } } nodes { id }';
const OF_TOKEN = `query ($id: TokenId!, $first: Int, $after: String, $last: Int, $before: String, $orderBy: PoolPairOrder) {
  token(id: $id) { poolPairs(first: $first, after: $after, last: $last, before: $before, orderBy: $orderBy) { ${PAGE} } }
}`;
const FILTERED = `query ($id: TokenId!, $first: Int, $after: String, $last: Int, $before: String, $orderBy: PoolPairOrder) {
  poolPairs(filter: { tokenId: $id }, first: $first, after: $after, last: $last, before: $before, orderBy: $orderBy) { ${PAGE} }
}`;

type Page = {
  readonly edges: readonly { readonly node: { readonly id: string; readonly beaconHeight: number } }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
};

describe('Token.poolPairs', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const started = await startGateway();
    gateway = started;
    return started.close;
  });

  test.each([
    ['all', {}],
    ['a first page', { first: 4 }],
    ['a last page', { last: 3 }],
    ['another order', { first: 5, orderBy: 'NATIVE_LIQUIDITY_DESC' }],
    ['nothing', { first: 0 }],
  ])('is the list of all pools with the token as its filter: %s', async (_name, variables) => {
    const { ask, sandbox } = gateway;
    for (const id of [PRV, BTC]) {
      const { data, errors } = await ask(OF_TOKEN, { id, ...variables });
      expect(errors).toBeUndefined();
      const held = sandbox.chain.pools.filter(({ token1, token2 }) => token1.id === id || token2.id === id);
      expect(data.token.poolPairs.totalCount).toBe(held.length);
      expect(data.token).toEqual((await ask(FILTERED, { id, ...variables })).data);
    }
  });

  test('has pages that stay at the height of the first one', async () => {
    const { ask, advance, sandbox } = gateway;
    const { height } = sandbox.chain.tip;
    const { data: whole } = await ask(OF_TOKEN, { id: PRV });
    const ids: string[] = [];
    let after: string | null = null;
    do {
      const { edges, pageInfo }: Page = (await ask(OF_TOKEN, { id: PRV, first: 10, after })).data.token.poolPairs;
      for (const { node } of edges) {
        expect(node.beaconHeight).toBe(height);
        ids.push(node.id.replace(/@\d+$/, ''));
      }
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
      await advance();
    } while (after !== null);
    expect(ids).toEqual(whole.token.poolPairs.nodes.map(({ id }: { id: string }) => id));
  });

  test('is empty for a token in no pool, and refuses pages that are not valid', async () => {
    const { ask } = await startGatewayForTest({
      config: { tokensFile: [{ tokenId: NOBODYS, symbol: 'NONE', decimals: 9 }] },
    });
    const { data } = await ask(OF_TOKEN, { id: NOBODYS });
    expect(data.token.poolPairs).toMatchObject({ totalCount: 0, edges: [], pageInfo: { endCursor: null } });
    for (const misuse of [{ first: 501 }, { first: 1, last: 1 }, { after: 'x' }]) {
      const answer = await ask(OF_TOKEN, { id: PRV, ...misuse });
      expect(answer.data).toEqual({ token: { poolPairs: null } });
      expect(answer.errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
    }
  });

  test('counts as its page size wherever it is selected', async () => {
    const { ask } = await startGatewayForTest({ config: { maxComplexity: 1_000 } });
    const codes = async (query: string) => (await ask(query)).errors?.map(({ extensions }) => extensions.code);
    const inPools = (first: number) =>
      `{ poolPairs(first: 20) { nodes { token2 { poolPairs(first: ${first}) { totalCount nodes { id } } } } } }`;
    expect(await codes(inPools(5))).toBeUndefined();
    expect(await codes(inPools(40))).toEqual(['QUERY_TOO_COMPLEX']);
  });
});
