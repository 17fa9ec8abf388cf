import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toPoolGraph } from '../../src/domain/pool-graph.ts';
import type { PoolPair } from '../../src/domain/pool-pair.ts';
import { liquidityUsd, usdPrice, usdPrices } from '../../src/domain/usd-prices.ts';
import { exchangeStateOf, MAX_RESERVE, poolOf, tokenId } from './pools.ts';
import { anyExchange } from './routes.ts';
import { usdValues } from './usd-values.ts';
import { poolOfV3, stateOfV3 } from './v3-pools.ts';

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(tokenId) as [string, string, string, string];
const pool = (one: string, other: string, reserve1: bigint, reserve2: bigint) =>
  poolOf(reserve1, reserve2, { token1Id: one, token2Id: other });

function pricesOf(pools: readonly PoolPair[], coins: Readonly<Record<string, number | undefined>> = { [a]: 6 }) {
  const state = exchangeStateOf(1_000, pools);
  const list = Object.entries(coins).map(([token, decimals]) => ({ tokenId: token, symbol: undefined, decimals }));
  return usdPrices(state, toPoolGraph(state.directory), list);
}

describe('prices in US dollars', () => {
  test('are those of the documented rules, for any pools and stable coins', () => {
    let priced = 0;
    const anyCoins = fc.uniqueArray(fc.tuple(fc.constantFrom(a, b, c), fc.nat(30)), {
      selector: ([token]) => token,
    });
    fc.assert(
      fc.property(anyExchange, anyCoins, (pools, coins) => {
        const expected = usdValues(pools, new Map(coins));
        const prices = pricesOf(pools, Object.fromEntries(coins));
        for (const token of ['a', 'b', 'c', 'd', 'e', 'f'].map(tokenId)) {
          const value = expected.get(token);
          if (value === undefined) expect(prices(token)?.price).toBeUndefined();
          else expect((prices(token)?.price ?? 0) / value).toBeCloseTo(1, 12);
          priced += value === undefined ? 0 : 1;
        }
      }),
      { numRuns: 800 },
    );
    expect(priced).toBeGreaterThan(800);
  });

  test('come from the direct pool and from routes, each with the weight of its smallest pool', () => {
    // Ten dollars buy ten b directly. Over c, twenty dollars buy five b: the pool of c and b has much more.
    const pools = [pool(a, b, 10_000_000n, 10n), pool(a, c, 20_000_000n, 4n), pool(b, c, 500n, 400n)];
    const prices = pricesOf(pools);
    expect(usdPrice(prices, a, 6)).toBe(1);
    expect(usdPrice(prices, c, 0)).toBe(5);
    expect(usdPrice(prices, b, 0)).toBeCloseTo(30 / (10 + 5), 12);
  });

  test('come from what amplified pools hold: their virtual amounts have no weight', () => {
    // Ten dollars buy ten b in the first pool. The second one sells b for four dollars, as if it held twenty, and holds five.
    const state = stateOfV3([
      poolOfV3([a, b], [10_000_000n, 10n]),
      poolOfV3([a, b], [20_000_000n, 5n], { number: 1, values: [5_000_000n, 2n], amplifier: 40_000 }),
    ]);
    const coin = { tokenId: a, symbol: undefined, decimals: 6 };
    const prices = usdPrices(state, toPoolGraph(state.directory), [coin]);
    expect(usdPrice(prices, b, 0)).toBeCloseTo((10 + 5) / (10 + 5 / 4), 12);
  });

  test('are hardly moved by pools of dust, also over tokens whose own price is absurd', () => {
    const dollars = 1_000_000_000_000n;
    const deep = pool(a, b, dollars, 500_000n);
    const price = pricesOf([deep])(b)?.price ?? 0;
    const anyAmount = fc.bigInt(1n, MAX_RESERVE);
    fc.assert(
      fc.property(
        anyAmount,
        anyAmount,
        fc.bigInt(1n, 5n),
        fc.bigInt(1n, dollars / 100_000n),
        (one, other, own, dust) => {
          for (const attack of [
            [pool(a, c, dust, one), pool(b, c, own, other)],
            [pool(a, c, dust, one), pool(c, d, other, one), pool(b, d, own, other)],
          ])
            expect(Math.abs((pricesOf([deep, ...attack])(b)?.price ?? 0) / price - 1)).toBeLessThan(3e-5);
        },
      ),
    );
  });

  test('are undefined where only empty pools lead to a stable coin, or none, and for stable coins without decimals', () => {
    const pools = [pool(a, b, 0n, 5n), pool(a, c, 5n, 0n), pool(c, d, 5n, 5n)];
    expect([a, b, c, d].map((token) => pricesOf(pools)(token)?.price)).toEqual([1e-6, undefined, undefined, undefined]);
    expect([a, b].map((token) => pricesOf([pool(a, b, 1n, 5n)], { [a]: undefined })(token)?.price)).toEqual([
      undefined,
      undefined,
    ]);
    expect([a, b].map((token) => pricesOf([], { [b]: 2 })(token)?.price)).toEqual([undefined, 0.01]);
  });

  test('are exactly 1 for a stable coin, whatever its decimals are, also without a pool', () => {
    for (let decimals = 0; decimals <= 30; decimals++)
      for (const pools of [[pool(a, b, 10n ** 19n, 7n)], []])
        expect([decimals, usdPrice(pricesOf(pools, { [a]: decimals }), a, decimals)]).toEqual([decimals, 1]);
  });

  test('are undefined for a whole token of unknown decimals, and never infinite', () => {
    const prices = pricesOf([pool(a, b, 2_000_000n, 1n)]);
    expect([usdPrice(prices, b, undefined), usdPrice(prices, b, 3)]).toEqual([undefined, 2_000]);
    const steep = Array.from({ length: 40 }, (_, n) => tokenId(`${n + 100}`));
    const pools = [...steep.keys()].slice(1).map((n) => pool(steep[n - 1] ?? '', steep[n] ?? '', MAX_RESERVE, 1n));
    const absurd = pricesOf(pools, { [steep[0] ?? '']: 0 });
    for (const token of steep) expect(usdPrice(absurd, token, 30) ?? 0).toBeLessThan(Number.POSITIVE_INFINITY);
    for (const each of pools) expect(liquidityUsd(absurd, each) ?? 0).toBeLessThan(Number.POSITIVE_INFINITY);
  });
});

