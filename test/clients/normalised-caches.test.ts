import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';
import { createClient, fetchExchange } from '@urql/core';
import { type CacheExchangeOpts, cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { introspectionFromSchema, isObjectType } from 'graphql';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import { createStoreModel } from '../history/store-model.ts';
import { watch } from '../support/apollo.ts';
import { evaluateSample } from '../support/doc-pages.ts';
import { type ServedGateway, serveGatewayForTest } from '../support/served-gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';

const graphcacheOptions: CacheExchangeOpts = evaluateSample('docs/clients.md', 'urql with Graphcache', 'cache', {
  cacheExchange: (options: CacheExchangeOpts) => options,
  relayPagination,
});

const POOL = 'id beaconHeight price';
const LISTED = `{ poolPairs(first: 5) { totalCount pageInfo { endCursor } edges { cursor node { ${POOL} } } nodes { id } } }`;

const SWAP = `sellTokenId: "${PRV}", buyTokenId: "${BTC}", sellAmount: "1000000000"`;

/** Queries that show an object of every type. The two of a pair select different fields of objects without an id. */
const EVERYTHING = [
  `{ chainInfo { id beacon { id } bestBlocks { id validationData { aggSig } } } }`,
  `{ chainInfo { id bestBlocks { id validationData { validatorsIdx } } } }`,
  `{ service { version head { id hash } limits { maxDepth } marketData { stale } upstreams { upstream healthy } } }`,
  `{ service { sandbox head { id time } limits { maxTokens } marketData { observedAt } upstreams { upstream lastErrorCode } } }`,
  LISTED,
  `{ pairs { id ticker { id lastPrice poolPrice } poolPair { id } baseToken { id symbol } } }`,
  `{ orderBook(tickerId: "pBTC_PRV") { id bids { price } asks { price } quality { isCrossed } } }`,
  `{ orderBook(tickerId: "pBTC_PRV") { id bids { quantity } asks { quantity } quality { wasSorted } } }`,
  `{ token(id: "${PRV}") { id poolPairs(first: 5) { pageInfo { endCursor } edges { cursor node { ${POOL} } } } } }`,
  `{ poolPair(token1Id: "${PRV}", token2Id: "${BTC}") { id depth { percent upToken1 } } }`,
  `{ pair(tickerId: "pBTC_PRV") { id divergence { poolPrice } depthLadder { midPrice bids { price } asks { price } } } }`,
  `{ pair(tickerId: "pBTC_PRV") { id divergence { maxPercent } depthLadder { bids { quantity } asks { quantity } } } }`,
  `{ divergentPairs { id divergence { lastPercent } } }`,
  `{ quote(${SWAP}) { sellAmount route { buyAmount poolPair { id } } } }`,
  `{ quote(${SWAP}) { price route { sellToken { id } } } }`,
  `{ poolPair(token1Id: "${PRV}", token2Id: "${BTC}") { id candles(interval: ONE_HOUR) { close } change { percent } } }`,
  `{ poolPair(token1Id: "${PRV}", token2Id: "${BTC}") { id candles(interval: ONE_HOUR) { open } change { from } } }`,
  `{ history { heights gaps { from } blocks { beaconHeight } } }`,
  `{ history { firstHeight gaps { to } blocks { time } } }`,
];
const PRICES = `subscription { prices { beaconHeight poolPairs { ${POOL} } } }`;
const PAGE = `query ($after: String) {
  token(id: "${PRV}") { id poolPairs(first: 5, after: $after) { pageInfo { endCursor } edges { cursor node { id current { ${POOL} } } } } }
}`;

const objectTypes = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) && !/^__/.test(type.name));

/** A gateway with a history of a few heights. */
async function open() {
  const gateway = await serveGatewayForTest({ store: createStoreModel(), config: { historyBackfillHours: 1 } });
  await gateway.ask('{ beaconHeight pairs { id } tickers { id } }');
  await expect
    .poll(async () => (await gateway.ask('{ history { heights } }')).data.history?.heights)
    .toBeGreaterThan(1);
  return gateway;
}

type Edge = {
  readonly node: { readonly id: string; readonly current: { readonly id: string; readonly beaconHeight: number } };
};
type TokenPage = {
  readonly token: {
    readonly poolPairs: { readonly pageInfo: { readonly endCursor: string }; readonly edges: readonly Edge[] };
  };
};

