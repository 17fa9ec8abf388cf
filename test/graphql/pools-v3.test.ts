import { beforeAll, describe, expect, test } from 'vitest';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import type { GenesisPool } from '../../src/sandbox/v3/genesis.ts';
import { startGateway, startGatewayForTest, type TestGateway } from '../support/gateway.ts';

const FIELDS = `id key beaconHeight version poolId token1 { tokenId } token2 { tokenId } token1PoolValue token2PoolValue
  token1VirtualValue token2VirtualValue amplifier feeRateBps shareAmount isTradable price spotPrice`;

/** A pool at a height as clients should get it, without its prices. */
function expected({ chain }: SandboxHosts, pool: GenesisPool, height = chain.tip.height) {
  const state = chain.block(height)?.v3?.states.get(pool.id) ?? pool.initial;
  return {
    id: `PoolPair:${pool.id}${height === chain.tip.height ? '' : `@${height}`}`,
    key: pool.id,
    beaconHeight: height,
    version: 'V3',
    poolId: pool.id,
    token1: { tokenId: pool.token0.id },
    token2: { tokenId: pool.token1.id },
    token1PoolValue: String(state.real[0]),
    token2PoolValue: String(state.real[1]),
    token1VirtualValue: String(state.virtual[0]),
    token2VirtualValue: String(state.virtual[1]),
    amplifier: pool.amplifier,
    shareAmount: String(state.shares),
    isTradable: state.real[0] > 0n && state.real[1] > 0n,
  };
}

async function openV3(v3From?: number) {
  const gateway = await startGatewayForTest({ sandbox: { exchange: 'v3', ...(v3From && { v3From }) } });
  await gateway.untilReady();
  return gateway;
}

