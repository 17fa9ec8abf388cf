import { describe, expect, test } from 'vitest';
import type { PoolPair } from '../../src/domain/pool-pair.ts';
import { STABLE_COINS } from '../../src/domain/token.ts';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { usdValues } from '../domain/usd-values.ts';
import { startGatewayForTest } from '../support/gateway.ts';
import { BTC, NOBODYS, PRV, USDT } from '../support/tokens.ts';

const POOLS = (at?: number) =>
  `poolPairs(first: 500, orderBy: ID_ASC${at === undefined ? '' : `, at: ${at}`}) { nodes { beaconHeight token1 { tokenId } token2 { tokenId } liquidityUsd } }`;

type Node = {
  readonly token1: { readonly tokenId: string };
  readonly token2: { readonly tokenId: string };
  readonly liquidityUsd: number | null;
};

/** What the simulated chain has at a height: its pools, and what a smallest unit of each token is worth. */
function expectedAt({ chain }: SandboxHosts, height: number, coins: readonly string[] = STABLE_COINS) {
  const pools = chain.pools
    .flatMap((pool): PoolPair[] => {
      const reserves = chain.reserves(pool, height);
      return reserves
        ? [{ beaconHeight: height, token1Id: pool.token1.id, token2Id: pool.token2.id, ...reserves }]
        : [];
    })
    .toSorted((a, b) => (`${a.token1Id}-${a.token2Id}` < `${b.token1Id}-${b.token2Id}` ? -1 : 1));
  const decimals = chain.tokens.flatMap(({ id, decimals }) =>
    coins.includes(id) && decimals !== undefined ? [[id, decimals] as const] : [],
  );
  const values = usdValues(pools, new Map(decimals));
  return { pools, values };
}

/** The liquidity of each pool, rounded: the sums are not computed in the same order everywhere. */
function liquidities(sandbox: SandboxHosts, height: number) {
  const { pools, values } = expectedAt(sandbox, height);
  return pools.map(({ token1Id, token2Id, reserve1, reserve2 }) => {
    const [value1, value2] = [values.get(token1Id), values.get(token2Id)];
    if (reserve1 === 0n || reserve2 === 0n) return 0;
    if (value1 === undefined || value2 === undefined) return null;
    return rounded(Number(reserve1) * value1 + Number(reserve2) * value2);
  });
}

function rounded(value: number | null): number | null {
  return value === null ? null : Number(value.toPrecision(10));
}

const shown = (nodes: readonly Node[]) => nodes.map(({ liquidityUsd }) => rounded(liquidityUsd));

describe('US dollars', () => {
  test('are, for every token and pool, what the pools of the chain say', async () => {
    const { ask, sandbox } = await startGatewayForTest();
    const { height } = sandbox.chain.tip;
    const { data, errors } = await ask(`{ tokens { tokenId decimals usdPrice nativePrice } ${POOLS()} }`);
    expect(errors).toBeUndefined();
    const { values } = expectedAt(sandbox, height);
    for (const { tokenId, decimals, usdPrice } of data.tokens) {
      const value = values.get(tokenId);
      const isPriced = value !== undefined && decimals !== null;
      expect(rounded(usdPrice)).toBe(isPriced ? rounded(value * 10 ** decimals) : null);
    }
    const priceOf = (id: string) => data.tokens.find(({ tokenId }: { tokenId: string }) => tokenId === id);
    expect([priceOf(USDT).usdPrice, priceOf(BTC).usdPrice]).toEqual([1, expect.any(Number)]);
    expect(priceOf(BTC).usdPrice / (priceOf(BTC).nativePrice * priceOf(PRV).usdPrice)).toBeCloseTo(1, 1);
    const usd = shown(data.poolPairs.nodes);
    expect(usd).toEqual(liquidities(sandbox, height));
    expect(usd).toContain(0);
    expect(usd.filter((value) => (value ?? 0) > 0).length).toBeGreaterThan(50);
  });

  test('are of the height of each pool, and each height is read once', async () => {
    const { ask, advance, sandbox } = await startGatewayForTest();
    const { height } = sandbox.chain.tip;
    await advance();
    const before = sandbox.node.calls('getpdestate');
    const past = `a: poolPair(token1Id: "${PRV}", token2Id: "${BTC}", at: ${height - 50}) { liquidityUsd current { liquidityUsd } }`;
    const { data, errors } = await ask(
      `{ ${past} now: ${POOLS()} then: ${POOLS(height - 50)} last: ${POOLS(height + 1)} }`,
    );
    expect(errors).toBeUndefined();
    const [now, then] = [liquidities(sandbox, height + 1), liquidities(sandbox, height - 50)];
    expect([shown(data.now.nodes), shown(data.then.nodes), shown(data.last.nodes)]).toEqual([now, then, now]);
    const place = (nodes: readonly Node[]) =>
      nodes.findIndex(({ token1, token2 }) => token1.tokenId === PRV && token2.tokenId === BTC);
    expect(rounded(data.a.liquidityUsd)).toBe(then[place(data.then.nodes)]);
    expect(rounded(data.a.current.liquidityUsd)).toBe(now[place(data.now.nodes)]);
    expect(sandbox.node.calls('getpdestate')).toBe(before + 1);
  });

  test('change with each height, also of pools whose reserves do not', async () => {
    const { ask, advance, sandbox } = await startGatewayForTest();
    for (let block = 0; block < 3; block++) {
      const { data } = await ask(`{ ${POOLS()} }`);
      expect(shown(data.poolPairs.nodes)).toEqual(liquidities(sandbox, sandbox.chain.tip.height));
      await advance();
    }
  });

  test('follow from the stable coins of USD_TOKENS', async () => {
    const { ask, sandbox } = await startGatewayForTest({ config: { usdTokens: [BTC] } });
    const { values } = expectedAt(sandbox, sandbox.chain.tip.height, [BTC]);
    const { data } = await ask(`{ a: token(id: "${BTC}") { usdPrice } b: token(id: "${PRV}") { usdPrice } }`);
    expect([data.a.usdPrice, rounded(data.b.usdPrice)]).toEqual([1, rounded((values.get(PRV) ?? 0) * 1e9)]);

    const none = await startGatewayForTest({ config: { usdTokens: [NOBODYS] } });
    const { data: unknown, errors } = await none.ask(`{ token(id: "${PRV}") { usdPrice } ${POOLS()} }`);
    expect([errors, unknown.token.usdPrice]).toEqual([undefined, null]);
    expect(new Set(shown(unknown.poolPairs.nodes))).toEqual(new Set([0, null]));
  });
});
