import { gql } from '@apollo/client';
import { print } from 'graphql';
import { firstValueFrom } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { connectApollo, watch } from '../support/apollo.ts';
import { serveGatewayForTest } from '../support/served-gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';

const POOL = gql`fragment Pool on PoolPair { id beaconHeight token1PoolValue token2PoolValue price }`;
const NOW = gql`query { poolPair(token1Id: "${PRV}", token2Id: "${BTC}") { ...Pool } } ${POOL}`;
const THEN = gql`query ($at: BeaconHeight!) { poolPair(token1Id: "${PRV}", token2Id: "${BTC}", at: $at) { ...Pool } } ${POOL}`;
const PRICES = gql`subscription { prices(poolPairs: [{ token1Id: "${BTC}", token2Id: "${PRV}" }]) { poolPairs { ...Pool } } } ${POOL}`;
const PAGE = gql`
  query ($at: BeaconHeight, $after: String) {
    poolPairs(first: 20, at: $at, after: $after) {
      totalCount
      pageInfo { hasNextPage endCursor }
      edges { cursor node { ...Pool } }
    }
  }
  ${POOL}
`;

const ID = `PoolPair:${PRV}-${BTC}`;

type Pool = { readonly id: string; readonly beaconHeight: number; readonly token1PoolValue: string };
type Page = {
  poolPairs: { totalCount: number; pageInfo: { hasNextPage: boolean; endCursor: string }; edges: { node: Pool }[] };
};

async function open() {
  const gateway = await serveGatewayForTest();
  const client = connectApollo(gateway);

  /** Heights of the pools that the cache holds, by their ids. */
  const poolsHeld = () =>
    Object.fromEntries(
      Object.values(client.cache.extract() as Record<string, Record<string, unknown>>)
        .filter(({ __typename }) => __typename === 'PoolPair')
        .map(({ id, beaconHeight }) => [id, beaconHeight]),
    );

  return { ...gateway, client, poolsHeld, height: gateway.sandbox.chain.tip.height };
}

