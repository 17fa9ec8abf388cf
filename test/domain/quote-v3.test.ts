import { describe, expect, test } from 'vitest';
import type { ExchangeParams } from '../../src/domain/exchange.ts';
import { matchableTerms, ordersSelling } from '../../src/domain/pool-order.ts';
import { type PoolPair, poolPairId } from '../../src/domain/pool-pair.ts';
import { bestQuote, priceImpactPercent, type QuoteRequest, quoteAlong } from '../../src/domain/quote.ts';
import { NATIVE_TOKEN_ID, type TokenId } from '../../src/domain/token.ts';
import { nativeRateOf, tradeFee } from '../../src/domain/trade-fee.ts';
import { type BlockVector, type PoolVectors, vectorsOf } from '../fixtures/node/v3/swap-vectors.ts';
import { quotedPoolsOf } from './pools.ts';
import { A, B, C, D, PARAMS, poolIdOf, poolOfV3, sortOrders, stateOfV3 } from './v3-pools.ts';
import { type SlowSwap, swapSlowly } from './v3-swap.ts';
import { toOrder, toPools } from './v3-vectors.ts';

function poolsOf(pools: readonly PoolPair[], params?: ExchangeParams) {
  return quotedPoolsOf(stateOfV3(pools, params));
}

/** The token to which a path leads; where it does not fit, any. */
function endOf(pools: readonly PoolPair[], path: readonly string[], from: TokenId): TokenId {
  return path.reduce((token, id) => {
    const pool = pools.find((each) => poolPairId(each) === id);
    return pool?.token1Id === token ? pool.token2Id : (pool?.token1Id ?? token);
  }, from);
}

const CODES: Record<string, string> = { PATH_DOES_NOT_FIT: 'ROUTE_DOES_NOT_FIT' };

/** Swaps along a path, step by step, in pools that it replaces. */
function swapAlong(pools: Map<string, PoolPair>, path: readonly string[], from: TokenId, amount: bigint) {
  const steps: SlowSwap[] = [];
  let [token, rest] = [from, amount];
  for (const id of path) {
    const pool = pools.get(id);
    if (pool === undefined || (pool.token1Id !== token && pool.token2Id !== token)) return 'ROUTE_DOES_NOT_FIT';
    const step = swapSlowly(pool, token, rest);
    if (typeof step === 'string') return step;
    pools.set(id, step.after);
    steps.push(step);
    token = pool.token1Id === token ? pool.token2Id : pool.token1Id;
    rest = step.bought;
  }
  return steps;
}

const mapOf = (pools: readonly PoolPair[]) => new Map(pools.map((pool) => [poolPairId(pool), pool]));
const textsOf = ([one, other]: readonly [bigint, bigint]) => [String(one), String(other)];

/** Pools as their changing amounts. */
const amountsOf = (pools: Iterable<PoolPair>) =>
  Object.fromEntries(
    [...pools].map(({ reserve1, reserve2, v3 }) => [
      v3?.poolId,
      { virtual: [reserve1, reserve2], real: [v3?.value1, v3?.value2], orders: v3?.orders },
    ]),
  );
const expectedAmounts = (pools: PoolVectors) => amountsOf(toPools(pools));

describe("the node's own numbers: a trade along a route", () => {
  test.each(vectorsOf('swap'))('%s', (_, { pools: vectors, path, sellToken, sellAmount, minimumBuy, expected }) => {
    const pools = toPools(vectors);
    const buyTokenId = endOf(pools, path, sellToken);
    const request = { sellTokenId: sellToken, buyTokenId, sellAmount: BigInt(sellAmount), maxHops: 5 };
    const quote = quoteAlong(poolsOf(pools), request, path);
    const isTooLittle = typeof quote !== 'string' && quote.buyAmount < BigInt(minimumBuy);
    if (!expected.accepted) {
      expect(isTooLittle ? 'BELOW_MINIMUM' : quote).toBe(CODES[expected.why] ?? expected.why);
      return;
    }
    if (typeof quote === 'string') throw new Error(quote);
    expect(String(quote.buyAmount)).toBe(expected.buyAmount);
    expect(quote.route.map(({ pool }) => poolPairId(pool))).toEqual(path);

    // The rules of the other tests, which the search is compared with, give all changes.
    const after = mapOf(pools);
    const steps = swapAlong(after, path, sellToken, BigInt(sellAmount));
    if (typeof steps === 'string') throw new Error(steps);
    expect(steps.map(({ bought }) => bought)).toEqual(quote.route.map((step) => step.buyAmount));
    expect(steps.map(({ curve }) => textsOf(curve))).toEqual(expected.pairChanges);
    const changes = steps.map(({ orders }) => Object.fromEntries([...orders].map(([id, each]) => [id, textsOf(each)])));
    expect(changes).toEqual(expected.orderChanges);
    expect(amountsOf(after.values())).toEqual(expectedAmounts(expected.poolsAfter));
  });
});

