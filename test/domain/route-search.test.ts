import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { MAX_AMOUNT } from '../../src/domain/amount.ts';
import { ExchangeSwaps, type Hop, leastAlong, sellAlong } from '../../src/domain/exchange-swaps.ts';
import { toPoolGraph } from '../../src/domain/pool-graph.ts';
import { type PoolPair, poolPairId } from '../../src/domain/pool-pair.ts';
import { PoolSwap } from '../../src/domain/pool-swap.ts';
import { findRouteV3 } from '../../src/domain/route-search.ts';
import type { TradeDirection } from '../../src/domain/swap.ts';
import { tokenId } from './pools.ts';
import { A, anyAmountOfV3, anyPoolOfV3, B, C, D, E, poolOfV3, stateOfV3 } from './v3-pools.ts';
import { bestOf, pathsOf, sellSlowly } from './v3-routes.ts';

/** The least amount that buys as much, by trying one after another; `undefined` if it is above `max`. */
function leastSlowly(swaps: ExchangeSwaps, route: readonly Hop[], wanted: bigint, max: bigint): bigint | undefined {
  for (let sold = 1n; sold <= max; sold++) {
    let amount: bigint | string = sold;
    for (const hop of route) if (typeof amount === 'bigint') amount = swaps.swapOf(hop).sell(amount);
    if (typeof amount === 'bigint' && amount >= wanted) return sold;
  }
  return undefined;
}

function search(pools: readonly PoolPair[], direction: TradeDirection, amount: bigint, maxHops: number) {
  const state = stateOfV3(pools);
  const graph = toPoolGraph(state.directory);
  const swaps = new ExchangeSwaps(state);
  const [from, to] = [graph.find(A), graph.find(B)];
  if (from === undefined || to === undefined) return { swaps, state, found: undefined };
  const [start, end] = direction === 'SELLING' ? [from, to] : [to, from];
  const found = findRouteV3(swaps, graph, { direction, start, end, amount, maxHops });
  const ids = found?.route.map(({ place }) => state.directory.ids[place] ?? '');
  return { swaps, state, found: found && { ids, amount: found.amount } };
}

const F = tokenId('f');
const PAIRS = [A, B, C, D, E, F].flatMap((one, index, all) =>
  all.slice(index + 1).map((other) => [one, other] as const),
);
/** A path of five pools, which are rarely all there by chance. */
const CHAIN = [
  [A, C],
  [C, D],
  [D, E],
  [E, F],
  [B, F],
] as const;

/** Up to 14 pools of six tokens, several of the same two. */
const anyExchange = fc
  .tuple(fc.array(fc.constantFrom(...PAIRS), { minLength: 1, maxLength: 9 }), fc.constantFrom([], CHAIN))
  .chain(([pairs, path]) => fc.tuple(...[...pairs, ...path].map((pair, number) => anyPoolOfV3(pair, number, 5))));

/** The same exchange with so few units that a test can try all amounts. */
const smallExchange = anyExchange.map((pools) =>
  pools.map((pool): PoolPair => {
    const { v3 } = pool;
    if (v3 === undefined) return pool;
    const orders = v3.orders?.map((order) => ({
      ...order,
      balance1: order.balance1 % 40n,
      balance2: order.balance2 % 40n,
    }));
    const [value1, value2] = [v3.value1 % 90n, v3.value2 % 90n];
    return { ...pool, reserve1: value1 * 2n, reserve2: value2 * 2n, v3: { ...v3, value1, value2, orders } };
  }),
);

const anyMaxHops = fc.integer({ min: 1, max: 5 });

