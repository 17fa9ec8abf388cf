import { gql, HttpLink } from '@apollo/client';
import { BatchHttpLink } from '@apollo/client/link/batch-http';
import { lastValueFrom, take } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { codesThrown, connectApollo } from '../support/apollo.ts';
import type { TestGatewayOptions } from '../support/gateway.ts';
import { PoolPriceDocument, PricesDocument } from '../support/generated/documents.ts';
import { repeat } from '../support/operations.ts';
import { serveGatewayForTest } from '../support/served-gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';
import { serveTwoGateways } from '../support/two-gateways.ts';

const HEIGHT = gql`{ beaconHeight }`;
const HEADS = gql`subscription { head { beaconHeight } }`;

async function open(options?: TestGatewayOptions) {
  const gateway = await serveGatewayForTest(options);
  return { gateway, client: connectApollo(gateway), height: gateway.sandbox.chain.tip.height };
}

describe('Apollo Client', () => {
  test('asks over HTTP', async () => {
    const { client, height } = await open();
    const query = gql`query ($ids: [String!]) { beaconHeight pairs(filter: { tickerIds: $ids }) { tickerId baseToken { symbol } } }`;
    expect(await client.query({ query, variables: { ids: ['pBTC_PRV'] } })).toEqual({
      data: {
        beaconHeight: height,
        pairs: [{ __typename: 'Pair', tickerId: 'pBTC_PRV', baseToken: { __typename: 'Token', symbol: 'BTC' } }],
      },
    });
  });

  test('subscribes over a websocket, with a typed document', async () => {
    const { client, height, gateway } = await open();
    const heights: unknown[] = [];
    const prices = client.subscribe({ query: PricesDocument, variables: { tokenIds: [BTC] } }).pipe(take(3));
    await prices.forEach(({ data }) => {
      heights.push(data?.prices.beaconHeight);
      gateway.sandbox.advance();
    });
    expect(heights).toEqual([height, height + 1, height + 2]);
  });

  test('goes on with its subscription at the gateway that takes the place of one that stopped', async () => {
    const gateway = await serveGatewayForTest();
    const start = gateway.sandbox.chain.tip.height;
    const { promise: isReplaced, resolve: replaced } = Promise.withResolvers<void>();
    const client = connectApollo(gateway, { retryWait: () => isReplaced });
    const updates: unknown[] = [];
    const heads = client.subscribe({ query: HEADS }).pipe(take(2));
    await heads.forEach(async (update) => {
      updates.push(update);
      if (updates.length > 1) return;
      await gateway.replace(5);
      replaced();
    });
    const head = (beaconHeight: number) => ({ data: { head: { __typename: 'Head', beaconHeight } } });
    expect(updates).toEqual([head(start), head(start + 5)]);
    expect(await client.query({ query: HEIGHT })).toEqual({ data: { beaconHeight: start + 5 } });
  });

  test('throws the error of a field with its code, or keeps the rest of the answer where it is told to', async () => {
    const { client, height } = await open();
    const query = gql`{ beaconHeight ticker(tickerId: "PRV_pUSDT") { id } }`;
    expect(await codesThrown(client.query({ query }))).toEqual(['AMBIGUOUS_TICKER']);
    expect(await client.query({ query, errorPolicy: 'all', fetchPolicy: 'no-cache' })).toEqual({
      data: { beaconHeight: height, ticker: null },
      error: expect.objectContaining({
        errors: [
          expect.objectContaining({
            path: ['ticker'],
            extensions: expect.objectContaining({ code: 'AMBIGUOUS_TICKER' }),
          }),
        ],
      }),
    });
    const future = client.query({
      query: PoolPriceDocument,
      variables: { token1Id: PRV, token2Id: BTC, at: height + 9 },
    });
    expect(await codesThrown(future)).toEqual(['HEIGHT_NOT_AVAILABLE']);
  });

  test('throws the code for a document that is refused', async () => {
    const { client } = await open();
    const tooMuch = repeat(60, (n) => `a${n}: poolPairs(first: 500) { nodes { pairs { poolPair { pairs { id } } } } }`);
    for (const [text, code] of [
      ['{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
      ['{ ... @defer { beaconHeight } }', 'GRAPHQL_VALIDATION_FAILED'],
      [`{ ${tooMuch} }`, 'QUERY_TOO_COMPLEX'],
      ['query ($id: ID!) { node(id: $id) { id } }', 'BAD_USER_INPUT'],
    ] as const)
      expect([text, await codesThrown(client.query({ query: gql(text) }))]).toEqual([text, [code]]);
  });

  test('hears the code for a subscription that is refused, and goes on with the others', async () => {
    const { client, height, gateway } = await open();
    const heads: unknown[] = [];
    const { promise: isFollowed, resolve: followed } = Promise.withResolvers<void>();
    const done = client
      .subscribe<{ head: { beaconHeight: number } }>({ query: HEADS })
      .pipe(take(2))
      .forEach(({ data }) => {
        heads.push(data?.head.beaconHeight);
        followed();
      });
    await isFollowed;
    for (const [query, code] of [
      [gql`subscription { prices(tokenIds: []) { beaconHeight } }`, 'BAD_USER_INPUT'],
      [gql`subscription { nothing }`, 'GRAPHQL_VALIDATION_FAILED'],
    ] as const) {
      const { error } = await lastValueFrom(client.subscribe({ query }));
      expect(await codesThrown(Promise.reject(error))).toEqual([code]);
    }
    gateway.sandbox.advance();
    await done;
    expect(heads).toEqual([height, height + 1]);
  });

  test('asks several queries in one request only where a setting allows them', async () => {
    const askBoth = async (options?: TestGatewayOptions) => {
      const gateway = await serveGatewayForTest(options);
      const client = connectApollo(gateway, { http: new BatchHttpLink({ uri: gateway.url, batchInterval: 0 }) });
      const queries = [HEIGHT, gql`{ service { sandbox } }`];
      return Promise.allSettled(queries.map((query) => client.query({ query })));
    };
    const refused = {
      result: [
        {
          errors: [
            {
              message: 'Batching is not supported. The setting MAX_OPERATIONS_PER_REQUEST of the gateway allows it.',
              extensions: { code: 'BAD_USER_INPUT' },
            },
          ],
        },
      ],
    };
    expect(await askBoth()).toMatchObject(Array(2).fill({ status: 'rejected', reason: refused }));
    expect(await askBoth({ config: { maxOperationsPerRequest: 2 } })).toEqual([
      { status: 'fulfilled', value: { data: { beaconHeight: expect.any(Number) } } },
      { status: 'fulfilled', value: { data: { service: { __typename: 'Service', sandbox: true } } } },
    ]);
  });
});

test('Apollo Client, between two gateways, names the newest height that it has seen and gets no older one', async () => {
  const { sandbox, behind, advance, catchUp, waiting, ...gateways } = await serveTwoGateways();
  const { height } = sandbox.chain.tip;
  let newest = 0;
  const minimum = () => ({ 'x-pdex-min-height': newest });
  const fetchNewest: typeof fetch = async (url, options) => {
    const headers = { ...(options?.headers as object), 'x-pdex-min-height': String(newest) };
    const response = await gateways.fetch(url, { ...options, headers });
    newest = Math.max(newest, Number(response.headers.get('x-pdex-height')));
    return response;
  };
  const http = new HttpLink({ uri: behind.url, fetch: fetchNewest });
  const client = connectApollo(behind, { http, connectionParams: minimum });
  const ask = async () => (await client.query({ query: HEIGHT, fetchPolicy: 'network-only' })).data;

  await advance();
  expect(await ask()).toEqual({ beaconHeight: height + 1 });
  const second = ask();
  const update = lastValueFrom(client.subscribe({ query: HEADS }).pipe(take(1)));
  await expect.poll(waiting).toBe(2);
  catchUp();
  expect(await second).toEqual({ beaconHeight: height + 1 });
  expect((await update).data).toMatchObject({ head: { beaconHeight: height + 1 } });
});

test('Apollo Client gets the error of a minimum height that is not reached', async () => {
  const { client, height } = await open();
  const headers = { 'x-pdex-min-height': String(height + 101) };
  const thrown = await codesThrown(client.query({ query: HEIGHT, context: { headers } }));
  expect(thrown).toEqual(['HEIGHT_NOT_AVAILABLE']);
});
