import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_AMOUNT } from '../../src/domain/amount.ts';
import type { PoolPair } from '../../src/domain/pool-pair.ts';
import { bestQuote, type QuoteRequest } from '../../src/domain/quote.ts';
import { exchangeStateOf, poolOf, quotedPoolsOf, tokenId } from './pools.ts';
import { allPaths, anyExchange, anyTrade, bestPath, type Trade } from './routes.ts';

const [a, b, c, d, e, f] = ['a', 'b', 'c', 'd', 'e', 'f'].map(tokenId) as [
  string,
  string,
  string,
  string,
  string,
  string,
];

function quoteOf(pools: readonly PoolPair[], trade: Trade) {
  const state = exchangeStateOf(1_000, pools);
  return bestQuote(quotedPoolsOf(state), trade as unknown as QuoteRequest);
}

/** The amounts and pools of the best quote. */
function routeOf(pools: readonly PoolPair[], trade: Trade) {
  const quote = quoteOf(pools, trade);
  if (quote === undefined) return undefined;
  const { route, sellAmount } = quote;
  return { pools: route.map(({ pool }) => pool), amounts: [sellAmount, ...route.map((step) => step.buyAmount)] };
}

const pool = (one: string, other: string, reserve1: bigint, reserve2: bigint) =>
  poolOf(reserve1, reserve2, { token1Id: one, token2Id: other });

describe('the best route', () => {
  test('is the best of all paths on which no token comes twice, and of equal ones the documented one', () => {
    let found = 0;
    fc.assert(
      fc.property(anyExchange, anyTrade, (pools, trade) => {
        const best = bestPath(pools, trade);
        if (best !== undefined) found += 1;
        expect(routeOf(pools, trade)).toEqual(best);
      }),
      { numRuns: 300 },
    );
    expect(found).toBeGreaterThan(75);
  });

  test('to buy asks for the smallest amount that gives what is wanted', () => {
    fc.assert(
      fc.property(anyExchange, anyTrade, (pools, { maxHops, sellAmount, buyAmount }) => {
        const trade = { sellTokenId: a, buyTokenId: b, maxHops };
        const wanted = buyAmount ?? sellAmount ?? 1n;
        const quote = quoteOf(pools, { ...trade, buyAmount: wanted });
        if (quote === undefined) return;
        expect(quoteOf(pools, { ...trade, sellAmount: quote.sellAmount })?.buyAmount).toBeGreaterThanOrEqual(wanted);
        if (quote.sellAmount === 1n) return;
        const less = quoteOf(pools, { ...trade, sellAmount: quote.sellAmount - 1n });
        expect(less?.buyAmount ?? 0n).toBeLessThan(wanted);
      }),
    );
  });

  test('is found among many routes that give the same, or nearly the same', () => {
    fc.assert(
      fc.property(
        fc.bigInt(1n, MAX_AMOUNT),
        fc.bigInt(1n, MAX_AMOUNT),
        fc.array(fc.bigInt(0n, 2n), { minLength: 30, maxLength: 30 }),
        fc.boolean(),
        (reserve, amount, more, isSelling) => {
          const between = Array.from({ length: 15 }, (_, index) => tokenId(`c${(index + 10).toString(16)}`));
          const plus = (index: number) => {
            const sum = reserve + (more[index] ?? 0n);
            return sum > MAX_AMOUNT ? MAX_AMOUNT : sum;
          };
          const pools = between.flatMap((token, index) => [
            pool(a, token, plus(index * 2), reserve),
            pool(b, token, reserve, plus(index * 2 + 1)),
          ]);
          const trade = {
            sellTokenId: a,
            buyTokenId: b,
            maxHops: 3,
            ...(isSelling ? { sellAmount: amount } : { buyAmount: amount }),
          };
          expect(routeOf(pools, trade)).toEqual(bestPath(pools, trade));
        },
      ),
      { numRuns: 200 },
    );
  });

  test('does not go around a circle of pools that gives more than it is sent', () => {
    // Whoever goes a -> c -> d -> a gets ten times as much, and could sell that to b.
    const pools = [
      pool(a, c, 10n ** 9n, 10n ** 10n),
      pool(c, d, 10n ** 10n, 10n ** 10n),
      pool(a, d, 10n ** 10n, 10n ** 10n),
      pool(a, b, 10n ** 9n, 10n ** 9n),
    ];
    const trade = { sellTokenId: a, buyTokenId: b, sellAmount: 1_000n, maxHops: 4 };
    expect(quoteOf(pools, trade)?.route).toHaveLength(1);
    // A trade that ends at d may take that way.
    expect(routeOf(pools, { ...trade, buyTokenId: d })?.pools).toEqual(pools.slice(0, 2));
  });

  test('is the shortest of those that give the same', () => {
    const pools = [pool(a, b, 100n, 2n), pool(a, c, 1_000n, 1_000n), pool(b, c, 4n, 1_000n)];
    const trade = { sellTokenId: a, buyTokenId: b, sellAmount: 900n, maxHops: 3 };
    expect(allPaths(pools, trade).map(({ amounts }) => amounts.at(-1))).toEqual([1n, 1n]);
    expect(quoteOf(pools, trade)?.route).toHaveLength(1);
  });

  test('has the last pool with the smallest id of those that are as short, or the first one to buy', () => {
    const equal = (one: string, other: string) => pool(one, other, 10n ** 6n, 10n ** 6n);
    // The first pool of the first path comes first, the last one of the second.
    const [first, second] = [
      [equal(a, c), equal(c, f), equal(b, f)],
      [equal(a, d), equal(d, e), equal(b, e)],
    ];
    const trade = { sellTokenId: a, buyTokenId: b, maxHops: 4 };
    const poolsOf = (more: Partial<Trade>) => routeOf([...first, ...second], { ...trade, ...more })?.pools;
    expect(poolsOf({ sellAmount: 1_000n })).toEqual(second);
    expect(poolsOf({ buyAmount: 1_000n })).toEqual(first);
  });
});

