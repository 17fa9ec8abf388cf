import { versionOf } from '../../domain/exchange.ts';
import { andThen } from '../../domain/maybe-promise.ts';
import { isTradable, poolPairId, poolPairKey, poolValues } from '../../domain/pool-pair.ts';
import { exactPriceOfToken2, priceOfToken1, priceOfToken2, spotPriceOfToken2 } from '../../domain/price.ts';
import { liquidityUsd } from '../../domain/usd-prices.ts';
import { poolPrice, requireDecimals } from '../../loaders/pool-price.ts';
import { builder, NODE_ID, NodeRef, PairRef, PoolPairRef } from '../builder.ts';
import { complexityOfPairsOfPool } from '../complexity.ts';
import { atArg, ExchangeVersionEnum, versionArg } from './exchange.ts';

/** The decimals of a field that computes prices. */
export const decimalsArgs = builder.args((t) => ({
  decimals1: t.int({
    description: 'Decimals of token 1, from 0 to 30. Used instead of the decimals from the token list.',
  }),
  decimals2: t.int({
    description: 'Decimals of token 2, from 0 to 30. Used instead of the decimals from the token list.',
  }),
}));

/** The options of a price of a pool. */
const PRICE = { nullable: true, args: decimalsArgs, extensions: { refuse: requireDecimals } } as const;

PoolPairRef.implement({
  interfaces: [NodeRef],
  // The JSON of pools is cached, see execution/cached-pool.ts.
  extensions: { isCacheable: true },
  description:
    "A constant-product pool of two tokens in the node's exchange state, of either version of the exchange: V1 has one pool of two tokens, V3 any number, each with an id of its own. Prices and swaps are computed with the virtual values. In V1, and in a pool without amplification, they are equal to the pool values, which is what the pool holds. The current pool and the pool at an earlier height are different objects with different ids. The id of a pool that was read with `at`, or with a cursor of an earlier height, ends in '@<height>', so client caches store both.",
  fieldDescriptions: {
    key: "Key of the pool on the node: 'pdepool-<height>-<id1>-<id2>' in V1, `poolId` in V3.",
    beaconHeight: 'Beacon height of these values.',
    version: 'The version of the exchange that the pool belongs to.',
    poolId:
      'Id of the pool, the same at all heights: both token ids in lower case, the smaller one first, and a hash. The host can write it differently in `Pair.poolId`. Null in V1.',
    token1: 'The token with the smaller id, in lexicographic order.',
    token2: 'The token with the larger id, in lexicographic order.',
    token1PoolValue: 'What the pool holds of token 1, in the smallest unit of the token.',
    token2PoolValue: 'What the pool holds of token 2, in the smallest unit of the token.',
    token1VirtualValue:
      'The amount of token 1 that prices and swaps are computed with, in the smallest unit of the token. In V1, and without amplification, it equals `token1PoolValue`. In V3 it can exceed 2^64 - 1.',
    token2VirtualValue: 'The same as `token1VirtualValue`, of token 2.',
    amplifier:
      'Ratio of the virtual values to the pool values when the pool was created, in hundredths of a percent. 10000, as in V1, means no amplification. One beyond 32 bits is shown as 2147483647.',
    feeRateBps:
      'Fee of a trade through the pool, in hundredths of a percent of what is sold. Null in V1, where the trader bids a fee.',
    shareAmount: 'Shares of all liquidity providers together. Null in V1.',
    isTradable:
      'False for a pool that refuses every trade, because it does not hold one of its tokens. In V3 such a pool can still have a price.',
    price:
      'Amount of token 1 that buys one whole token 2: `(T1 - x) / 10^d1`, where `x = ceil((T2 * T1) / (T2 + 10^d2))`, T1 and T2 are the virtual values, and d1 and d2 are the decimals. Computed in floating point, exactly as the specification defines it. If a virtual value exceeds 2^53, the rounding errors can exceed the price, so that it is 0 or negative: use `exactPrice`. Null if a virtual value is 0, or if the decimals of a token are unknown and not set by an argument.',
    exactPrice:
      'Same as `price`, but in exact integer arithmetic, with all decimals of token 1. Null in the same cases as `price`.',
    inversePrice:
      'Amount of token 2 that buys one whole token 1: the formula of `price` with the two tokens swapped. Null in the same cases as `price`.',
    spotPrice:
      'Ratio of the virtual values, in token 1 per token 2: the price of an infinitely small trade. Null in the same cases as `price`.',
    liquidityUsd:
      'Value of what the pool holds in US dollars, at the height of the pool: each pool value times the price of its token, as `Token.usdPrice` defines it. It changes with the prices of the tokens, also while the pool stays the same. 0 if a pool value is 0. Null if no route leads from the tokens to a stable coin. Null too if the pool would be worth more than 100 times the dollars behind its tokens. Behind a token are the dollars to which its routes lead, but at most the value of what the pool holds of it. The token with more dollars behind it counts. Decimals of the two tokens are not needed. Null with an error if the exchange state cannot be read.',
    current:
      'The same pool at the height of this response. Use it to compare a pool at an earlier height with the current one. Null if the exchange no longer has this pool. Null with an error if the exchange state cannot be read.',
    pairs:
      'Market-data pairs of this pool, in the order of the market-data host. Of a pool of V3: those whose `poolId` names it. Of a pool of V1: those of the same two tokens, whose own pools can have different reserves. Null with an error if pairs cannot be read.',
  },
  fields: (t) => ({
    id: t.id({
      description: NODE_ID,
      resolve: (pool) => `PoolPair:${poolPairId(pool)}${pool.isPinned ? `@${pool.beaconHeight}` : ''}`,
    }),
    key: t.string({ resolve: poolPairKey }),
    beaconHeight: t.expose('beaconHeight', { type: 'BeaconHeight' }),
    version: t.field({ type: ExchangeVersionEnum, resolve: versionOf }),
    poolId: t.string({ nullable: true, resolve: ({ v3 }) => v3?.poolId }),
    token1: t.token((pool) => pool.token1Id),
    token2: t.token((pool) => pool.token2Id),
    token1PoolValue: t.field({ type: 'BigInt', resolve: (pool) => poolValues(pool).value1 }),
    token2PoolValue: t.field({ type: 'BigInt', resolve: (pool) => poolValues(pool).value2 }),
    token1VirtualValue: t.expose('reserve1', { type: 'BigInt' }),
    token2VirtualValue: t.expose('reserve2', { type: 'BigInt' }),
    amplifier: t.int({ resolve: ({ v3 }) => Math.min(v3?.amplifier ?? NO_AMPLIFICATION, MAX_INT) }),
    feeRateBps: t.int({ nullable: true, resolve: ({ v3 }) => v3?.feeRateBps }),
    shareAmount: t.field({ type: 'BigInt', nullable: true, resolve: ({ v3 }) => v3?.shareAmount }),
    isTradable: t.boolean({ resolve: isTradable }),
    price: t.float({
      ...PRICE,
      resolve: (pool, args, { loaders }) => poolPrice(priceOfToken2, pool, args, loaders.tokens.list),
    }),
    exactPrice: t.field({
      type: 'Decimal',
      ...PRICE,
      resolve: (pool, args, { loaders }) => poolPrice(exactPriceOfToken2, pool, args, loaders.tokens.list),
    }),
    inversePrice: t.float({
      ...PRICE,
      resolve: (pool, args, { loaders }) => poolPrice(priceOfToken1, pool, args, loaders.tokens.list),
    }),
    spotPrice: t.float({
      ...PRICE,
      resolve: (pool, args, { loaders }) => poolPrice(spotPriceOfToken2, pool, args, loaders.tokens.list),
    }),
    liquidityUsd: t.float({
      nullable: true,
      resolve: (pool, _args, { loaders }) =>
        andThen(loaders.exchange.usdPrices(pool), (prices) => liquidityUsd(prices, pool)),
    }),
    current: t.field({
      type: PoolPairRef,
      nullable: true,
      resolve: (pool, _args, { loaders }) => loaders.exchange.named(pool),
    }),
    pairs: t.field({
      type: [PairRef],
      nullable: true,
      complexity: (_args, { service }) => complexityOfPairsOfPool(service),
      resolve: (pool, _args, { loaders }) => loaders.market.pairs.ofPool(pool),
    }),
  }),
});