describe("the node's own numbers: the trades of a block", () => {
  /** What a fee is worth in the sold token, with the discount of the native coin. */
  function weightedFee(state: ReturnType<typeof stateOfV3>, trade: BlockVector['trades'][number]): bigint {
    const percent = BigInt(100 - (state.v3?.params.nativeFeeDiscountPercent ?? 0));
    const fee = BigInt(trade.fee);
    if (trade.sellToken === NATIVE_TOKEN_ID) return (fee * 100n) / percent;
    const rate = nativeRateOf(state, trade.sellToken);
    if (!trade.feeInPrv) return fee;
    return rate === undefined ? 0n : (fee * rate.token * 100n) / percent / rate.native;
  }

  /** Splits the fee by the rates of the pools; the parts of later pools are swapped along. */
  function swapFee(pools: Map<string, PoolPair>, path: readonly string[], from: TokenId, fee: bigint, rates: number[]) {
    let [token, rest] = [from, fee];
    for (const [index, id] of path.slice(0, -1).entries()) {
      const left = rates.slice(index).reduce((sum, rate) => sum + rate, 0);
      rest -= (rest * BigInt(rates[index] ?? 0)) / BigInt(left);
      const step = swapAlong(pools, [id], token, rest);
      if (typeof step === 'string') return false;
      token = endOf([...pools.values()], [id], token);
      rest = step[0]?.bought ?? 0n;
    }
    return true;
  }

  test.each(vectorsOf('block'))('%s', (_, { params, pools: vectors, trades, expected }) => {
    const exchangeParams: ExchangeParams = {
      defaultFeeRateBps: params.defaultFeeRateBps,
      feeRatesBps: new Map(Object.entries(params.feeRateBps)),
      nativeFeeDiscountPercent: params.prvDiscountPercent,
      maxOrdersPerNft: 10,
      minNativeReserve: BigInt(params.minPrvReserve),
    };
    let pools = mapOf(toPools(vectors));
    const before = poolsOf([...pools.values()], exchangeParams).exchange;
    const ordered = trades
      .map((trade) => ({ trade, weight: weightedFee(before, trade) }))
      .sort((one, other) => {
        const [left, right] = [
          one.weight * BigInt(other.trade.sellAmount),
          other.weight * BigInt(one.trade.sellAmount),
        ];
        return left > right ? -1 : left < right ? 1 : 0;
      });

    const results = ordered.map(({ trade }) => {
      const { id, path, sellToken, fee, feeInPrv } = trade;
      const refused = { trade: id, accepted: false };
      const sellAmount = BigInt(trade.sellAmount);
      const places = path.map((each) => before.directory.ids.indexOf(each));
      const least = tradeFee(before, places, sellToken, sellAmount);
      const needed = feeInPrv ? least?.inNativeToken : least?.inSellToken;
      if (needed === undefined || BigInt(fee) < needed) return refused;
      const now = [...pools.values()];
      const request = { sellTokenId: sellToken, buyTokenId: endOf(now, path, sellToken), sellAmount, maxHops: 5 };
      const quote = quoteAlong(poolsOf(now, exchangeParams), request, path);
      if (typeof quote === 'string' || quote.buyAmount < BigInt(trade.minimumBuy)) return refused;

      const after = new Map(pools);
      swapAlong(after, path, sellToken, sellAmount);
      const rates = path.map((each) => exchangeParams.feeRatesBps.get(each) ?? exchangeParams.defaultFeeRateBps);
      const isInNative = feeInPrv || sellToken === NATIVE_TOKEN_ID;
      if (!isInNative && !swapFee(after, path, sellToken, BigInt(fee), rates)) return refused;
      pools = after;
      return { trade: id, accepted: true, buyAmount: String(quote.buyAmount) };
    });
    const resultsOf = expected.results.map((result) =>
      result.accepted
        ? { trade: result.trade, accepted: true, buyAmount: result.buyAmount }
        : { trade: result.trade, accepted: false },
    );
    expect(results).toEqual(resultsOf);
    expect(amountsOf(pools.values())).toEqual(expectedAmounts(expected.poolsAfter));
  });
});

