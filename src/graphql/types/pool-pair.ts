import { andThen } from '../../domain/maybe-promise.ts';
import { poolPairId, poolPairKey } from '../../domain/pool-pair.ts';
import { exactPriceOfToken2, priceOfToken1, priceOfToken2, spotPriceOfToken2 } from '../../domain/price.ts';
import { liquidityUsd } from '../../domain/usd-prices.ts';
import { DEFAULT_PERCENTS, readPercents } from '../../loaders/depth.ts';
import { poolPrice, requireDecimals } from '../../loaders/pool-price.ts';
import { builder, NODE_ID, NodeRef } from '../builder.ts';
import { objects, objectsAt } from '../complexity.ts';
import { ASSUMED_PAIRS } from '../limits.ts';
import { PLAIN_TEXT } from '../scalars.ts';
import { PoolDepthRef } from './pool-depth.ts';
import { PairRef, PoolPairRef } from './refs.ts';
import { TokenRef } from './token.ts';

/** The decimals of a field that computes prices. */
export const decimalsArgs = builder.args((t) => ({
  decimals1: t.int({
    description: 'Decimals of token 1, from 0 to 30. Used instead of the decimals from the token list.',
  }),
  decimals2: t.int({
    description: 'Decimals of token 2, from 0 to 30. Used instead of the decimals from the token list.',
  }),
}));

/** The argument `at` of a field that can read an earlier height. */
export const atArg = builder.args((t) => ({
  at: t.field({
    type: 'BeaconHeight',
    description: 'Beacon height to read instead of the current one. A future or pruned height is HEIGHT_NOT_AVAILABLE.',
  }),
}));

