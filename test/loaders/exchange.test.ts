import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createContext } from '../../src/graphql/context.ts';
import type { ExchangeLoader } from '../../src/loaders/exchange.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { BTC, PRV, USDT } from '../support/tokens.ts';

describe('the exchange loader of one operation', () => {
  let gateway: TestGateway;
  let tip: number;
  let exchange: ExchangeLoader;

  beforeAll(async () => {
    const started = await startGateway({ sandbox: { history: 60 } });
    gateway = started;
    return started.close;
  });

  beforeEach(async () => {
    // The heights of each test are new to the gateway.
    await gateway.advance(10);
    tip = gateway.sandbox.chain.tip.height;
    gateway.sandbox.node.resetCalls();
    exchange = createContext(gateway.app.service).loaders.exchange;
  });

  const readHeights = () => gateway.sandbox.node.calls('getpdestate');

  test('returns a pool of the newest head without a promise', () => {
    expect(exchange.poolPair(PRV, BTC)).toMatchObject({ beaconHeight: tip, token1Id: PRV, token2Id: BTC });
  });

  test('loads a pool at a height once, in either order of its tokens', async () => {
    const pools = await Promise.all([
      exchange.poolPair(PRV, BTC, tip - 9),
      exchange.poolPair(BTC, PRV, tip - 9),
      exchange.poolPair(PRV, USDT, tip - 9),
    ]);
    const again = await exchange.poolPair(PRV, BTC, tip - 9);
    expect(pools[0]).toMatchObject({ beaconHeight: tip - 9, token1Id: PRV, token2Id: BTC, isPinned: true });
    expect([pools[1], again].every((pool) => pool === pools[0])).toBe(true);
    expect(pools[2]).toMatchObject({ beaconHeight: tip - 9, token2Id: USDT });
    expect(readHeights()).toBe(1);
  });

  test('reads each height once for pools and pages, and the pinned height not at all', async () => {
    const heights = [tip, tip - 5, tip - 6];
    const pools = heights.map((at) => exchange.poolPair(PRV, BTC, at));
    const pages = heights.map((at) => exchange.poolPairs({ at, first: 1 }));
    expect((await Promise.all(pools)).map((pool) => pool?.beaconHeight)).toEqual(heights);
    expect((await Promise.all(pages)).map(({ items }) => items[0]?.beaconHeight)).toEqual(heights);
    expect(readHeights()).toBe(2);
  });

  test('reads pruned heights of pools and pages with the calls of one batch', async () => {
    const { oldestHeight } = gateway.sandbox.chain;
    const heights = Array.from({ length: 20 }, (_, below) => oldestHeight - 1 - below);
    const reads = heights.flatMap((at) => [exchange.poolPairs({ at: at - 20 }), exchange.poolPair(PRV, BTC, at)]);
    const results = await Promise.allSettled(reads);
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(readHeights()).toBe(2);
  });

  test('rejects only the pools at heights that cannot be read', async () => {
    const results = await Promise.allSettled([tip + 1, tip - 4].map((at) => exchange.poolPair(PRV, BTC, at)));
    expect(results).toEqual([
      { status: 'rejected', reason: expect.objectContaining({ code: 'HEIGHT_NOT_AVAILABLE' }) },
      { status: 'fulfilled', value: expect.objectContaining({ beaconHeight: tip - 4 }) },
    ]);
  });
});