describe("the node's own numbers: the rate of a fee in the native coin", () => {
  test.each(vectorsOf('prv-rate'))('%s', (_, { pools, token, minPrvReserve, expected }) => {
    const state = stateOfV3(toPools(pools), { ...PARAMS, minNativeReserve: BigInt(minPrvReserve) });
    const rate = nativeRateOf(state, token);
    expect(rate === undefined ? null : rate).toEqual(
      expected && {
        token: BigInt(expected.tokenReserve),
        native: BigInt(expected.prvReserve),
        liquidity: BigInt(expected.liquidity),
      },
    );
  });
});

describe("the node's own numbers: the orders that a trade meets", () => {
  test.each(vectorsOf('order-list'))('%s', (_, { orders: vectors, expected }) => {
    const orders = sortOrders(vectors.map(toOrder));
    expect(orders.map(({ id }) => id)).toEqual(expected.sortedIds);
    for (const sells of [1, 2] as const) {
      const id = sells === 1 ? expected.nextForSellerOfToken0 : expected.nextForSellerOfToken1;
      const order = orders.find((each) => each.id === id);
      const [met] = matchableTerms(ordersSelling(orders, sells === 1 ? 2 : 1));
      expect(met?.buyRate).toBe(sells === 1 ? order?.rate1 : order?.rate2);
      expect(met?.left).toBe(sells === 1 ? order?.balance2 : order?.balance1);
    }
  });

  test.each(vectorsOf('auto-withdraw'))('%s: the orders that the node closes are never met', (_, { pool }) => {
    const orders = Object.values(toPools({ pool: pool as PoolVectors[string] })).flatMap(({ v3 }) => v3?.orders ?? []);
    expect(orders).toHaveLength(2);
    expect(matchableTerms(orders)).toEqual([]);
  });
});

const M = 10n ** 6n;
const ab = poolOfV3([A, B], [M, M]);
const ab2 = poolOfV3([A, B], [M, 2n * M], { number: 1 });
const bc = poolOfV3([B, C], [M, M]);
const empty = poolOfV3([C, D], [M, M], { values: [0n, M] });
const thin = poolOfV3([B, D], [1_000n * M, 1_000n * M], { values: [M, M], amplifier: 10_000_000 });
const full = poolOfV3([A, D], [2n ** 64n, 2n ** 64n], { values: [2n ** 64n - 10n, 2n ** 64n - 10n] });
const all = [ab, ab2, bc, empty, thin, full];