describe("Apollo Client's normalised cache", () => {
  test('shows a watched pool as a subscription brings it', async () => {
    const { client, sandbox, ask, height } = await open();
    const shown = watch(client.watchQuery<{ poolPair: Pool }>({ query: NOW }));
    const { poolPair: first } = await shown(({ poolPair }) => poolPair.beaconHeight === height);
    const prices = client.subscribe({ query: PRICES }).subscribe();

    sandbox.advance(9);
    const { poolPair: second } = await shown(({ poolPair }) => poolPair.beaconHeight === height + 9);
    const { data } = await ask(print(NOW));
    expect(second).toEqual({ __typename: 'PoolPair', ...data.poolPair });
    expect(second.id).toBe(first.id);
    expect(second.token1PoolValue).not.toBe(first.token1PoolValue);
    prices.unsubscribe();
  });

  test('keeps a pool as it is now apart from the pool at earlier heights', async () => {
    const { client, advance, poolsHeld, height } = await open();
    await client.query({ query: NOW });
    await client.query({ query: THEN, variables: { at: height - 5 } });
    expect(poolsHeld()).toEqual({ [ID]: height, [`${ID}@${height - 5}`]: height - 5 });

    await advance();
    await client.query({ query: THEN, variables: { at: height + 1 } });
    expect(poolsHeld()).toEqual({
      [ID]: height,
      [`${ID}@${height - 5}`]: height - 5,
      [`${ID}@${height + 1}`]: height + 1,
    });

    await firstValueFrom(client.subscribe({ query: PRICES }));
    expect(poolsHeld()[ID]).toBe(height + 1);
    await advance();
    await client.query({ query: NOW, fetchPolicy: 'network-only' });
    expect(poolsHeld()).toEqual({
      [ID]: height + 2,
      [`${ID}@${height - 5}`]: height - 5,
      [`${ID}@${height + 1}`]: height + 1,
    });
  });

  test('holds pairs, tickers, tokens and blocks once, however they were reached', async () => {
    const { client } = await open();
    const query = gql`
      {
        chainInfo { id beacon { id height } bestBlocks { id hash } }
        bestBlock { id isBeacon }
        ticker(tickerId: "pBTC_PRV") { id lastPrice pair { id tickerId baseToken { id symbol } ticker { id baseVolume } } }
        token(id: "${BTC}") { id decimals }
      }
    `;
    const { data } = await client.query<{ ticker: { id: string } }>({ query });
    const poolId = data?.ticker.id.slice('Ticker:'.length);
    const held = Object.entries(client.cache.extract() as Record<string, object>)
      .filter(([id]) => id.includes(':'))
      .map(([id, object]) => [
        id,
        Object.keys(object)
          .filter((field) => !/^(id|__typename)$/.test(field))
          .toSorted(),
      ]);
    expect(Object.fromEntries(held)).toEqual({
      ...Object.fromEntries([0, 1, 2, 3, 4, 5, 6, 7].map((n) => [`BestBlock:BestBlock:${n}`, ['hash']])),
      'BestBlock:BestBlock:-1': ['hash', 'height', 'isBeacon'],
      'ChainInfo:ChainInfo:sandbox': ['beacon', 'bestBlocks'],
      [`Ticker:Ticker:${poolId}`]: ['baseVolume', 'lastPrice', 'pair'],
      [`Pair:Pair:${poolId}`]: ['baseToken', 'ticker', 'tickerId'],
      [`Token:Token:${BTC}`]: ['decimals', 'symbol'],
    });
  });

  test('shows a watched block as another query brings it, and a watched ticker as a subscription does', async () => {
    const { client, height, advance } = await open();
    const block = watch(
      client.watchQuery<{ bestBlock: { height: number } }>({ query: gql`{ bestBlock { id height } }` }),
    );
    const ticker = watch(
      client.watchQuery<{ ticker: { lastPrice: number } }>({
        query: gql`{ ticker(tickerId: "pBTC_PRV") { id lastPrice } }`,
      }),
    );
    const { ticker: before } = await ticker(() => true);
    await block(({ bestBlock }) => bestBlock.height === height);

    const tickers = client.subscribe({ query: gql`subscription { tickers { id lastPrice } }` }).subscribe();
    await advance(9);
    await client.query({ query: gql`{ chainInfo { id bestBlocks { id height } } }` });
    await block(({ bestBlock }) => bestBlock.height === height + 9);
    await ticker(({ ticker: now }) => now.lastPrice !== before.lastPrice);
    tickers.unsubscribe();
  });

  test.each([
    ['of the height that was current at the first', undefined],
    ['of a height that is asked for', -3],
  ])('puts the pages together %s, while the chain goes on', async (_name, before) => {
    const { client, height, advance, ask } = await open();
    const listedAt = height + (before ?? 0);
    const all =
      '{ poolPairs(first: 500, at: $at) { totalCount nodes { id beaconHeight token1PoolValue token2PoolValue price } } }';
    const { data: expected } = await ask(`query ($at: BeaconHeight) ${all}`, { at: listedAt });

    const query = client.watchQuery<Page>({ query: PAGE, variables: before === undefined ? {} : { at: listedAt } });
    const shown = watch(query);
    let { poolPairs } = await shown(() => true);
    while (poolPairs.pageInfo.hasNextPage) {
      const { edges, pageInfo } = poolPairs;
      await advance();
      await query.fetchMore({ variables: { after: pageInfo.endCursor } });
      ({ poolPairs } = await shown((data) => data.poolPairs.edges.length > edges.length));
    }
    // Without `at`, the first page holds the pools as they are now: their ids name no height.
    const pools = poolPairs.edges.map(({ node: { id, ...pool } }, n) => ({
      ...pool,
      id: before === undefined && n < 20 ? `${id}@${height}` : id,
    }));
    expect(poolPairs.totalCount).toBe(expected.poolPairs.totalCount);
    expect(pools).toEqual(expected.poolPairs.nodes.map((pool: Pool) => ({ __typename: 'PoolPair', ...pool })));
  });

  test('holds what several queries ask of the service', async () => {
    const { client } = await open();
    await client.query({ query: gql`{ service { version } }` });
    await client.query({ query: gql`{ service { sandbox } }` });
    expect(client.cache.readQuery({ query: gql`{ service { version sandbox } }` })).toEqual({
      service: { __typename: 'Service', version: expect.any(String), sandbox: true },
    });
  });
});
