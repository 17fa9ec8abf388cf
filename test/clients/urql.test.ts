import {
  type Client,
  type CombinedError,
  cacheExchange,
  createClient,
  fetchExchange,
  gql,
  type OperationResult,
  subscriptionExchange,
} from '@urql/core';
import { createClient as createSocketClient, type FormattedExecutionResult, type Sink } from 'graphql-ws';
import { describe, expect, test } from 'vitest';
import { PoolPriceDocument, PricesDocument } from '../support/generated/documents.ts';
import { type ServedGateway, serveGatewayForTest } from '../support/served-gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';
import { serveTwoGateways } from '../support/two-gateways.ts';
import { endWithTest } from '../support/websocket.ts';

type Options = {
  readonly fetch?: typeof fetch;
  readonly retryWait?: () => Promise<void>;
  readonly connectionParams?: () => Record<string, unknown>;
};

/** How urql subscribes. */
const WAYS = {
  'a websocket': (
    { url, webSocketUrl }: ServedGateway,
    { retryWait, connectionParams, ...options }: Options,
  ): Client => {
    const socketOptions = { ...(retryWait && { retryWait }), ...(connectionParams && { connectionParams }) };
    const sockets = createSocketClient({ url: webSocketUrl, ...socketOptions });
    endWithTest(sockets);
    const overSockets = subscriptionExchange({
      forwardSubscription: ({ query = '', variables }) => ({
        subscribe: (sink) => ({
          unsubscribe: sockets.subscribe({ query, variables }, sink as Sink<FormattedExecutionResult>),
        }),
      }),
    });
    return createClient({ url, exchanges: [cacheExchange, fetchExchange, overSockets], ...options });
  },
  'server-sent events': ({ url }: ServedGateway, { retryWait: _, connectionParams: __, ...options }: Options): Client =>
    createClient({ url, exchanges: [cacheExchange, fetchExchange], fetchSubscriptions: true, ...options }),
};

async function open(connect: (typeof WAYS)[keyof typeof WAYS], options: Options = {}) {
  const gateway = await serveGatewayForTest();
  return { ...gateway, client: connect(gateway, options), height: gateway.sandbox.chain.tip.height };
}

const codesOf = (error: CombinedError | undefined) => error?.graphQLErrors.map(({ extensions }) => extensions['code']);