describe('a quote along a route is refused', () => {
  const request = { sellTokenId: A, buyTokenId: B, sellAmount: 1_000n, maxHops: 3 };
  const idsOf = (pools: readonly PoolPair[]) => pools.map(poolPairId);
  const absent = poolIdOf(A, C, 9);

  test.each<[string, Partial<Record<keyof QuoteRequest, unknown>>, readonly string[], string]>([
    ['with a pool twice, whatever else is wrong', {}, [absent, poolIdOf(C, D), poolIdOf(C, D)], 'POOL_TWICE'],
    ['with a pool that does not exist, before one that does not fit', {}, [...idsOf([bc, ab]), absent], 'NO_SUCH_POOL'],
    ['by pools that do not meet', { buyTokenId: D }, idsOf([ab, empty]), 'ROUTE_DOES_NOT_FIT'],
    ['by a pool without the sold token', { buyTokenId: C }, idsOf([bc]), 'ROUTE_DOES_NOT_FIT'],
    ['by pools that lead to another token', { buyTokenId: C }, idsOf([ab]), 'ROUTE_DOES_NOT_FIT'],
    ['by a pool with an empty side', { buyTokenId: D }, idsOf([ab, bc, empty]), 'NO_LIQUIDITY'],
    [
      'by a pool that holds too little',
      { sellTokenId: B, buyTokenId: D, sellAmount: 3n * M },
      idsOf([thin]),
      'REAL_RESERVE_TOO_SMALL',
    ],
    ['by a pool whose amount would be too large', { buyTokenId: D }, idsOf([full]), 'RESERVE_OUT_OF_RANGE'],
    ['by a pool that gives nothing', { sellAmount: 1n }, idsOf([ab]), 'ONE_SIDE_ZERO'],
    ['for more than a pool can give', { sellAmount: undefined, buyAmount: M }, idsOf([ab]), 'REAL_RESERVE_TOO_SMALL'],
    [
      'for more than a pool on the way can give',
      { sellAmount: undefined, buyAmount: 999_999n, buyTokenId: C },
      idsOf([ab, bc]),
      'REAL_RESERVE_TOO_SMALL',
    ],
  ])('%s', (_, change, route, reason) => {
    expect(quoteAlong(poolsOf(all), { ...request, ...change } as QuoteRequest, route)).toBe(reason);
  });

  test('but not if it comes back to the token that is sold, through another pool of the same tokens', () => {
    const trade = { ...request, buyTokenId: A };
    const quote = quoteAlong(poolsOf(all), trade, idsOf([ab2, ab]));
    if (typeof quote === 'string') throw new Error(quote);
    expect(quote.buyAmount).toBe(1_994n);
    expect(quote.route.map((step) => [step.sellTokenId, step.sellAmount, step.buyAmount])).toEqual([
      [A, 1_000n, 1_998n],
      [B, 1_998n, 1_994n],
    ]);
  });
});

describe('a quote', () => {
  /** An order that sells 50,000 of token B for 45,000 of token A: a better price than that of the curve. */
  const order = {
    id: 'f'.repeat(64),
    sells: 2,
    rate1: 45_000n,
    rate2: 50_000n,
    balance1: 0n,
    balance2: 50_000n,
  } as const;
  const withOrder = { ...ab, v3: ab.v3 && { ...ab.v3, orders: [order] } };

  test('has a price impact below 0 where an order is better than the curve', () => {
    const request = { sellTokenId: A, buyTokenId: B, sellAmount: 9_000n, maxHops: 1 };
    const quote = bestQuote(poolsOf([withOrder]), request);
    expect(quote?.buyAmount).toBe(10_000n);
    expect(priceImpactPercent(quote?.route ?? [])).toBeCloseTo(-100 / 9, 10);
  });

  test('for an amount to buy has the amounts that the trade moves, and skips what is refused', () => {
    const pools = poolsOf([withOrder]);
    const request = { sellTokenId: A, buyTokenId: B, maxHops: 1 };
    const sell = (sellAmount: bigint) => quoteAlong(pools, { ...request, sellAmount }, [poolPairId(ab)]);
    // 45,000 fill the order, and one more unit buys nothing on the curve: the trade is refused.
    expect(sell(45_001n)).toBe('ONE_SIDE_ZERO');
    const quote = bestQuote(pools, { ...request, buyAmount: 50_001n });
    expect(quote).toMatchObject({ sellAmount: 45_002n, buyAmount: 50_001n });
    expect(bestQuote(pools, { ...request, buyAmount: 9n })).toMatchObject({ sellAmount: 9n, buyAmount: 10n });
  });

  test('without a route that works is not there', () => {
    const request = { sellTokenId: C, buyTokenId: D, sellAmount: 1_000n, maxHops: 1 };
    expect(bestQuote(poolsOf(all), request)).toBeUndefined();
    expect(bestQuote(poolsOf(all), { ...request, buyTokenId: 'f'.repeat(64) })).toBeUndefined();
    // A longer route passes by the pool that refuses.
    const longer = bestQuote(poolsOf(all), { ...request, maxHops: 2 });
    expect(longer?.route.map(({ pool }) => poolPairId(pool))).toEqual([poolPairId(bc), poolPairId(thin)]);
  });

  test('has the same route without orders, where an old node sends none', () => {
    const unknown = all.map((pool) => ({ ...pool, v3: pool.v3 && { ...pool.v3, orders: undefined } }));
    const request = { sellTokenId: A, buyTokenId: C, sellAmount: 1_000n, maxHops: 3 };
    const [quote, other] = [bestQuote(poolsOf(all), request), bestQuote(poolsOf(unknown), request)];
    expect(other?.buyAmount).toBe(quote?.buyAmount);
    expect(other?.route).toHaveLength(2);
  });
});

