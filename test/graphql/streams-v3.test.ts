import { beforeAll, describe, expect, test } from 'vitest';
import { createStoreModel } from '../history/store-model.ts';
import { collect, dataOf } from '../support/events.ts';
import { startGateway, startGatewayForTest, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';

async function openV3<Gateway extends TestGateway>(
  start: (options: TestGatewayOptions) => Promise<Gateway>,
  options: TestGatewayOptions = {},
) {
  const gateway = await start({ ...options, sandbox: { exchange: 'v3', ...options.sandbox } });
  await gateway.untilReady();
  const pools = gateway.sandbox.chain.markets.filter(({ tickerId }) => tickerId === 'PRV_pUSDT');
  const [{ token1, token2 }] = pools as [(typeof pools)[number]];
  return { ...gateway, token1Id: token1.id, token2Id: token2.id, poolIds: pools.map(({ poolId }) => poolId) };
}

/** The options of a gateway that records what it reads from now on. */
const recorded = () => ({ store: createStoreModel(), config: { historyBackfillHours: 0 } });

/** The first update of a subscription, which then ends. */
async function firstOf({ subscribe }: TestGateway, query: string, variables: object) {
  for await (const answer of subscribe(query, { ...variables })) return answer;
  throw new Error('the subscription has ended');
}

const PRICES = `subscription ($keys: [PoolPairKey!], $tokens: [TokenId!], $after: BeaconHeight, $onlyChanged: Boolean = false) {
  prices(poolPairs: $keys, tokenIds: $tokens, afterHeight: $after, onlyChanged: $onlyChanged) {
    beaconHeight previousHeight poolPairs { version poolId beaconHeight price token1 { tokenId } token2 { tokenId } }
  }
}`;
const CANDLES = `subscription ($a: TokenId!, $b: TokenId!, $poolId: String) {
  candles(token1Id: $a, token2Id: $b, poolId: $poolId, interval: ONE_MINUTE) { poolId close }
}`;
const CROSSED = `subscription ($a: TokenId!, $b: TokenId!, $poolId: String, $above: Float!, $below: Float!) {
  priceCrossed(token1Id: $a, token2Id: $b, poolId: $poolId, above: $above, below: $below) {
    price previousPrice poolPair { poolId beaconHeight price }
  }
}`;

const MOST_LIQUID = 'query ($a: TokenId!, $b: TokenId!) { poolPair(token1Id: $a, token2Id: $b) { poolId } }';

const named = ({ poolPairs }: { readonly poolPairs: readonly { readonly poolId: string | null }[] }) =>
  poolPairs.map(({ poolId }) => poolId);

describe('subscriptions to one of several pools of two tokens', () => {
  let gateway: TestGateway & { token1Id: string; token2Id: string; poolIds: string[] };
  beforeAll(async () => {
    const opened = await openV3(startGateway, recorded());
    gateway = opened;
    return opened.close;
  });

  test('prices are those of the pools that are named, and of the one with the most liquidity without a pool id', async () => {
    const { ask, token1Id, token2Id, poolIds } = gateway;
    const tokens = { token1Id, token2Id };
    const pricesOf = async (keys: readonly object[]) => named((await firstOf(gateway, PRICES, { keys })).data.prices);
    for (const poolId of poolIds)
      for (const spelled of [poolId, poolId.toUpperCase()])
        expect(await pricesOf([{ ...tokens, poolId: spelled }])).toEqual([poolId]);
    const reversed = { token1Id: token2Id, token2Id: token1Id };
    expect(
      await pricesOf([
        { ...tokens, poolId: poolIds[2] },
        { ...reversed, poolId: poolIds[1] },
      ]),
    ).toEqual([poolIds[1], poolIds[2]].sort());
    const { data } = await ask(MOST_LIQUID, { a: token1Id, b: token2Id });
    expect(await pricesOf([tokens])).toEqual([data.poolPair.poolId]);
    expect(await pricesOf([{ ...tokens, poolId: null }])).toEqual([data.poolPair.poolId]);
    expect(await pricesOf([tokens, { ...tokens, poolId: data.poolPair.poolId }])).toEqual([data.poolPair.poolId]);
  });

  test('candles name their pool, and are those of the pool', async () => {
    const { ask, token1Id: a, token2Id: b, poolIds } = gateway;
    const closes = new Set<number>();
    for (const poolId of poolIds) {
      const { candles } = (await firstOf(gateway, CANDLES, { a, b, poolId: poolId.toUpperCase() })).data;
      const { data } = await ask('query ($id: String!) { pool(poolId: $id) { price } }', { id: poolId });
      expect(candles).toEqual({ poolId, close: data.pool.price });
      closes.add(candles.close);
    }
    expect(closes.size).toBe(3);
    const best = await ask(MOST_LIQUID, { a, b });
    expect((await firstOf(gateway, CANDLES, { a: b, b: a })).data.candles.poolId).toBe(best.data.poolPair.poolId);
  });

  test('a price that crosses a bound is that of the pool that is named', async () => {
    const { ask, advance, subscribe, token1Id: a, token2Id: b, poolIds } = gateway;
    const [, poolId] = poolIds;
    const { data } = await ask('query ($id: String!) { pool(poolId: $id) { price } }', { id: poolId });
    const bound = data.pool.price;
    const crossed = subscribe(CROSSED, { a, b, poolId: poolId?.toUpperCase(), above: bound, below: bound });
    const first = dataOf(crossed).next();
    const { tip } = gateway.sandbox.chain;
    let isCrossed = false;
    void first.then(() => {
      isCrossed = true;
    });
    while (!isCrossed) {
      await advance();
      expect(gateway.sandbox.chain.tip.height).toBeLessThan(tip.height + 200);
    }
    const { priceCrossed } = (await first).value as { priceCrossed: Record<string, unknown> };
    await crossed.return(undefined);
    expect(priceCrossed['poolPair']).toMatchObject({ poolId, price: priceCrossed['price'] });
    expect(priceCrossed['previousPrice']).toBe(bound);
  });

  test('a pool id that is not one of a pool of the two tokens is refused, in all three', async () => {
    const { subscribe, sandbox, token1Id, token2Id, poolIds } = gateway;
    const ofOtherTokens = sandbox.chain.v3Pools.find(({ token0 }) => token0.id !== token1Id)?.id;
    const wrong = [
      ['', /is not a pool id/],
      [`${token1Id}-${token2Id}`, /is not a pool id/],
      ['x'.repeat(100_000), /^"x{200}" is not a pool id/],
      [ofOtherTokens, /a pool of other tokens than token1Id and token2Id/],
      [`${token1Id}-${token2Id}-${'0'.repeat(64)}`, /no pool of token1Id and token2Id with that poolId/],
    ] as const;
    for (const [poolId, message] of wrong) {
      const key = { a: token1Id, b: token2Id, poolId };
      const keys = [poolIds[0], poolId].map((each) => ({ token1Id, token2Id, poolId: each }));
      for (const [query, variables] of [
        [PRICES, { keys }],
        [CANDLES, key],
        [CROSSED, { ...key, above: 1, below: 1 }],
      ] as const) {
        const { value } = await subscribe(query, variables).next();
        expect(value?.errors).toMatchObject([
          { message: expect.stringMatching(message), extensions: { code: 'BAD_USER_INPUT' } },
        ]);
      }
    }
  });
});

describe('a chain that changes from V1 to V3 while clients are subscribed', () => {
  const tip = 2_150_000;

  test('sends each height once, each with the pools of one version, also to a client that resumes', async () => {
    const gateway = await openV3(startGatewayForTest, { sandbox: { v3From: tip + 2 }, ...recorded() });
    const { subscribe, sandbox, advance, poolIds } = gateway;
    const market = sandbox.chain.markets.find(({ tickerId }) => tickerId === 'pBNB_PRV');
    const [a, b] = [market?.base.id, market?.target.id];
    const variants: readonly Record<string, unknown>[] = [
      {},
      { keys: [{ token1Id: a, token2Id: b }] },
      { keys: [{ token1Id: b, token2Id: a }], onlyChanged: true },
      { tokens: [a], onlyChanged: true },
    ];
    const candles = subscribe(CANDLES, { a, b });
    const { price } = (await firstOf(gateway, PRICES, variants[1] ?? {})).data.prices.poolPairs[0];
    // Between the prices of the old and the new pool.
    const bound = price * 0.9995;
    const crossings = collect(subscribe(CROSSED, { a, b, above: bound, below: bound }), (data) => data);
    const closes: number[] = [];
    const streams = variants.map((variables) => dataOf(subscribe(PRICES, variables)));
    const heights = [];
    const versions: string[][] = [];
    const ofCandles: (string | null)[] = [];
    for (let height = tip; height < tip + 7; height++) {
      if (height > tip) await advance();
      const updates = await Promise.all(streams.map(async (stream) => (await stream.next()).value?.prices));
      const seen = updates.flatMap(({ poolPairs }) => poolPairs.map(({ version }: { version: string }) => version));
      for (const { beaconHeight, previousHeight, poolPairs } of updates) {
        heights.push([beaconHeight, previousHeight]);
        for (const pool of poolPairs) expect(pool.beaconHeight).toBe(height);
      }
      versions.push([...new Set<string>(seen)]);
      const [, ofKey, changedOfKey] = updates;
      expect(ofKey.poolPairs).toHaveLength(1);
      // At the first height of V3, the pool is another one: it is sent whether it has changed or not.
      if (versions.at(-1)?.[0] === 'V3' && versions.at(-2)?.[0] === 'V1')
        expect(changedOfKey.poolPairs).toHaveLength(1);
      let candle = (await candles.next()).value;
      // A closed candle comes before the current one.
      while (candle?.data?.candles.close !== ofKey.poolPairs[0].price) candle = (await candles.next()).value;
      ofCandles.push(candle?.data?.candles.poolId);
      closes.push(ofKey.poolPairs[0].price);
      expect(ofCandles.at(-1)).toBe(ofKey.poolPairs[0].poolId);
    }
    expect(versions.every(({ length }) => length === 1)).toBe(true);
    expect([...new Set(versions.flat())]).toEqual(['V1', 'V3']);
    const expected = Array.from({ length: 7 }, (_, n) => [tip + n, n === 0 ? null : tip + n - 1]);
    expect(heights).toEqual(expected.flatMap((each) => variants.map(() => each)));
    await Promise.all([...streams, candles].map((stream) => stream.return(undefined)));
    // No price of the old pool was compared with one of the new pool.
    expect(closes.map((close) => close > bound)).toEqual(versions.map(([version]) => version === 'V1'));
    expect(crossings).toEqual([]);

    const resumed = dataOf(subscribe(PRICES, { ...variants[2], after: tip }));
    const again = [];
    for (let height = tip + 1; height < tip + 7; height++) again.push((await resumed.next()).value?.prices);
    await resumed.return(undefined);
    expect(again.map(({ beaconHeight }) => beaconHeight)).toEqual(expected.slice(1).map(([height]) => height));
    expect(again.flatMap(({ poolPairs }) => poolPairs).map(({ version }) => version)).toEqual(
      expect.arrayContaining(['V1', 'V3']),
    );

    // From now on, a pool of V3 can be named.
    const [poolId] = poolIds;
    const key = { token1Id: gateway.token1Id, token2Id: gateway.token2Id, poolId };
    expect(named((await firstOf(gateway, PRICES, { keys: [key] })).data.prices)).toEqual([poolId]);
  });

  test('has no pool of V3 before that', async () => {
    const { subscribe, token1Id, token2Id, poolIds } = await openV3(startGatewayForTest, {
      sandbox: { v3From: tip + 50 },
    });
    const { value } = await subscribe(PRICES, { keys: [{ token1Id, token2Id, poolId: poolIds[0] }] }).next();
    expect(value?.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });
});
