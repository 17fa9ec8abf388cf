import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  type Amounts,
  byPlaceInList,
  isMatchable,
  nextOrder,
  type Order,
  type PoolState,
  type Side,
} from '../../../src/sandbox/exchange/pool.ts';
import {
  type AcceptedTrade,
  type ExchangePool,
  executeTrades,
  nativeRateOf,
  type Pools,
  type RefusedTrade,
  type Step,
  swapAlong,
} from '../../../src/sandbox/exchange/trades.ts';

// Numbers of the node's own trade code: from its tests, or computed by running it.

type Texts = readonly [string, string];
type OrderVector = { id: string; owner: string; sells: Side; rate: Texts; balance: Texts };
type PoolVector = {
  tokens: Texts;
  real: Texts;
  virtual: Texts;
  amplifier: number;
  shareTotal: string;
  orders: readonly OrderVector[];
};
type PoolVectors = Record<string, PoolVector>;
type TradeVector = { path: string[]; sellToken: string; sellAmount: string; minimumBuy: string };
type Changes = { pairChanges: readonly Texts[]; orderChanges: readonly Record<string, Texts>[] };
type SwapVector = TradeVector & {
  name: string;
  kind: 'swap';
  pools: PoolVectors;
  expected:
    | { accepted: false; why: string }
    | (Changes & { accepted: true; buyAmount: string; poolsAfter: PoolVectors });
};
type BlockVector = {
  name: string;
  kind: 'block';
  params: {
    defaultFeeRateBps: number;
    feeRateBps: Record<string, number>;
    prvDiscountPercent: number;
    minPrvReserve: string;
  };
  pools: PoolVectors;
  trades: (TradeVector & { id: string; fee: string; feeInPrv: boolean })[];
  expected: {
    results: (
      | { trade: string; accepted: false }
      | (Changes & {
          trade: string;
          accepted: true;
          buyToken: string;
          buyAmount: string;
          rewards: Record<string, string>[];
        })
    )[];
    poolsAfter: PoolVectors;
  };
};
type RateVector = {
  name: string;
  kind: 'prv-rate';
  pools: PoolVectors;
  token: string;
  minPrvReserve: string;
  expected: { tokenReserve: string; prvReserve: string; liquidity: string } | null;
};
type ListVector = {
  name: string;
  kind: 'order-list';
  orders: readonly OrderVector[];
  expected: { sortedIds: string[]; nextForSellerOfToken0: string | null; nextForSellerOfToken1: string | null };
};
type Vector = SwapVector | BlockVector | RateVector | ListVector;

const { vectors } = JSON.parse(
  readFileSync(new URL('../../fixtures/node/v3/swap-vectors.json', import.meta.url), 'utf8'),
) as {
  vectors: readonly Vector[];
};
const ofKind = <Kind extends Vector['kind']>(kind: Kind) =>
  vectors.filter((vector): vector is Extract<Vector, { kind: Kind }> => vector.kind === kind);

const amountsOf = ([one, other]: Texts): Amounts => [BigInt(one), BigInt(other)];
const textsOf = ([one, other]: Amounts): Texts => [String(one), String(other)];

function orderOf({ id, owner, sells, rate, balance }: OrderVector): Order {
  return { id, nft: owner, receivers: ['', ''], sells, rates: amountsOf(rate), balances: amountsOf(balance) };
}

function poolsOf(vectors: PoolVectors): Pools & { readonly states: Map<string, PoolState> } {
  const entries = Object.entries(vectors);
  return {
    all: new Map(entries.map(([id, { tokens, amplifier }]): [string, ExchangePool] => [id, { id, tokens, amplifier }])),
    states: new Map(
      entries.map(([id, { real, virtual, shareTotal, orders }]): [string, PoolState] => [
        id,
        { real: amountsOf(real), virtual: amountsOf(virtual), shares: BigInt(shareTotal), orders: orders.map(orderOf) },
      ]),
    ),
  };
}

function vectorsOf({ all }: Pools, states: ReadonlyMap<string, PoolState>): PoolVectors {
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
  expect(Object.groupBy(vectors, ({ kind }) => kind)).toMatchObject({
    swap: expect.objectContaining({ length: 45 }),
    block: expect.objectContaining({ length: 19 }),
    'prv-rate': expect.objectContaining({ length: 4 }),
    'order-list': expect.objectContaining({ length: 2 }),
  });
});

test.each(ofKind('swap').map((vector) => [vector.name, vector] as const))('a swap: %s', (_, vector) => {
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
  expect(vectorsOf(pools, pools.states)).toEqual(expected.poolsAfter);
});

test.each(ofKind('block').map((vector) => [vector.name, vector] as const))('the trades of a block: %s', (_, vector) => {
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
  expect(vectorsOf(pools, states)).toEqual(vector.expected.poolsAfter);
});

test.each(ofKind('prv-rate').map((vector) => [vector.name, vector] as const))('the rate of a fee: %s', (_, vector) => {
  const rate = nativeRateOf(poolsOf(vector.pools), BigInt(vector.minPrvReserve), vector.token);
  expect(
    rate === undefined
      ? null
      : { tokenReserve: String(rate.token), prvReserve: String(rate.native), liquidity: String(rate.liquidity) },
  ).toEqual(vector.expected);
});

describe('the list of orders', () => {
  test.each(ofKind('order-list').map((vector) => [vector.name, vector] as const))('%s', (_, { orders, expected }) => {
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