describe('the fee of a trade', () => {
  const P = NATIVE_TOKEN_ID;
  const native = poolOfV3([P, A], [3n * 10n ** 13n, 7n * 10n ** 13n]);
  const pools = [native, ab, bc];
  const feeOf = (request: QuoteRequest, params: Partial<ExchangeParams> = {}) =>
    bestQuote(poolsOf(pools, { ...PARAMS, ...params }), request)?.fee;

  test('is the sum of the rates, rounded up, and half of it in the native coin', () => {
    const request = { sellTokenId: A, buyTokenId: C, sellAmount: 1_001n, maxHops: 3 };
    const feeRatesBps = new Map([[poolPairId(bc), 30]]);
    // 1,001 * 55 / 10,000 is 5.5 in the token, and 6 * 3 / 7 / 2 in the coin.
    expect(feeOf(request, { feeRatesBps })).toEqual({ rateBps: 55, inSellToken: 6n, inNativeToken: 2n });
  });

  test('of a token without a pool that holds enough of the native coin has no amount in it', () => {
    const request = { sellTokenId: A, buyTokenId: B, sellAmount: 1_000n, maxHops: 3 };
    const minNativeReserve = 3n * 10n ** 13n + 1n;
    expect(feeOf(request, { minNativeReserve })).toEqual({ rateBps: 25, inSellToken: 3n, inNativeToken: undefined });
    expect(feeOf({ ...request, sellTokenId: C, buyTokenId: B })).toMatchObject({ inNativeToken: undefined });
  });

  test('of a trade that sells the native coin is paid in it, with the discount', () => {
    const request = { sellTokenId: P, buyTokenId: A, sellAmount: 10n ** 9n, maxHops: 3 };
    expect(feeOf(request)).toEqual({ rateBps: 25, inSellToken: 1_250_000n, inNativeToken: 1_250_000n });
    // 1,000 * 25 / 10,000 is 2.5, and half of 3 is 1.5: each is rounded up.
    expect(feeOf({ ...request, sellAmount: 1_000n })).toMatchObject({ inSellToken: 2n, inNativeToken: 2n });
  });

  test('is the least one that passes the check of the exchange', () => {
    for (let sellAmount = 2n; sellAmount < 400n; sellAmount += 3n) {
      for (const nativeFeeDiscountPercent of [0, 25, 50, 75]) {
        const state = poolsOf(pools, { ...PARAMS, nativeFeeDiscountPercent }).exchange;
        const place = state.directory.ids.indexOf(poolPairId(ab));
        const percent = BigInt(100 - nativeFeeDiscountPercent);
        const isEnough = (fee: bigint) => {
          const weighted = (fee * 7n * 10n ** 13n * 100n) / percent / (3n * 10n ** 13n);
          return weighted * 10_000n >= sellAmount * 25n;
        };
        const fee = tradeFee(state, [place], A, sellAmount)?.inNativeToken ?? 0n;
        expect([isEnough(fee), isEnough(fee - 1n)]).toEqual([true, false]);
      }
    }
  });
});