describe('the best route of V3', () => {
  test('gives the most of all paths, and of equal ones it is the documented one', () => {
    let [found, longest] = [0, 0];
    const anyTrade = fc.oneof(fc.tuple(anyExchange, anyAmountOfV3), fc.tuple(smallExchange, fc.bigInt(1n, 200n)));
    fc.assert(
      fc.property(anyTrade, anyMaxHops, ([pools, amount], maxHops) => {
        const paths = pathsOf(pools, A, B, maxHops).map((path) => [path, sellSlowly(path, A, amount)] as const);
        const best = bestOf('SELLING', paths);
        if (best !== undefined) found += 1;
        longest = Math.max(longest, best?.ids.length ?? 0);
        expect(search(pools, 'SELLING', amount, maxHops).found).toEqual(best);
      }),
      { numRuns: 800 },
    );
    expect(found).toBeGreaterThan(120);
    expect(longest).toBeGreaterThan(3);
  });

  test('needs the least of all paths for an amount that is bought', () => {
    let found = 0;
    const max = 400n;
    fc.assert(
      fc.property(smallExchange, fc.bigInt(1n, 60n), anyMaxHops, (pools, wanted, maxHops) => {
        const { swaps, state, found: route } = search(pools, 'BUYING', wanted, maxHops);
        const placeOf = (pool: PoolPair) => state.directory.ids.indexOf(poolPairId(pool));
        const paths = pathsOf(pools, A, B, maxHops).map((path) => {
          let token = A;
          const hops = path.map((pool): Hop => {
            const side = pool.token1Id === token ? 0 : 1;
            token = side === 0 ? pool.token2Id : pool.token1Id;
            return { place: placeOf(pool), side };
          });
          return [path, leastSlowly(swaps, hops, wanted, max)] as const;
        });
        const best = bestOf('BUYING', paths);
        if (best !== undefined) found += 1;
        if (route !== undefined && route.amount > max) expect(best).toBeUndefined();
        else expect(route).toEqual(best);
      }),
      { numRuns: 200 },
    );
    expect(found).toBeGreaterThan(25);
  });

  test('for an amount that is bought gives as much, and no route gives as much for one unit less', () => {
    fc.assert(
      fc.property(anyExchange, anyAmountOfV3, anyMaxHops, (pools, wanted, maxHops) => {
        const { found } = search(pools, 'BUYING', wanted, maxHops);
        const most = (amount: bigint) => search(pools, 'SELLING', amount, maxHops).found?.amount ?? 0n;
        const amounts = found === undefined ? [MAX_AMOUNT, wanted] : [found.amount - 1n];
        for (const amount of amounts) if (amount > 0n) expect(most(amount) < wanted).toBe(true);
        if (found === undefined) return;
        expect(most(found.amount) >= wanted).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test('has the first pool with the smallest id of those that are as short, or the last one to buy', () => {
    const equal = (...tokens: [string, string]) => poolOfV3(tokens, [10n ** 6n, 10n ** 6n]);
    // The first pool of the first path comes first, the last one of the second.
    const [first, second] = [
      [equal(A, C), equal(C, F), equal(B, F)],
      [equal(A, D), equal(D, E), equal(B, E)],
    ];
    const idsOf = (direction: TradeDirection) => search([...first, ...second], direction, 1_000n, 5).found?.ids;
    expect(idsOf('SELLING')).toEqual(first.map(poolPairId));
    expect(idsOf('BUYING')).toEqual(second.map(poolPairId));
  });

  test('ends also in an exchange whose pools are each a little better than the one before', () => {
    const direct = Array.from({ length: 600 }, (_, number) => {
      const reserve2 = BigInt(Math.round(1e9 * 1.002 ** number));
      return poolOfV3([A, B], [10n ** 9n, reserve2], { number });
    });
    // Its bound is the best one, and it refuses the trade, so that the search does not begin with a good route.
    const refusing = poolOfV3([A, B], [10n ** 9n, 10n ** 11n], { number: 600, values: [1n, 10n ** 7n] });
    const others = Array.from({ length: 1_000 }, (_, number) => {
      const token = (number + 16).toString(16).padStart(64, 'f');
      return poolOfV3([B, token], [10n ** 9n, 10n ** 9n], { number });
    });
    const state = stateOfV3([...direct, refusing, ...others]);
    let bounds = 0;
    class CountedSwaps extends ExchangeSwaps {
      override boundOf(place: number, side: number) {
        bounds += 1;
        return super.boundOf(place, side);
      }
    }
    const graph = toPoolGraph(state.directory);
    const [start = 0, end = 0] = [graph.find(A), graph.find(B)];
    const trade = { direction: 'SELLING', start, end, amount: 10n ** 6n, maxHops: 5 } as const;
    expect(findRouteV3(new CountedSwaps(state), graph, trade)?.route).toEqual([{ place: 599, side: 0 }]);
    expect(bounds).toBeLessThan(80_000);
  });
});

/** The least amount along a route by its definition, which computes the rest of the route again for each amount that it refuses. */
function leastByDefinition(route: readonly PoolSwap[], wanted: bigint, from = 1n): bigint | undefined {
  const [pool, ...rest] = route;
  if (pool === undefined) return wanted > from ? wanted : from;
  let needed = leastByDefinition(rest, wanted);
  while (needed !== undefined) {
    const sold = pool.least(needed, from);
    const bought = sold === undefined ? undefined : pool.sell(sold);
    if (typeof bought !== 'bigint') return undefined;
    if (bought === needed || typeof sellAlong(rest, bought) !== 'string') return sold;
    needed = leastByDefinition(rest, wanted, bought);
  }
  return undefined;
}

/** A route of so many pairs of pools: what the first pool of a pair gives, the second one refuses as often as each has orders. */
function refusingRoute(pairs: number, orders: bigint): PoolSwap[] {
  const first = (orders + 5n) * 1_000n;
  const half = 500n;
  const all = Array.from({ length: Number(orders) }, (_, n) => BigInt(n));
  const coarse = all.map((n) => {
    // The sum of what the second pool is sent for all of its orders before, and half of the next one.
    const between = (n: bigint) => (n < 0n ? 0n : sumUpTo(n) + first + n * 1_000n + half);
    const sellRate = between(n) - between(n - 1n);
    return { sellRate, buyRate: 1n, left: sellRate, bought: 0n };
  });
  const gaps = all.map((n) => ({ sellRate: 1n, buyRate: first + n * 1_000n, left: orders + 5n - n, bought: 0n }));
  function sumUpTo(last: bigint): bigint {
    return all.slice(0, Number(last) + 1).reduce((sum, n) => sum + (orders + 5n - n) * (first + n * 1_000n), 0n);
  }
  coarse.push({ sellRate: first, buyRate: 1n, left: 10n ** 12n, bought: 0n });
  gaps.push({ sellRate: 1n, buyRate: first + orders * 1_000n, left: 10n ** 6n, bought: 0n });
  const poolOf = (amountIn: bigint, orders: typeof gaps) =>
    new PoolSwap({ virtualIn: amountIn, virtualOut: 1_000n, realIn: amountIn, realOut: 1_000n, orders });
  return Array.from({ length: pairs }, () => [poolOf(1_000n, coarse), poolOf(10n ** 18n, gaps)]).flat();
}

describe('the least amount along a route', () => {
  test('is that of its definition', () => {
    const anyRoute = fc.array(fc.oneof(smallExchange, anyExchange), { minLength: 1, maxLength: 5 });
    let found = 0;
    fc.assert(
      fc.property(anyRoute, fc.bigInt(1n, 60n), (exchanges, wanted) => {
        const route = exchanges.map((pools) => new ExchangeSwaps(stateOfV3(pools)).swapOf({ place: 0, side: 0 }));
        const least = leastAlong(route, wanted);
        if (least !== undefined) found += 1;
        expect(least).toBe(leastByDefinition(route, wanted));
        const known = leastAlong(route.slice(1), wanted);
        if (known !== undefined) expect(leastAlong(route, wanted, known)).toBe(least);
      }),
      { numRuns: 200 },
    );
    expect(found).toBeGreaterThan(20);
  });

  test('takes a number of steps that grows as the orders do', () => {
    const least = vi.spyOn(PoolSwap.prototype, 'least');
    const stepsOf = (orders: bigint) => {
      least.mockClear();
      expect(leastAlong(refusingRoute(2, orders), 1n)).toBeDefined();
      return least.mock.calls.length;
    };
    const [few, many] = [stepsOf(20n), stepsOf(80n)];
    expect(few).toBeGreaterThan(60);
    expect(many / few).toBeLessThan(5);
    least.mockRestore();
  });
});
