import { describe, expect, test } from 'vitest';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import type { GenesisPool } from '../../src/sandbox/v3/genesis.ts';
import { startGatewayForTest, type TestGatewayOptions } from '../support/gateway.ts';

const POOL = 'poolPair { poolId version isTradable price inversePrice exactPrice token1 { tokenId } }';
const ROW = `tickerId poolId baseId targetId poolPrice ${POOL}`;
const PAIRS = `{ pairs { ${ROW} exactPoolPrice divergence { poolPrice } } tickers { ${ROW} } }`;

async function openV3(options: TestGatewayOptions = {}) {
  const gateway = await startGatewayForTest({ ...options, sandbox: { exchange: 'v3', ...options.sandbox } });
  await gateway.untilReady();
  return gateway;
}

/** The row of a pool in the lists of the host, or another row that names it. */
function rowOf({ id, token0, token1 }: GenesisPool, differing: object = {}) {
  return {
    ticker_id: `T${id.slice(-8)}`,
    base_id: token1.id,
    base: 'B',
    base_currency: 'B',
    target_id: token0.id,
    target: 'T',
    target_currency: 'T',
    pool_id: id,
    last_price: 1,
    ...differing,
  };
}

function replaceLists({ marketData }: SandboxHosts, rows: readonly object[]): void {
  for (const on of ['pairs', 'tickers'] as const) marketData.faults.set({ kind: 'shape', path: [on], value: rows, on });
}

const NO_POOL = { poolPair: null, poolPrice: null, exactPoolPrice: null, divergence: null };