describe.each(Object.entries(WAYS))('urql, with subscriptions over %s,', (_name, connect) => {
  test('subscribes until it leaves', async () => {
    const { client, height, sandbox, app } = await open(connect);
    const heights: unknown[] = [];
    const { promise: isEnough, resolve: enough } = Promise.withResolvers<void>();
    const { unsubscribe } = client.subscription(PricesDocument, { tokenIds: [BTC] }).subscribe(({ data, error }) => {
      heights.push(error ?? data?.prices.beaconHeight);
      if (heights.length < 3) sandbox.advance();
      else enough();
    });
    await isEnough;
    unsubscribe();
    expect(heights).toEqual([height, height + 1, height + 2]);
    await expect.poll(app.service.sources.head.subscribers).toBe(0);
  });

  test('tells the code of what is refused', async () => {
    const { client } = await open(connect);
    expect(codesOf((await client.query('{ nothing }', {})).error)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(codesOf((await client.query('query ($id: ID!) { node(id: $id) { id } }', {})).error)).toEqual([
      'BAD_USER_INPUT',
    ]);
    for (const [subscription, code] of [
      ['subscription { nothing }', 'GRAPHQL_VALIDATION_FAILED'],
      ['subscription { prices(tokenIds: []) { beaconHeight } }', 'BAD_USER_INPUT'],
    ] as const) {
      const { promise: first, resolve } = Promise.withResolvers<OperationResult>();
      const { unsubscribe } = client.subscription(subscription, {}).subscribe(resolve);
      expect(codesOf((await first).error)).toEqual([code]);
      unsubscribe();
    }
  });
});

test('urql asks, and holds what a document answered until it is told to ask again', async () => {
  let requests = 0;
  const counting: typeof fetch = (...request) => {
    requests += 1;
    return fetch(...request);
  };
  const { client, height, advance } = await open(WAYS['server-sent events'], { fetch: counting });
  const ask = async (requestPolicy: 'cache-first' | 'network-only') => {
    const { data } = await client.query(PoolPriceDocument, { token1Id: BTC, token2Id: PRV }, { requestPolicy });
    return [data?.poolPair?.id, data?.poolPair?.beaconHeight];
  };
  const id = `PoolPair:${PRV}-${BTC}`;
  expect(await ask('cache-first')).toEqual([id, height]);
  await advance();
  expect(await ask('cache-first')).toEqual([id, height]);
  expect(requests).toBe(1);
  expect(await ask('network-only')).toEqual([id, height + 1]);
  expect(requests).toBe(2);
});

test('urql tells the code of an error, beside the rest of the answer', async () => {
  const { client, height } = await open(WAYS['server-sent events']);
  const { data, error } = await client.query(gql`{ beaconHeight ticker(tickerId: "PRV_pUSDT") { id } }`, {});
  expect(data).toEqual({ beaconHeight: height, ticker: null });
  expect(codesOf(error)).toEqual(['AMBIGUOUS_TICKER']);
});

test('urql goes on, over a websocket, with the gateway that takes the place of one that stopped', async () => {
  const { promise: isReplaced, resolve: replaced } = Promise.withResolvers<void>();
  const { client, height, replace } = await open(WAYS['a websocket'], { retryWait: () => isReplaced });
  const heights: unknown[] = [];
  const { promise: isEnough, resolve: enough } = Promise.withResolvers<void>();
  const { unsubscribe } = client.subscription(PricesDocument, {}).subscribe(async ({ data, error }) => {
    heights.push(error ?? data?.prices.beaconHeight);
    if (heights.length > 1) return enough();
    await replace(5);
    replaced();
  });
  await isEnough;
  unsubscribe();
  expect(heights).toEqual([height, height + 5]);
});

test('urql tells, over server-sent events, that the stream broke when the gateway stopped', async () => {
  const { client, height, app } = await open(WAYS['server-sent events']);
  const seen: unknown[] = [];
  const { promise: isEnough, resolve: enough } = Promise.withResolvers<void>();
  const { unsubscribe } = client.subscription(PricesDocument, {}).subscribe(async ({ data, error }) => {
    seen.push(error?.networkError?.message ?? data?.prices.beaconHeight);
    if (seen.length > 1) return enough();
    await app.close();
  });
  await isEnough;
  unsubscribe();
  expect(seen).toEqual([height, 'terminated']);
});

test.each(Object.entries(WAYS))(
  'urql, with subscriptions over %s, between two gateways, gets no height older than the newest that it names',
  async (_name, connect) => {
    const { sandbox, behind, advance, catchUp, waiting, ...gateways } = await serveTwoGateways();
    const { height } = sandbox.chain.tip;
    let newest = 0;
    const fetchNewest: typeof fetch = async (url, options) => {
      const headers = { ...(options?.headers as object), 'x-pdex-min-height': String(newest) };
      const response = await gateways.fetch(url, { ...options, headers });
      newest = Math.max(newest, Number(response.headers.get('x-pdex-height')));
      return response;
    };
    const connectionParams = () => ({ 'x-pdex-min-height': newest });
    const client = connect(behind, { fetch: fetchNewest, connectionParams });
    const ask = async () => (await client.query('{ beaconHeight }', {}, { requestPolicy: 'network-only' })).data;

    await advance();
    expect(await ask()).toEqual({ beaconHeight: height + 1 });
    const { promise: update, resolve } = Promise.withResolvers<OperationResult>();
    const { unsubscribe } = client.subscription('subscription { head { beaconHeight } }', {}).subscribe(resolve);
    await expect.poll(waiting).toBe(1);
    catchUp();
    expect((await update).data).toEqual({ head: { beaconHeight: height + 1 } });
    unsubscribe();
  },
);