PoolPairRef.implement({
  interfaces: [NodeRef],
  // The JSON of pools is cached, see execution/cached-pool.ts.
  extensions: { isCacheable: true },
  description:
    "A constant-product pool of two tokens in the node's exchange state. The current pool and the pool at an earlier height are different objects with different ids. The id of a pool that was read with `at`, or with a cursor of an earlier height, ends in '@<height>', so client caches store both.",
  fields: (t) => ({
    id: t.id({
      description: NODE_ID,
      extensions: PLAIN_TEXT,
      resolve: (pool) => `PoolPair:${poolPairId(pool)}${pool.isPinned ? `@${pool.beaconHeight}` : ''}`,
    }),
    key: t.string({
      description: "Key of the pool on the node: 'pdepool-<height>-<id1>-<id2>'.",
      extensions: PLAIN_TEXT,
      resolve: poolPairKey,
    }),
    beaconHeight: t.expose('beaconHeight', {
      type: 'BeaconHeight',
      description: 'Beacon height of these reserves.',
    }),
    token1: t.field({
      type: TokenRef,
      description: 'The token with the smaller id, in lexicographic order.',
      resolve: (pool, _args, { loaders }) => loaders.tokens.get(pool.token1Id),
    }),
    token2: t.field({
      type: TokenRef,
      description: 'The token with the larger id, in lexicographic order.',
      resolve: (pool, _args, { loaders }) => loaders.tokens.get(pool.token2Id),
    }),
    token1PoolValue: t.expose('reserve1', {
      type: 'BigInt',
      description: 'Reserve of token 1 in the pool, in the smallest unit of the token.',
    }),
    token2PoolValue: t.expose('reserve2', {
      type: 'BigInt',
      description: 'Reserve of token 2 in the pool, in the smallest unit of the token.',
    }),
    price: t.float({
      nullable: true,
      description:
        'Amount of token 1 that buys one whole token 2: `(T1 - x) / 10^d1`, where `x = ceil((T2 * T1) / (T2 + 10^d2))`, T1 and T2 are the reserves, and d1 and d2 are the decimals. Computed in floating point, exactly as the specification defines it. Null if a reserve is 0, or if the decimals of a token are unknown and not set by an argument.',
      args: decimalsArgs,
      extensions: { refuse: requireDecimals },
      resolve: (pool, args, { loaders }) => poolPrice(priceOfToken2, pool, args, loaders.tokens),
    }),
    exactPrice: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Same as `price`, but in exact integer arithmetic, with all decimals of token 1. Null in the same cases as `price`.',
      args: decimalsArgs,
      extensions: { refuse: requireDecimals },
      resolve: (pool, args, { loaders }) => poolPrice(exactPriceOfToken2, pool, args, loaders.tokens),
    }),
    inversePrice: t.float({
      nullable: true,
      description:
        'Amount of token 2 that buys one whole token 1: the formula of `price` with the two tokens swapped. Null in the same cases as `price`.',
      args: decimalsArgs,
      extensions: { refuse: requireDecimals },
      resolve: (pool, args, { loaders }) => poolPrice(priceOfToken1, pool, args, loaders.tokens),
    }),
    spotPrice: t.float({
      nullable: true,
      description:
        'Ratio of the reserves, in token 1 per token 2: the price of an infinitely small trade. Null in the same cases as `price`.',
      args: decimalsArgs,
      extensions: { refuse: requireDecimals },
      resolve: (pool, args, { loaders }) => poolPrice(spotPriceOfToken2, pool, args, loaders.tokens),
    }),
    liquidityUsd: t.float({
      nullable: true,
      description:
        'Value of both reserves together in US dollars, at the height of the pool: each reserve times the price of its token, as `Token.usdPrice` defines it. It changes with the prices of the tokens, also while the reserves stay the same. 0 if a reserve is 0. Null if no route leads from the tokens to a stable coin, or if the pool would be worth more than 100 times the dollars that the routes of its tokens lead to. Decimals of the two tokens are not needed. Null with an error if the exchange state cannot be read.',
      resolve: (pool, _args, { loaders }) =>
        andThen(loaders.exchange.usdPrices(pool), (prices) => liquidityUsd(prices, pool)),
    }),
    depth: t.field({
      type: [PoolDepthRef],
      nullable: true,
      complexity: ({ percents }) => objects((percents ?? DEFAULT_PERCENTS).length),
      description:
        'The trades that move the spot price by each of these percentages, up and down, in the order of the argument. Computed in exact integers. In V3, a trade also fills the orders on its way, and a percentage that no trade can reach with what the pool holds is left out. Empty if a reserve is 0, or if the pool refuses every trade. Null with an error if a percentage is not valid, or if the orders cannot be read.',
      args: {
        percents: t.arg.floatList({
          defaultValue: DEFAULT_PERCENTS,
          description:
            'Percentages, each above 0 and below 100, at most 100 of them. Any other percentage is BAD_USER_INPUT.',
        }),
      },
      extensions: { refuse: readPercents },
      resolve: (pool, args, { loaders }) => loaders.poolOrders.depths(pool, readPercents(args)),
    }),
    current: t.field({
      type: PoolPairRef,
      nullable: true,
      complexity: objects(1),
      description:
        'The same pool at the height of this response. Use it to compare a pool at an earlier height with the current one. Null if the exchange no longer has this pool. Null with an error if the exchange state cannot be read.',
      resolve: (pool, _args, { loaders }) => loaders.exchange.poolPair(pool.token1Id, pool.token2Id),
    }),
    pairs: t.field({
      type: [PairRef],
      nullable: true,
      complexity: objects(ASSUMED_PAIRS),
      description:
        'Market-data pairs of the same two tokens, in the order of the market-data host. Their pools can have different reserves from this one. Null with an error if pairs cannot be read.',
      resolve: (pool, _args, { loaders }) => loaders.market.pairs.ofTokens(pool.token1Id, pool.token2Id),
    }),
  }),
});

builder.queryField('poolPair', (t) =>
  t.field({
    type: PoolPairRef,
    nullable: true,
    complexity: ({ at }) => objectsAt(1, at),
    description:
      'The pool of two tokens, in either order. Null if the exchange has no such pool at that height. Null with an error if the exchange state cannot be read.',
    args: {
      token1Id: t.arg({ type: 'TokenId', required: true, description: 'Id of one of the two tokens.' }),
      token2Id: t.arg({ type: 'TokenId', required: true, description: 'Id of the other token.' }),
      ...atArg,
    },
    resolve: (_root, { token1Id, token2Id, at }, { loaders }) => loaders.exchange.poolPair(token1Id, token2Id, at),
  }),
);