describe('Graphcache', () => {
  function connect({ url }: ServedGateway, options: CacheExchangeOpts = graphcacheOptions) {
    const warnings: string[] = [];
    const introspected = introspectionFromSchema(schema) as unknown as NonNullable<CacheExchangeOpts['schema']>;
    const logger: NonNullable<CacheExchangeOpts['logger']> = (severity, message) => {
      if (severity !== 'debug') warnings.push(message);
    };
    const cache = cacheExchange({ ...options, schema: introspected, logger });
    let answers = '';
    const keepingFetch: typeof fetch = async (...request) => {
      const response = await fetch(...request);
      if (response.headers.get('content-type')?.includes('json')) answers += await response.clone().text();
      return response;
    };
    const exchanges = [cache, fetchExchange];
    const client = createClient({ url, exchanges, fetch: keepingFetch, fetchSubscriptions: true });
    return { client, warnings, isRead: (typename: string) => answers.includes(`"__typename":"${typename}"`) };
  }

  test('has a key for every type without an id, as the page says, or knows it by its name', () => {
    // The id of an order is the same at all heights, so it is no key.
    const without = objectTypes
      .filter((type) => isObjectType(type) && (type.name === 'PoolOrder' || type.getFields()['id'] === undefined))
      .map(({ name }) => name)
      .filter((name) => !/^(Query|Subscription|PageInfo|\w+(Connection|Edge))$/.test(name));
    expect(Object.keys(graphcacheOptions.keys ?? {}).toSorted()).toEqual(without.toSorted());
  });

  test('warns of nothing with the configuration of the page, and does without it', async () => {
    const gateway = await open();
    const { client, warnings, isRead } = connect(gateway);
    for (const query of EVERYTHING) expect((await client.query(query, {})).error).toBeUndefined();
    const { promise: isUpdated, resolve: updated } = Promise.withResolvers<unknown>();
    const { unsubscribe } = client.subscription(PRICES, {}).subscribe(updated);
    expect(await isUpdated).toMatchObject({ data: { prices: { poolPairs: { length: 54 } } } });
    unsubscribe();
    const names = objectTypes.map(({ name }) => name).filter((name) => !isRead(name));
    // The first version of the exchange has no parameters, orders, fees and trades.
    expect(names).toEqual([
      'ExchangeParams',
      'Fleet',
      'HeightRange',
      'PoolBook',
      'PoolOrder',
      'PoolVolume',
      'PriceCrossing',
      'PriceUpdate',
      'Query',
      'QuoteFee',
      'Subscription',
      'Trade',
      'TradeConnection',
      'TradeEdge',
      'TradesUpdate',
    ]);
    expect(warnings).toEqual([]);

    const bare = connect(gateway, {});
    await bare.client.query(EVERYTHING[2] ?? '', {});
    expect(bare.warnings.length).toBeGreaterThan(2);
  });

  test('joins pages of a later height, and keeps their pools of now up to date', async () => {
    const gateway = await serveGatewayForTest();
    const { height } = gateway.sandbox.chain.tip;
    const { client } = connect(gateway);
    const first = await client.query<TokenPage>(PAGE, {});
    await gateway.advance(3);
    const after = first.data?.token.poolPairs.pageInfo.endCursor;
    await client.query(PAGE, { after });
    const { promise: isShown, resolve: shown } = Promise.withResolvers<readonly Edge[]>();
    const watched = client.query<TokenPage>(PAGE, { after }, { requestPolicy: 'cache-only' }).subscribe(({ data }) => {
      const edges = data?.token.poolPairs.edges ?? [];
      if (edges.every(({ node }) => node.current.beaconHeight === height + 4)) shown(edges);
    });
    const prices = client.subscription(PRICES, {}).subscribe(() => {});
    onTestFinished(() => {
      prices.unsubscribe();
      watched.unsubscribe();
    });
    await gateway.advance();
    const edges = await isShown;
    expect(edges).toHaveLength(10);
    const pinned = edges.slice(5).map(({ node }) => node);
    for (const { id, current } of pinned) expect(id).toBe(`${current.id}@${height}`);
  });
});

describe('Apollo Client', () => {
  function connect({ url }: ServedGateway, cache: InMemoryCache) {
    const client = new ApolloClient({ link: new HttpLink({ uri: url }), cache });
    onTestFinished(() => client.stop());
    return client;
  }

  const cacheOfPage = (): InMemoryCache =>
    evaluateSample('docs/clients.md', 'Apollo Client', 'cache', { InMemoryCache, relayStylePagination });

  async function warningsOf(gateway: ServedGateway, cache: InMemoryCache): Promise<readonly unknown[]> {
    const client = connect(gateway, cache);
    const spies = [vi.spyOn(console, 'warn'), vi.spyOn(console, 'error')].map((spy) =>
      spy.mockImplementation(() => {}),
    );
    onTestFinished(() => {
      for (const spy of spies) spy.mockRestore();
    });
    for (const query of EVERYTHING) await client.query({ query: gql(query) });
    return spies.flatMap(({ mock }) => mock.calls.map(String));
  }

  test('warns of nothing with the configuration of the page, and does without it', async () => {
    const gateway = await open();
    expect(await warningsOf(gateway, cacheOfPage())).toEqual([]);
    expect((await warningsOf(gateway, new InMemoryCache())).length).toBeGreaterThan(0);
  });

  test('joins pages of a later height, and keeps their pools of now up to date', async () => {
    const gateway = await serveGatewayForTest();
    const { height } = gateway.sandbox.chain.tip;
    const client = connect(gateway, cacheOfPage());
    const query = client.watchQuery<TokenPage>({ query: gql(PAGE) });
    const shown = watch(query);
    const { token: first } = await shown(() => true);
    await gateway.advance(3);
    await query.fetchMore({ variables: { after: first.poolPairs.pageInfo.endCursor } });
    await gateway.advance();
    await client.query({ query: gql`{ poolPairs(first: 500) { edges { cursor node { ${POOL} } } } }` });

    const isNow = ({ node }: Edge) => node.current.beaconHeight === height + 4;
    const { token } = await shown((data) => data.token.poolPairs.edges.every(isNow));
    expect(token.poolPairs.edges).toHaveLength(10);
    for (const { node } of token.poolPairs.edges.slice(5)) expect(node.id).toBe(`${node.current.id}@${height}`);
  });
});
