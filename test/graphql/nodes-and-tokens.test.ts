import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KNOWN_TOKENS } from '../../src/domain/token.ts';
import { typeOfNode } from '../../src/graphql/builder.ts';
import { A, B, poolOfV3 } from '../domain/v3-pools.ts';
import { chainInfoOf } from '../live/chain/heads.ts';
import { startGateway, startGatewayForTest } from '../support/gateway.ts';
import { BTC, NOBODYS, PRV } from '../support/tokens.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

describe('any object by its id', () => {
  test('its type follows from its fields: objects of the domain are shared, and stay as they are', () => {
    const pair = { tickerId: 'BTC_PRV', baseId: BTC, base: 'BTC', targetId: PRV, target: 'PRV', poolId: 'a' };
    const chainInfo = chainInfoOf(1);
    const objects = {
      Pair: pair,
      Ticker: { ...pair, lastPrice: undefined, baseVolume: undefined, targetVolume: undefined },
      PoolPair: poolOfV3([A, B], [1n, 1n]),
      Token: KNOWN_TOKENS.get(PRV),
      ChainInfo: chainInfo,
      BestBlock: chainInfo.beacon,
    };
    expect(Object.values(objects).map(typeOfNode)).toEqual(Object.keys(objects));
  });

  test('each kind of id finds its object', async () => {
    const { chain } = gateway.sandbox;
    const poolId = chain.markets[0]?.poolId;
    const ids = [
      `Pair:${poolId}`,
      `Ticker:${poolId}`,
      `PoolPair:${PRV}-${BTC}`,
      `PoolPair:${PRV}-${BTC}@${chain.tip.height - 50}`,
      `Token:${BTC}`,
      'ChainInfo:sandbox',
      'BestBlock:-1',
      'BestBlock:4',
    ];
    const { data, errors } = await gateway.ask(
      'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on PoolPair { beaconHeight } } }',
      { ids },
    );
    expect(errors).toBeUndefined();
    expect(data.nodes.map(({ __typename, id }: { __typename: string; id: string }) => [__typename, id])).toEqual(
      ids.map((id) => [id.split(':')[0], id]),
    );
    expect(data.nodes[3].beaconHeight).toBe(chain.tip.height - 50);

    const { data: one } = await gateway.ask(`{ node(id: "Token:${BTC}") { id ... on Token { symbol decimals } } }`);
    expect(one.node).toEqual({ id: `Token:${BTC}`, symbol: 'BTC', decimals: 9 });
  });

  test('an id without an object is null', async () => {
    const ids = [
      'Pair:nothing',
      'Ticker:nothing',
      `PoolPair:${PRV}-${NOBODYS}`,
      `PoolPair:${BTC}-${PRV}`,
      `Token:${NOBODYS}`,
      'ChainInfo:mainnet',
      'BestBlock:8',
    ];
    const answer = await gateway.ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
    expect(answer).toEqual({ data: { nodes: ids.map(() => null) } });
  });

  test('a text that is not an id fails only its own entry', async () => {
    const bad = [
      '',
      'Pair',
      'Pair:',
      'Nothing:1',
      'PoolPair:1-2',
      `PoolPair:${PRV}-${BTC}@0`,
      `PoolPair:${PRV}-${BTC}@`,
      'Token:x',
      'BestBlock:x',
      'BestBlock:01',
      'BestBlock:-0',
      '__proto__:1',
      'x'.repeat(1_000),
    ];
    const { data, errors } = await gateway.ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: ['BestBlock:0', ...bad],
    });
    expect(data.nodes).toEqual([{ id: 'BestBlock:0' }, ...bad.map(() => null)]);
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual(
      bad.map((_, index) => [['nodes', index + 1], 'BAD_USER_INPUT']),
    );
    expect(errors?.at(-1)?.message).toBe(`"${'x'.repeat(100)}" is not a valid id.`);
  });
});

describe('tokens', () => {
  test('are those of the token list and of every pool and pair, and nothing about them is guessed', async () => {
    await gateway.ask('{ pairs { id } poolPairs { totalCount } }');
    const { data } = await gateway.ask('{ tokens { id tokenId symbol decimals } }');
    const { tokens } = gateway.sandbox.chain;
    expect(data.tokens).toHaveLength(tokens.length);
    const nameless = tokens.find(({ symbol }) => symbol === undefined);
    expect(data.tokens).toContainEqual({
      id: `Token:${nameless?.id}`,
      tokenId: nameless?.id,
      symbol: null,
      decimals: null,
    });
    expect(data.tokens.map(({ id }: { id: string }) => id)).toEqual(tokens.map(({ id }) => `Token:${id}`).toSorted());
  });

  test('a token that appears nowhere is null, one that appears only in a pool is not', async () => {
    const nameless = gateway.sandbox.chain.tokens.find(({ symbol }) => symbol === undefined);
    const { data, errors } = await gateway.ask(
      `{ a: token(id: "${NOBODYS}") { id } b: token(id: "${nameless?.id}") { decimals } }`,
    );
    expect(errors).toBeUndefined();
    expect(data).toEqual({ a: null, b: { decimals: null } });
  });

  test('a token that only the market-data host names has its symbol from there, and no decimals', async () => {
    const { ask } = await startGatewayForTest({ config: { tokensFile: [] } });
    const { data } = await ask('{ pairs(filter: { tickerIds: ["pDAF_PRV"] }) { baseToken { symbol decimals } } }');
    expect(data.pairs[0].baseToken).toEqual({ symbol: 'pDAF', decimals: null });
  });
});

describe('what the exchange says about a token', () => {
  const FIELDS = 'tokenId decimals nativePrice poolCount';

  test('the price in native coins is that of the pool with the native coin; the pools are counted', async () => {
    const { data, errors } = await gateway.ask(
      `{ tokens { ${FIELDS} } poolPairs(first: 500) { nodes { token1 { tokenId } token2 { tokenId } price inversePrice } } }`,
    );
    expect(errors).toBeUndefined();
    type Pool = Record<'token1' | 'token2', { tokenId: string }> & Record<'price' | 'inversePrice', number | null>;
    const pools: readonly Pool[] = data.poolPairs.nodes;
    const has = (pool: Pool, tokenId: string) => [pool.token1.tokenId, pool.token2.tokenId].includes(tokenId);
    let priced = 0;
    for (const { tokenId, nativePrice, poolCount } of data.tokens) {
      expect(poolCount).toBe(pools.filter((pool) => has(pool, tokenId)).length);
      const pool = tokenId === PRV ? undefined : pools.find((each) => has(each, tokenId) && has(each, PRV));
      expect(nativePrice).toBe((pool?.token1.tokenId === PRV ? pool.price : pool?.inversePrice) ?? null);
      if (nativePrice !== null) priced += 1;
    }
    expect(priced).toBeGreaterThan(5);
  });

  test('is null with an error while the node cannot be read, and the rest of the token is there', async () => {
    const { ask } = await startGatewayForTest({ before: ({ node }) => node.stop() });
    const { data, errors } = await ask(`{ token(id: "${BTC}") { ${FIELDS} } }`);
    expect(data).toEqual({ token: { tokenId: BTC, decimals: 9, nativePrice: null, poolCount: null } });
    expect(errors?.map(({ path, extensions }) => [path?.at(-1), extensions.code]).sort()).toEqual([
      ['nativePrice', 'UPSTREAM_UNREACHABLE'],
      ['poolCount', 'UPSTREAM_UNREACHABLE'],
    ]);
  });
});