describe('the pool of a pair of V3', () => {
  test('is the one that its pool id names, of several with the same two tokens too', async () => {
    const { ask, sandbox } = await openV3();
    const { data, errors } = await ask(PAIRS);
    expect(errors).toBeUndefined();
    expect(data.pairs).toHaveLength(sandbox.chain.markets.length);
    for (const row of [...data.pairs, ...data.tickers]) {
      const { poolPair, poolPrice, poolId, baseId } = row;
      expect(poolPair).toMatchObject({ poolId, version: 'V3' });
      expect(poolPrice).toBe(poolPair.token1.tokenId === baseId ? poolPair.inversePrice : poolPair.price);
      if ('divergence' in row) expect(row.divergence.poolPrice).toBe(poolPrice);
    }
    const prices = data.pairs.filter(({ tickerId }: { tickerId: string }) => tickerId === 'PRV_pUSDT');
    for (const field of ['poolPrice', 'exactPoolPrice'])
      expect(new Set(prices.map((row: Record<string, unknown>) => row[field])).size).toBe(3);
  });

  test('is the one of the ladder, and its pairs are those that name it', async () => {
    const { ask } = await openV3();
    const { data } = await ask(
      '{ pairs(filter: { tickerIds: ["PRV_pUSDT"] }) { poolId depthLadder(levels: 1) { midPrice } poolPair { spotPrice pairs { poolId } } } }',
    );
    expect(data.pairs).toHaveLength(3);
    for (const { poolId, poolPair, depthLadder } of data.pairs) {
      expect(poolPair.pairs).toEqual([{ poolId }]);
      const spot = [poolPair.spotPrice, 1 / poolPair.spotPrice];
      expect(spot.some((price) => Math.abs(price / depthLadder.midPrice - 1) < 1e-9)).toBe(true);
    }
    expect(
      new Set(data.pairs.map(({ depthLadder }: Record<string, { midPrice: number }>) => depthLadder?.midPrice)).size,
    ).toBe(3);
  });

  test('does not exist where the node does not have it, although it has another one of the two tokens', async () => {
    let missing: readonly string[] = [];
    const { ask } = await openV3({
      before({ chain, node }) {
        const ids = chain.v3Pools.map(({ id }) => id).sort();
        const named = chain.markets.filter(({ tickerId }) => tickerId === 'PRV_pUSDT').map(({ poolId }) => poolId);
        missing = ids.slice(0, ids.indexOf(named.sort()[1] ?? ''));
        node.faults.set({ kind: 'missing-pools', pools: missing.length });
      },
    });
    const { data, errors } = await ask(
      `{ pairs { poolId tickerId ${POOL} poolPrice exactPoolPrice divergence { poolPrice } depthLadder { midPrice } change { to } }
         tickers { poolId ${POOL} poolPrice } divergentPairs(minPercent: 0, first: 100) { poolId } }`,
    );
    const failed = (errors ?? []).filter(({ path }) => path?.at(-1) !== 'change');
    expect(failed).toEqual([]);
    const without = data.pairs.filter(({ poolId }: { poolId: string }) => missing.includes(poolId));
    expect(without.length).toBeGreaterThan(0);
    for (const row of without) expect(row).toMatchObject({ ...NO_POOL, depthLadder: null, change: null });
    const ofUsdt = data.pairs.filter(({ tickerId }: { tickerId: string }) => tickerId === 'PRV_pUSDT');
    expect(ofUsdt.map(({ poolPair }: { poolPair: object | null }) => poolPair !== null).sort()).toEqual([
      false,
      true,
      true,
    ]);
    for (const { poolId, poolPair, poolPrice } of data.tickers)
      expect([poolPair?.poolId, poolPrice !== null]).toEqual(
        missing.includes(poolId) ? [undefined, false] : [poolId, true],
      );
    const ranked = data.divergentPairs.map(({ poolId }: { poolId: string }) => poolId);
    expect(ranked.length).toBeGreaterThan(10);
    expect(ranked.filter((poolId: string) => missing.includes(poolId))).toEqual([]);
  });

  test('has no price when it is emptied, and one that nobody can trade at when one side is', async () => {
    const { ask, sandbox } = await openV3({
      before: (each) =>
        replaceLists(
          each,
          each.chain.v3Pools.slice(-3).map((pool) => rowOf(pool)),
        ),
    });
    const { data } = await ask(PAIRS);
    const [emptied, oneSided] = sandbox.chain.v3Pools.slice(-3);
    expect(data.pairs[0]).toMatchObject({
      poolPair: { poolId: emptied?.id, isTradable: false, price: null },
      poolPrice: null,
      exactPoolPrice: null,
      divergence: { poolPrice: null },
    });
    expect(data.pairs[1]).toMatchObject({ poolPair: { poolId: oneSided?.id, isTradable: false } });
    expect(data.pairs[1].poolPrice).toBeGreaterThan(0);
    expect(data.pairs[1].poolPrice).toBe(data.tickers[1].poolPrice);
  });

  test('is found however the host spells its id, and its price is never that of other tokens', async () => {
    const { ask, sandbox } = await openV3({
      before(each) {
        const [pool] = each.chain.v3Pools as [GenesisPool];
        const other = each.chain.v3Pools.find(({ token0, token1 }) =>
          [token0, token1].every(({ id }) => id !== pool.token0.id && id !== pool.token1.id),
        );
        const [token0, token1, hash] = pool.id.split('-');
        replaceLists(each, [
          rowOf(pool, { pool_id: pool.id.toUpperCase() }),
          rowOf(pool, { pool_id: `${token1}-${token0}-${hash}`, base_id: token0, target_id: token1 }),
          rowOf(pool, { pool_id: `${token1?.toUpperCase()}-${token0}-${hash}` }),
          rowOf(pool, { pool_id: other?.id }),
          rowOf(pool, { pool_id: `${token0}-${token1}` }),
          rowOf(pool, { pool_id: `${pool.id}0` }),
          rowOf(pool, { pool_id: `${token0}-${token1}-${'0'.repeat(64)}` }),
          rowOf(pool, { pool_id: 'x' }),
          // The token before it was unified, which the pool does not hold.
          rowOf(pool, { base_id: 'a'.repeat(64) }),
        ]);
      },
    });
    const [pool] = sandbox.chain.v3Pools as [GenesisPool];
    const { data, errors } = await ask(PAIRS);
    expect(errors).toBeUndefined();
    const [upper, swapped, mixed, ...others] = data.pairs;
    for (const row of [upper, swapped, mixed]) expect(row.poolPair.poolId).toBe(pool.id);
    expect(upper.poolId).toBe(pool.id.toUpperCase());
    expect(upper.poolPrice).toBe(mixed.poolPrice);
    expect(swapped.poolPrice).toBe(swapped.poolPair.inversePrice);
    expect(upper.poolPrice).toBe(upper.poolPair.price);
    expect(others).toHaveLength(6);
    const [ofOtherTokens, ...none] = others;
    const beforeUnified = none.pop();
    for (const row of none) expect(row).toMatchObject(NO_POOL);
    // The pool that is named, but not its price.
    const other = sandbox.chain.v3Pools.find(({ id }) => id === ofOtherTokens.poolId);
    expect(ofOtherTokens).toMatchObject({ ...NO_POOL, poolPair: { poolId: other?.id } });
    expect(beforeUnified).toMatchObject({ ...NO_POOL, poolPair: { poolId: pool.id } });

    const named = await ask('query ($id: String!) { pool(poolId: $id) { pairs { poolId } } }', { id: pool.id });
    expect(named.data.pool.pairs).toEqual([upper, swapped, mixed, beforeUnified].map(({ poolId }) => ({ poolId })));
  });

  test('is that of the two tokens below the start of V3, and that of its id from then on', async () => {
    const tip = 2_150_000;
    const gateway = await openV3({ sandbox: { v3From: tip + 2 } });
    const { ask, advance, sandbox } = gateway;
    const query = `{ service { exchangeVersion } pairs(filter: { tickerIds: ["PRV_pUSDT", "pBTC_PRV"] }) { ${ROW} } }`;
    const before = await ask(query);
    expect(before.data.service.exchangeVersion).toBe('V1');
    const [btc] = before.data.pairs.filter(({ tickerId }: { tickerId: string }) => tickerId === 'pBTC_PRV');
    expect(btc.poolPair).toMatchObject({ version: 'V1', poolId: null });
    for (let made = 0; made < 5; made++) await advance();
    const after = await ask(query);
    expect(after.data.service.exchangeVersion).toBe('V3');
    expect(after.data.pairs).toHaveLength(before.data.pairs.length);
    for (const { poolId, poolPair } of after.data.pairs) expect(poolPair.poolId).toBe(poolId);

    // The leftover pool of V1 has the pairs of its two tokens, as before. None of them has its price.
    const leftover = await ask(
      'query ($a: TokenId!, $b: TokenId!) { poolPair(token1Id: $a, token2Id: $b, version: V1) { version price pairs { poolId poolPrice } } }',
      { a: btc.baseId, b: btc.targetId },
    );
    expect(leftover.data.poolPair).toMatchObject({ version: 'V1', pairs: [{ poolId: btc.poolId }] });
    expect(sandbox.chain.tip.height).toBe(tip + 5);
  });
});
