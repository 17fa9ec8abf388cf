import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { priceOfToken2 } from '../../src/domain/price.ts';
import type { Reserves } from '../../src/domain/reserves.ts';
import { createHistoryStore } from '../../src/history/store-client.ts';
import { exchangeHeights } from '../history/of-chain.ts';
import { CANDLE, shownCandle } from '../history/shown-candles.ts';
import { expectedCandles, reservesAt, tradedOver } from '../history/store-model.ts';
import { startGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';

const TIP = 2_150_000;
/** V3 starts a quarter of an hour before the first head. */
const START_OF_V3 = TIP - 23;

const POOLS = `id token1 { tokenId } token2 { tokenId } price
  candles(interval: FIFTEEN_MINUTES) { ${CANDLE} }
  change(hours: 1) { fromHeight from to tradedToken1 tradedToken2 isComplete }
  sparkline(hours: 1, points: 5)`;

describe('the history of pools of V3', () => {
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  beforeAll(async () => {
    gateway = await startGateway({
      sandbox: { exchange: 'v3', pools: 30, sharesPerPool: 1, startHeight: TIP, v3From: START_OF_V3 },
      store: createHistoryStore({ database: { kind: 'memory' }, rawDays: 7 }),
      // Where trades are known, the volumes of candles are exact, and not the net changes that are expected here.
      config: { historyBackfillHours: 0.5, historyBackfillStep: 1, tradesBackfillHours: 0 },
    });
    await gateway.untilHeight(1);
    for (let block = 0; block < 4; block++) await gateway.advance();
    const { history } = gateway.app.service.sources;
    await until(() => {
      const { heights = 0, last, gaps } = history.status().coverage ?? {};
      return heights > 40 && gaps?.length === 0 && (last?.beaconHeight ?? 0) >= gateway.sandbox.chain.tip.height - 4;
    });
  });
  afterAll(() => gateway.close());

  const decimalsOf = (id: string) => gateway.sandbox.chain.tokens.find((token) => token.id === id)?.decimals ?? 0;

  /** The heights of V3, as far as they are known to the gateway. */
  const known = (to = gateway.sandbox.chain.tip.height) => exchangeHeights(gateway.sandbox, START_OF_V3, to);

  test('has candles, changes and sparklines by virtual amounts, from the first height of V3 on', async () => {
    const { chain } = gateway.sandbox;
    const { data, errors } = await gateway.ask(`{ poolPairs(first: 500) { nodes { ${POOLS} } } }`);
    expect(errors).toBeUndefined();
    expect(data.poolPairs.nodes).toHaveLength(chain.v3Pools.length);
    const heights = known();
    let priced = 0;
    for (const { id, token1, token2, price, candles, change, sparkline } of data.poolPairs.nodes) {
      const tokens = [token1, token2].map(({ tokenId }) => chain.tokens.find((token) => token.id === tokenId));
      if (tokens.some((token) => token?.symbol === undefined)) continue;
      const poolId = id.slice('PoolPair:'.length);
      const decimals: [number, number] = [decimalsOf(token1.tokenId), decimalsOf(token2.tokenId)];
      const expected = expectedCandles(heights, poolId, 'FIFTEEN_MINUTES', chain.tip.height);
      expect(candles).toEqual(expected.map((candle) => shownCandle(candle, decimals)));

      const states = heights.map((height) => reservesAt(height, poolId));
      const traded = tradedOver(states);
      const from = priceOfToken2(states[0] as Reserves, ...decimals) ?? null;
      expect(change).toEqual({
        ...{ fromHeight: START_OF_V3, from, to: price },
        ...{ tradedToken1: String(traded.traded1), tradedToken2: String(traded.traded2) },
        // Below, the states of V3 are not known.
        isComplete: false,
      });
      expect([sparkline[0], sparkline[4]]).toEqual([null, price]);
      if (price !== null) priced += 1;
    }
    expect(priced).toBeGreaterThan(10);
  });

  test('has pools of the same two tokens apart, and those whose amounts exceed 64 bits', async () => {
    const { data } = await gateway.ask(`{ poolPairs(first: 500) { nodes { ${POOLS} } } }`);
    const { nodes } = data.poolPairs;
    const tokensOf = ({ id }: { id: string }) => id.split('-').slice(0, 2).join('-');
    const several = [...Map.groupBy(nodes, tokensOf).values()].filter((pools) => pools.length > 1);
    expect(several.length).toBeGreaterThan(0);
    // biome-ignore lint/suspicious/noExplicitAny: a row of an untyped query
    const closesOf = ({ candles }: any) => candles.map(({ close }: { close: number | null }) => close).join();
    for (const pools of several) expect(new Set(pools.map(closesOf)).size).toBe(pools.length);

    const heights = known();
    const isLarge = ({ id }: { id: string }) =>
      (reservesAt(heights.at(-1), id.slice('PoolPair:'.length))?.reserve2 ?? 0n) > 2n ** 64n;
    const [large] = nodes.filter(isLarge);
    expect(large.candles.at(-1).heights).toBeGreaterThan(0);
  });

  test('of V1 ends at the last height before V3, also for a pool of V1 at a height of V3', async () => {
    const { chain } = gateway.sandbox;
    const [pool] = chain.poolsAt(START_OF_V3);
    const [a, b] = [pool?.token1.id, pool?.token2.id];
    const fields = `candles(interval: ONE_DAY) { lastHeight isComplete } change(hours: 1) { fromHeight isComplete } version`;
    const query = `{ poolPair(token1Id: "${a}", token2Id: "${b}", version: V1) { ${fields} } }`;
    const { data, errors } = await gateway.ask(query);
    expect(errors).toBeUndefined();
    const { candles, change, version } = data.poolPair;
    expect(version).toBe('V1');
    expect(candles.at(-1)).toEqual({ lastHeight: START_OF_V3 - 1, isComplete: false });
    expect(change.isComplete).toBe(false);
    expect(change.fromHeight).toBeLessThan(START_OF_V3);
  });

  test('of V1 is that of the heights below the start of V3', async () => {
    const { chain } = gateway.sandbox;
    const at = START_OF_V3 - 5;
    const [pool] = chain.poolsAt(at);
    const [a, b] = [pool?.token1.id, pool?.token2.id];
    const query = `{ poolPair(token1Id: "${a}", token2Id: "${b}", at: ${at}) { id candles(interval: ONE_HOUR) { lastHeight heights } } }`;
    const { data, errors } = await gateway.ask(query);
    expect(errors).toBeUndefined();
    expect(data.poolPair.id).toBe(`PoolPair:${a}-${b}@${at}`);
    expect(data.poolPair.candles.at(-1).lastHeight).toBe(at);
  });
});