describe('there is no route', () => {
  const pools = [pool(a, c, 10n, 10n), pool(b, c, 10n, 10n), pool(a, d, 0n, 0n), pool(b, d, 5n, 0n)];
  test.each<[string, Partial<Trade>]>([
    ['to a token without pools', { buyTokenId: tokenId('f') }],
    ['from a token without pools', { sellTokenId: tokenId('f') }],
    ['through fewer pools than the shortest needs', { maxHops: 1 }],
    ['that gives something', { sellAmount: 1n }],
    ['through an empty pool', { buyTokenId: d }],
    ['through a pool with an empty side', { sellTokenId: d }],
  ])('%s', (_, change) => {
    const trade = { sellTokenId: a, buyTokenId: b, sellAmount: 100n, maxHops: 4 };
    expect(quoteOf(pools, trade)).toBeDefined();
    expect(quoteOf(pools, { ...trade, ...change })).toBeUndefined();
  });

  test('that gives the whole reserve of a pool, or more', () => {
    const trade = { sellTokenId: a, buyTokenId: b, maxHops: 4 };
    expect(quoteOf(pools, { ...trade, buyAmount: 8n })?.sellAmount).toBe(undefined);
    expect(quoteOf(pools, { ...trade, buyAmount: 10n })).toBeUndefined();
    expect(quoteOf(pools, { ...trade, buyAmount: MAX_AMOUNT })).toBeUndefined();
  });

  test('that asks for more than 2^64 - 1', () => {
    const trade = { sellTokenId: a, buyTokenId: b, maxHops: 4 };
    const half = 2n ** 63n;
    expect(quoteOf([pool(a, b, MAX_AMOUNT, 2n)], { ...trade, buyAmount: 1n })?.sellAmount).toBe(MAX_AMOUNT);
    expect(quoteOf([pool(a, b, half, 3n)], { ...trade, buyAmount: 2n })).toBeUndefined();
    expect(quoteOf([pool(a, b, half - 1n, 3n)], { ...trade, buyAmount: 2n })?.sellAmount).toBe(MAX_AMOUNT - 1n);
  });
});

test('pools that an exchange cannot have are no part of a route', () => {
  const twice = [pool(a, b, 10n ** 6n, 10n ** 6n), pool(b, a, 10n ** 9n, 10n ** 6n), pool(a, a, 10n ** 6n, 10n ** 9n)];
  const trade = { sellTokenId: a, buyTokenId: b, sellAmount: 1_000n, maxHops: 4 };
  expect(quoteOf(twice, trade)?.route.map((step) => step.pool)).toEqual([twice[0]]);
  expect(quoteOf(twice.slice(1), trade)).toBeUndefined();
});