describe('a pool of V3', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const started = await startGateway({ sandbox: { exchange: 'v3', history: 30, pools: 20 } });
    gateway = started;
    await gateway.untilReady();
    return started.close;
  });

  test('is found by its id, by its node id and in the list, with all amounts exactly, also at earlier heights', async () => {
    const { ask, sandbox } = gateway;
    const { v3Pools, tip } = sandbox.chain;
    const all = await ask(`{ poolPairs(first: 100, orderBy: ID_ASC) { totalCount nodes { ${FIELDS} } } }`);
    expect(all.data.poolPairs.totalCount).toBe(v3Pools.length);
    const beyond64Bits = ({ token2VirtualValue: value }: { token2VirtualValue: string }) => BigInt(value) > 2n ** 64n;
    expect(all.data.poolPairs.nodes.some(beyond64Bits)).toBe(true);
    for (const pool of v3Pools) {
      const listed = all.data.poolPairs.nodes.find(({ poolId }: { poolId: string }) => poolId === pool.id);
      expect(listed).toMatchObject(expected(sandbox, pool));
      const earlier = tip.height - 20;
      const { data } = await ask(
        `query ($id: String!, $node: ID!, $earlierNode: ID!, $at: BeaconHeight!) { now: pool(poolId: $id) { ${FIELDS} } earlier: pool(poolId: $id, at: $at) { ${FIELDS} current { id } }
          node(id: $node) { ... on PoolPair { ${FIELDS} } } earlierNode: node(id: $earlierNode) { ... on PoolPair { ${FIELDS} } } }`,
        { id: pool.id, node: `PoolPair:${pool.id}`, earlierNode: `PoolPair:${pool.id}@${earlier}`, at: earlier },
      );
      expect([data.now, data.node]).toEqual([listed, listed]);
      const { current, ...atEarlier } = data.earlier;
      expect(current.id).toBe(listed.id);
      expect(atEarlier).toMatchObject(expected(sandbox, pool, earlier));
      expect(data.earlierNode).toEqual(atEarlier);
    }
  });

  test('of several of two tokens, poolPair is the one with the most liquidity', async () => {
    const { ask, sandbox } = gateway;
    const { v3Pools, tip } = sandbox.chain;
    const byTokens = Map.groupBy(v3Pools, ({ token0, token1 }) => `${token0.id}-${token1.id}`);
    const several = [...byTokens.values()].filter((pools) => pools.length > 1);
    expect(several.length).toBeGreaterThan(0);
    for (const pools of several) {
      const liquidity = ({ id, initial }: GenesisPool) => {
        const { real } = tip.v3?.states.get(id) ?? initial;
        return real[0] * real[1];
      };
      const best = pools.reduce((a, b) => (liquidity(b) > liquidity(a) ? b : a));
      const [{ token0, token1 }] = pools as [GenesisPool];
      const { data } = await ask(`{ poolPair(token1Id: "${token1.id}", token2Id: "${token0.id}") { poolId } }`);
      expect(data.poolPair.poolId).toBe(best.id);
    }
  });

  test('is filtered by version and ids, and its cursors go on', async () => {
    const { ask, sandbox } = gateway;
    const ids = sandbox.chain.v3Pools.slice(0, 3).map(({ id }) => id);
    const page = `query ($ids: [String!], $after: String) { poolPairs(first: 2, after: $after, filter: { poolIds: $ids, version: V3 }) { totalCount nodes { poolId } pageInfo { endCursor hasNextPage } } }`;
    const first = await ask(page, { ids });
    expect(first.data.poolPairs).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } });
    const next = await ask(page, { ids, after: first.data.poolPairs.pageInfo.endCursor });
    const found = [...first.data.poolPairs.nodes, ...next.data.poolPairs.nodes].map(({ poolId }) => poolId);
    expect(new Set(found)).toEqual(new Set(ids));
    expect((await ask(page, { ids: [] })).data.poolPairs.totalCount).toBe(0);
  });

  test('is found however a host spells its id', async () => {
    const { ask, sandbox } = gateway;
    const { id = '', tokens: [token1, token2] = [] } = sandbox.chain.v3Pools[0] ?? {};
    const query = `query ($id: String!) { pool(poolId: $id) { poolId } poolPairs(filter: { poolIds: [$id] }) { nodes { poolId } } }`;
    for (const spelled of [id.toUpperCase(), `${token2}-${token1}${id.slice(129)}`])
      expect(await ask(query, { id: spelled })).toEqual({
        data: { pool: { poolId: id }, poolPairs: { nodes: [{ poolId: id }] } },
      });
  });

  test('has at most the largest Int as its amplifier, which its creator chooses', async () => {
    const { ask, sandbox, untilReady } = await startGatewayForTest({
      sandbox: { exchange: 'v3' },
      before: ({ chain }) => void Object.assign(chain.v3Pools[0] ?? {}, { amplifier: 2 ** 31 }),
    });
    await untilReady();
    const id = sandbox.chain.v3Pools[0]?.id;
    const answer = await ask('query ($id: String!) { pool(poolId: $id) { amplifier } }', { id });
    expect(answer).toEqual({ data: { pool: { amplifier: 2 ** 31 - 1 } } });
  });

  test('has parameters and a fee', async () => {
    const { ask, sandbox } = gateway;
    const { data } = await ask(
      'query ($id: String!) { exchangeParams { defaultFeeRateBps nativeFeeDiscountPercent maxOrdersPerNft } pool(poolId: $id) { feeRateBps } }',
      { id: sandbox.chain.v3Pools[0]?.id },
    );
    expect(data.exchangeParams.defaultFeeRateBps).toBeGreaterThan(0);
    expect(data.pool.feeRateBps).toBeGreaterThan(0);
  });

  const BY_ID =
    'query ($id: String!) { pool(poolId: $id) { id } poolPairs(filter: { poolIds: [$id] }) { totalCount } }';

  test.each([
    '',
    'x',
    'a'.repeat(64),
    `${'a'.repeat(64)}-${'b'.repeat(64)}`,
    `${'A'.repeat(64)}-${'b'.repeat(64)}-${'g'.repeat(64)}`,
  ])('has no id of another form: %s', async (id) => {
    const { errors } = await gateway.ask(BY_ID, { id });
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['pool'], 'BAD_USER_INPUT'],
      [['poolPairs'], 'BAD_USER_INPUT'],
    ]);
  });

  test('that does not exist is null', async () => {
    const id = ['a', 'b', 'c'].map((letter) => letter.repeat(64)).join('-');
    expect(await gateway.ask(BY_ID, { id })).toEqual({ data: { pool: null, poolPairs: { totalCount: 0 } } });
  });
});