test('the liquidity of a pool is the value of both reserves', () => {
  const pools = [pool(a, b, 2_000_000n, 10n), pool(b, c, 30n, 7n), pool(a, c, 0n, 9n), pool(c, d, 0n, 1n)];
  const prices = pricesOf(pools);
  expect(pools.map((each) => liquidityUsd(prices, each))).toEqual([4, 12, 0, 0]);
  expect(liquidityUsd(prices, pool(b, d, 1n, 1n))).toBeUndefined();
});

test('the liquidity of a pool is undefined if there is hardly a dollar behind its tokens', () => {
  const dust = pool(a, b, 1_000_000n, 10n);
  const liquidityOf = (units: bigint) => {
    const fake = pool(b, c, units, 1n);
    return liquidityUsd(pricesOf([dust, fake]), fake);
  };
  expect([liquidityOf(500n), liquidityOf(501n), liquidityOf(MAX_RESERVE)]).toEqual([100, undefined, undefined]);
  const real = pool(a, c, 50_000_000n, 1n);
  expect(liquidityUsd(pricesOf([dust, real]), pool(b, c, 10_000n, 20n))).toBe(2_000);
});

test('the liquidity of an amplified pool is undefined if its tokens are only worth much by a stable coin that it hardly holds', () => {
  // A unit of a is sold for a unit of c.
  const liquidityOf = (values: readonly [bigint, bigint]) => {
    const each = poolOfV3([a, c], [10n ** 26n, 10n ** 26n], { values, amplifier: 10 ** 18 });
    const state = stateOfV3([each]);
    const coin = { tokenId: a, symbol: undefined, decimals: 6 };
    return liquidityUsd(usdPrices(state, toPoolGraph(state.directory), [coin]), each);
  };
  expect(liquidityOf([1n, 2_001_001_001_000n])).toBeUndefined();
  expect([liquidityOf([1_000_000n, 99_000_000n]), liquidityOf([1_000_000n, 99_000_001n])]).toEqual([100, undefined]);
  // It holds enough of the stable coin: all of c was bought.
  expect(liquidityOf([1_000_000_000_000n, 1n])).toBeCloseTo(1e6, 3);
});