const NO_AMPLIFICATION = 10_000;

/** The largest `Int` of GraphQL. Whoever creates a pool chooses its amplifier, of up to 64 bits. */
const MAX_INT = 2 ** 31 - 1;

builder.queryFields((t) => ({
  poolPair: t.field({
    type: PoolPairRef,
    nullable: true,
    description:
      'The pool of two tokens, in either order. In V3, of several pools the one with the most liquidity: the greatest product of its pool values, and of equal ones the smallest pool id. Null if the exchange has no such pool at that height. Null with an error if the exchange state cannot be read.',
    args: {
      token1Id: t.arg({ type: 'TokenId', required: true, description: 'Id of one of the two tokens.' }),
      token2Id: t.arg({ type: 'TokenId', required: true, description: 'Id of the other token.' }),
      ...atArg,
      ...versionArg,
    },
    resolve: (_root, { token1Id, token2Id, at, version }, { loaders }) =>
      loaders.exchange.poolPair(token1Id, token2Id, at, version),
  }),
  pool: t.field({
    type: PoolPairRef,
    nullable: true,
    description:
      'A pool of V3 by its id. Null if the exchange has no such pool at that height. Text in any other format is BAD_USER_INPUT. Null with an error if the exchange state cannot be read.',
    args: {
      poolId: t.arg.string({
        required: true,
        description: 'Id of the pool, as `PoolPair.poolId`, or as `Pair.poolId` spells it.',
      }),
      ...atArg,
    },
    resolve: (_root, { poolId, at }, { loaders }) => loaders.exchange.pool(poolId, at),
  }),
}));