describe('pools of V1 beside those of V3', () => {
  test('are read once a height if somebody asks for them, else never', async () => {
    const { ask, sandbox, advance } = await openV3();
    const [pool] = sandbox.chain.pools;
    const query =
      'query ($a: TokenId!, $b: TokenId!) { poolPair(token1Id: $a, token2Id: $b, version: V1) { id version poolId token1PoolValue token1VirtualValue amplifier feeRateBps shareAmount beaconHeight } poolPairs(filter: { version: V1 }) { totalCount } }';
    const variables = { a: pool?.token1.id, b: pool?.token2.id };
    await advance(2);
    expect(sandbox.node.calls('getpdestate')).toBe(0);
    const [one, two] = await Promise.all([ask(query, variables), ask(query, variables)]);
    expect(one.errors).toBeUndefined();
    expect(two.data).toEqual(one.data);
    const value = String(pool && sandbox.chain.reserves(pool)?.reserve1);
    expect(one.data).toEqual({
      poolPair: {
        id: `PoolPair:${pool?.token1.id}-${pool?.token2.id}`,
        version: 'V1',
        poolId: null,
        token1PoolValue: value,
        token1VirtualValue: value,
        amplifier: 10_000,
        feeRateBps: null,
        shareAmount: null,
        beaconHeight: sandbox.chain.tip.height,
      },
      poolPairs: { totalCount: sandbox.chain.pools.length },
    });
    const node = await ask('query ($id: ID!) { node(id: $id) { id } }', { id: one.data.poolPair.id });
    expect(node.data.node).toEqual({ id: one.data.poolPair.id });
    expect(sandbox.node.calls('getpdestate')).toBe(1);
    await advance();
    expect(sandbox.node.calls('getpdestate')).toBe(1);
  });

  test('can be filtered by symbols, also of tokens that no pool of V3 has', async () => {
    const height = 2_150_000;
    const { ask, sandbox } = await openV3(height - 50);
    const nameless = sandbox.chain.pools.filter(({ token1, token2 }) => !token1.symbol || !token2.symbol);
    expect(nameless.length).toBeGreaterThan(0);
    const { data } = await ask(
      `{ now: poolPairs(filter: { version: V1, symbols: [""] }) { totalCount }
        before: poolPairs(at: ${height - 51}, filter: { symbols: [""] }) { totalCount }
        named: poolPairs(filter: { version: V1, symbols: ["", "BTC"] }) { totalCount } }`,
    );
    const [now, before] = [data.now.totalCount, data.before.totalCount];
    expect([now, before]).toEqual([nameless.length, nameless.length]);
    expect(data.named.totalCount).toBeGreaterThan(now);
  });

  test('are the pools of heights below the start of V3', async () => {
    const height = 2_150_000;
    const { ask, sandbox } = await openV3(height - 50);
    expect(sandbox.chain.tip.height).toBe(height);
    const at = (n: number) =>
      ask(
        'query ($at: BeaconHeight!) { exchangeParams(at: $at) { maxOrdersPerNft } poolPairs(first: 1, at: $at) { totalCount nodes { version } } v3: poolPairs(filter: { version: V3 }, at: $at) { totalCount } v1: poolPairs(filter: { version: V1 }, at: $at) { totalCount } }',
        { at: n },
      );
    const [below, from] = [await at(height - 51), await at(height - 50)];
    const [v1Pools, v3Pools] = [sandbox.chain.pools.length, sandbox.chain.v3Pools.length];
    expect([below.errors, from.errors]).toEqual([undefined, undefined]);
    expect(below.data).toEqual({
      exchangeParams: null,
      poolPairs: { totalCount: v1Pools, nodes: [{ version: 'V1' }] },
      v3: { totalCount: 0 },
      v1: { totalCount: v1Pools },
    });
    expect(from.data).toMatchObject({
      exchangeParams: {},
      poolPairs: { totalCount: v3Pools, nodes: [{ version: 'V3' }] },
      v3: { totalCount: v3Pools },
      v1: { totalCount: v1Pools },
    });
  });
});
