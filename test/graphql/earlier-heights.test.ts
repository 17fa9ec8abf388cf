import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { PoolPriceDocument } from '../support/generated/documents.ts';
import { BTC, PRV } from '../support/tokens.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
  await gateway.ask('{ beaconHeight }');
});
afterAll(() => gateway.close());

const pair = { token1Id: PRV, token2Id: BTC };

describe('the exchange at an earlier height', () => {
  test('a pool at an earlier height is another object than the current pool', async () => {
    const { chain } = gateway.sandbox;
    const at = chain.tip.height - 100;
    const pool = chain.pools.find(({ token1, token2 }) => token1.id === PRV && token2.id === BTC);
    const { data } = await gateway.ask(PoolPriceDocument, { ...pair, at });
    expect(data).toMatchObject({
      beaconHeight: chain.tip.height,
      poolPair: {
        id: `PoolPair:${PRV}-${BTC}@${at}`,
        key: `pdepool-${at}-${PRV}-${BTC}`,
        beaconHeight: at,
        token1PoolValue: String(pool && chain.reserves(pool, at)?.reserve1),
      },
    });
  });

  test('a pool at the current height is pinned too if `at` is set, and needs no call', async () => {
    const { chain, node } = gateway.sandbox;
    const calls = node.calls('getpdestate');
    const { data } = await gateway.ask(PoolPriceDocument, { ...pair, at: chain.tip.height });
    expect(data?.poolPair?.id).toBe(`PoolPair:${PRV}-${BTC}@${chain.tip.height}`);
    expect(node.calls('getpdestate')).toBe(calls);
  });

  test('a height in the future is HEIGHT_NOT_AVAILABLE with the newest height, without a call', async () => {
    const { chain, node } = gateway.sandbox;
    const calls = node.calls('getpdestate');
    const { data, errors } = await gateway.ask(PoolPriceDocument, { ...pair, at: chain.tip.height + 1 });
    expect(data).toEqual({ beaconHeight: chain.tip.height, poolPair: null });
    expect(errors).toEqual([
      expect.objectContaining({
        path: ['poolPair'],
        extensions: { code: 'HEIGHT_NOT_AVAILABLE', beaconHeight: chain.tip.height },
      }),
    ]);
    expect(node.calls('getpdestate')).toBe(calls);
  });

  test('a height that the node has pruned is HEIGHT_NOT_AVAILABLE', async () => {
    const { chain } = gateway.sandbox;
    const { data, errors } = await gateway.ask(PoolPriceDocument, { ...pair, at: chain.oldestHeight - 1 });
    expect(data).toEqual({ beaconHeight: chain.tip.height, poolPair: null });
    expect(errors?.map(({ extensions }) => extensions)).toEqual([
      { code: 'HEIGHT_NOT_AVAILABLE', beaconHeight: chain.tip.height },
    ]);
    const { data: after } = await gateway.ask('{ service { upstreams { upstream healthy } } }');
    expect(after.service.upstreams).toEqual([
      { upstream: 'NODE', healthy: true },
      { upstream: 'MARKET_DATA', healthy: true },
    ]);
  });

  test('a pool that did not exist yet is null', async () => {
    const { chain } = gateway.sandbox;
    const late = chain.pools.find(({ bornBehindTip }) => bornBehindTip !== undefined);
    const at = chain.tip.height - (late?.bornBehindTip ?? 0) - 10;
    const { data, errors } = await gateway.ask(
      `{ before: poolPair(token1Id: "${late?.token1.id}", token2Id: "${late?.token2.id}", at: ${at}) { id }
         now: poolPair(token1Id: "${late?.token1.id}", token2Id: "${late?.token2.id}") { id } }`,
    );
    expect(errors).toBeUndefined();
    expect(data).toEqual({ before: null, now: { id: expect.any(String) } });
  });
});
