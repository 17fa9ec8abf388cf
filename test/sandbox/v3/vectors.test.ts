import { describe, expect, test } from 'vitest';
import {
  type Amounts,
  byPlaceInList,
  isMatchable,
  nextOrder,
  type Order,
  type PoolState,
} from '../../../src/sandbox/v3/pool.ts';
import {
  type AcceptedTrade,
  executeTrades,
  nativeRateOf,
  type Pools,
  type RefusedTrade,
  type Step,
  swapAlong,
  type V3Pool,
} from '../../../src/sandbox/v3/trades.ts';
import {
  type OrderVector,
  type PoolVectors,
  type Texts,
  toAmounts,
  vectorsOf,
} from '../../fixtures/node/v3/swap-vectors.ts';

const textsOf = ([one, other]: Amounts): Texts => [String(one), String(other)];

function orderOf({ id, owner, sells, rate, balance }: OrderVector): Order {
  return { id, nft: owner, receivers: ['', ''], sells, rates: toAmounts(rate), balances: toAmounts(balance) };
}

function poolsOf(vectors: PoolVectors): Pools & { readonly states: Map<string, PoolState> } {
  const entries = Object.entries(vectors);
  return {
    all: new Map(entries.map(([id, { tokens, amplifier }]): [string, V3Pool] => [id, { id, tokens, amplifier }])),
    states: new Map(
      entries.map(([id, { real, virtual, shareTotal, orders }]): [string, PoolState] => [
        id,
        { real: toAmounts(real), virtual: toAmounts(virtual), shares: BigInt(shareTotal), orders: orders.map(orderOf) },
      ]),
    ),
  };
}

function toVectors({ all }: Pools, states: ReadonlyMap<string, PoolState>): PoolVectors {
  return Object.fromEntries(
    [...states].map(([id, { real, virtual, shares, orders }]) => [
      id,
      {
        tokens: all.get(id)?.tokens ?? ['', ''],
        real: textsOf(real),
        virtual: textsOf(virtual),
        amplifier: all.get(id)?.amplifier ?? 0,
        shareTotal: String(shares),
        orders: orders.map(({ id, nft, sells, rates, balances }) => ({
          id,
          owner: nft,
          sells,
          rate: textsOf(rates),
          balance: textsOf(balances),
        })),
      },
    ]),
  );
}

const changesOf = (changes: readonly ReadonlyMap<string, Amounts>[]) =>
  changes.map((each) => Object.fromEntries([...each].map(([id, change]) => [id, textsOf(change)])));

test('the file has all vectors', () => {
  const kinds = ['swap', 'block', 'prv-rate', 'order-list'] as const;
  expect(kinds.map((kind) => vectorsOf(kind).length)).toEqual([45, 19, 4, 2]);
});

test.each(vectorsOf('swap'))('a swap: %s', (_, vector) => {
  const pools = poolsOf(vector.pools);
  const trade = { path: vector.path, sellToken: vector.sellToken, sellAmount: BigInt(vector.sellAmount) };
  const swapped = swapAlong(pools, trade);
  const { expected } = vector;
  const bought = (steps: readonly Step[]) => steps.at(-1)?.swaps[0].bought ?? 0n;

  if (!expected.accepted) {
    const isTooLittle = typeof swapped !== 'string' && bought(swapped) < BigInt(vector.minimumBuy);
    expect(isTooLittle ? 'BELOW_MINIMUM' : swapped).toBe(expected.why);
    return;
  }
  if (typeof swapped === 'string') throw new Error(swapped);
  expect(String(bought(swapped))).toBe(expected.buyAmount);
  expect(swapped.map(({ swaps }) => textsOf(swaps[0].pairChange))).toEqual(expected.pairChanges);
  expect(changesOf(swapped.map(({ swaps }) => swaps[0].orderChanges))).toEqual(expected.orderChanges);
  expect(toVectors(pools, pools.states)).toEqual(expected.poolsAfter);
});

test.each(vectorsOf('block'))('the trades of a block: %s', (_, vector) => {
  const pools = poolsOf(vector.pools);
  const { defaultFeeRateBps, feeRateBps, prvDiscountPercent, minPrvReserve } = vector.params;
  const params = {
    defaultFeeRateBps,
    feeRateBps: new Map(Object.entries(feeRateBps)),
    prvDiscountPercent,
    minPrvReserve: BigInt(minPrvReserve),
  };
  const requests = vector.trades.map(({ id, path, sellToken, sellAmount, minimumBuy, fee, feeInPrv }) => ({
    id,
    path,
    sellToken,
    sellAmount: BigInt(sellAmount),
    minimumBuy: BigInt(minimumBuy),
    fee: BigInt(fee),
    isFeeInNativeToken: feeInPrv,
  }));
  const { trades, states } = executeTrades(pools, params, requests);

  const resultOf = (trade: AcceptedTrade | RefusedTrade) =>
    'because' in trade
      ? { trade: trade.request.id, accepted: false }
      : {
          trade: trade.request.id,
          accepted: true,
          buyToken: trade.buyToken,
          buyAmount: String(trade.buyAmount),
          pairChanges: trade.pairChanges.map(textsOf),
          orderChanges: changesOf(trade.orderChanges),
          rewards: trade.rewards.map(([token, amount]) => ({ [token]: String(amount) })),
        };
  const expected = vector.expected.results.map((result) =>
    result.accepted ? result : { trade: result.trade, accepted: false },
  );
  expect(trades.map(resultOf)).toEqual(expected);
  expect(toVectors(pools, states)).toEqual(vector.expected.poolsAfter);
});

test.each(vectorsOf('prv-rate'))('the rate of a fee: %s', (_, vector) => {
  const rate = nativeRateOf(poolsOf(vector.pools), BigInt(vector.minPrvReserve), vector.token);
  expect(
    rate === undefined
      ? null
      : { tokenReserve: String(rate.token), prvReserve: String(rate.native), liquidity: String(rate.liquidity) },
  ).toEqual(vector.expected);
});

describe('the list of orders', () => {
  test.each(vectorsOf('order-list'))('%s', (_, { orders, expected }) => {
    const sorted = orders.map(orderOf).sort(byPlaceInList);
    expect(sorted.map(({ id }) => id)).toEqual(expected.sortedIds);
    expect(nextOrder(sorted, 0)?.id ?? null).toBe(expected.nextForSellerOfToken0);
    expect(nextOrder(sorted, 1)?.id ?? null).toBe(expected.nextForSellerOfToken1);
  });

  test('an order of which nothing is left cannot be matched', () => {
    const order = orderOf({ id: 'a', owner: 'b', sells: 1, rate: ['100', '100'], balance: ['100', '0'] });
    expect(isMatchable(order)).toBe(false);
    expect(isMatchable({ ...order, balances: [0n, 100n] })).toBe(true);
  });
});
