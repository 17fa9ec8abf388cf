import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { ClientError, GraphQLClient, gql } from 'graphql-request';
import { describe, expect, test } from 'vitest';
import {
  PoolPageDocument,
  type PoolPageQuery,
  PoolPriceDocument,
  type PoolPriceQuery,
  PricesDocument,
} from '../support/generated/documents.ts';
import { serveGatewayForTest } from '../support/served-gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';

async function open(options?: Parameters<typeof serveGatewayForTest>[0]) {
  const gateway = await serveGatewayForTest(options);
  return { ...gateway, client: new GraphQLClient(gateway.url), height: gateway.sandbox.chain.tip.height };
}

/** What a client throws, for a look at it. */
async function errorOf(answer: Promise<unknown>): Promise<ClientError> {
  const error = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ClientError);
  return error as ClientError;
}

describe('graphql-request', () => {
  test('asks with variables', async () => {
    const { client, height } = await open();
    const query = gql`
      query ($poolId: String, $tickerIds: [String!]) {
        beaconHeight
        ticker(poolId: $poolId, tickerId: "pBTC_PRV") { tickerId }
        pairs(filter: { tickerIds: $tickerIds }) { tickerId }
      }
    `;
    expect(await client.request(query, { tickerIds: ['pETH_PRV'] })).toEqual({
      beaconHeight: height,
      ticker: { tickerId: 'pBTC_PRV' },
      pairs: [{ tickerId: 'pETH_PRV' }],
    });
  });

  test('asks by GET', async () => {
    const { url, height } = await open();
    const client = new GraphQLClient(url, { method: 'GET' });
    expect(
      await client.request('query ($chainId: Int!) { bestBlock(chainId: $chainId) { height } }', { chainId: -1 }),
    ).toEqual({
      bestBlock: { height },
    });
  });

  test('types what a typed document answers', async () => {
    const { client, height } = await open();
    const { poolPair }: PoolPriceQuery = await client.request(PoolPriceDocument, { token1Id: BTC, token2Id: PRV });
    expect(poolPair).toMatchObject({ id: `PoolPair:${PRV}-${BTC}`, beaconHeight: height, price: expect.any(Number) });
    // @ts-expect-error a variable that is needed is left out
    const { response } = await errorOf(client.request(PoolPriceDocument, { token1Id: BTC }));
    expect(response.errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'BAD_USER_INPUT' }]);
  });

  test('walks through the pages of one height', async () => {
    const { client, height, advance } = await open();
    const heights: number[] = [];
    let after: string | null = null;
    do {
      const { poolPairs }: PoolPageQuery = await client.request(PoolPageDocument, {
        first: 20,
        after,
      });
      heights.push(...(poolPairs?.edges.map(({ node }) => node.beaconHeight) ?? []));
      after = poolPairs?.pageInfo.hasNextPage ? poolPairs.pageInfo.endCursor : null;
      await advance();
    } while (after !== null);
    expect(heights).toEqual(Array(54).fill(height));
  });

  test('throws an error with its code, and keeps what was answered beside it where it is told to', async () => {
    const { client, url, height } = await open();
    const query = '{ beaconHeight ticker(tickerId: "PRV_pUSDT") { id } }';
    const { response } = await errorOf(client.request(query));
    expect(response.errors?.map(({ path, extensions }) => [path, extensions])).toEqual([
      [['ticker'], { code: 'AMBIGUOUS_TICKER', poolIds: expect.arrayContaining([expect.any(String)]) }],
    ]);
    const answer = await new GraphQLClient(url, { errorPolicy: 'all' }).rawRequest(query);
    expect(answer).toMatchObject({ status: 200, data: { beaconHeight: height, ticker: null }, errors: [{}] });
  });

  test('throws what is wrong with a document, with its code and status', async () => {
    const { client } = await open();
    for (const [query, code] of [
      ['{', 'GRAPHQL_PARSE_FAILED'],
      ['{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
      [
        `{ ${Array.from({ length: 60 }, (_, n) => `a${n}: poolPairs(first: 500) { nodes { pairs { poolPair { pairs { id } } } } }`).join(' ')} }`,
        'QUERY_TOO_COMPLEX',
      ],
    ] as const) {
      const { response } = await errorOf(client.request(query));
      expect([response.status, response.errors?.map(({ extensions }) => extensions)]).toEqual([400, [{ code }]]);
    }
  });

  test('learns that several operations in one request are not taken, unless a setting allows them', async () => {
    const { client } = await open();
    const operations = [{ document: '{ service { sandbox } }' }, { document: '{ pair(poolId: "x") { id } }' }];
    const { response } = await errorOf(client.batchRequests(operations));
    expect(response).toMatchObject({ status: 400, errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] });

    const { client: allowed } = await open({ config: { maxOperationsPerRequest: 2 } });
    expect(await allowed.batchRequests(operations)).toEqual([
      { data: { service: { sandbox: true } } },
      { data: { pair: null } },
    ]);
  });

  test('learns that it cannot subscribe', async () => {
    const { client } = await open();
    const { response } = await errorOf(client.request(PricesDocument as TypedDocumentNode<unknown, object>, {}));
    expect(response).toMatchObject({
      status: 406,
      errors: [{ message: 'A subscription requires a websocket, or a client that accepts text/event-stream.' }],
    });
  });
});
