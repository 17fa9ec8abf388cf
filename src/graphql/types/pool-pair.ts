import { type PoolPair, poolPairId, poolPairKey } from '../../domain/pool-pair.ts';
import { exactPriceOfToken2, priceOfToken1, priceOfToken2, spotPriceOfToken2 } from '../../domain/price.ts';
import { quote } from '../../loaders/decimals.ts';
import { builder, NODE_ID, NodeRef } from '../builder.ts';
import { objects, objectsAt } from '../complexity.ts';
import { PairRef } from './pair.ts';
import { TokenRef } from './token.ts';

export const PoolPairRef = builder.objectRef<PoolPair>('PoolPair');

/** Two tokens trade in a handful of pairs at the most. */
const ASSUMED_PAIRS_OF_A_POOL = 10;

/** Decimals that a client knows better, or that nobody else knows. */
const decimalsArgs = builder.args((t) => ({
  decimals1: t.int({ description: 'Decimals of token 1, 0 to 30, in place of those that are known.' }),
  decimals2: t.int({ description: 'Decimals of token 2, 0 to 30, in place of those that are known.' }),
}));

PoolPairRef.implement({
  interfaces: [NodeRef],
  // What is written of a pool of the newest head is kept, see execution/parts.ts.
  extensions: { isPart: true },
  description:
    "A constant-product pool of two tokens in the node's exchange state. The pool as of now and the pool at a pinned height are two objects: read through `at`, or through a cursor of a height that is no longer current, its id ends in '@<height>', so that a client's cache keeps them apart.",
  fields: (t) => ({
    id: t.id({
      description: NODE_ID,
      resolve: (pool) => `PoolPair:${poolPairId(pool)}${pool.isPinned ? `@${pool.beaconHeight}` : ''}`,
    }),
    key: t.string({
      description: "The node's own key, 'pdepool-<height>-<id1>-<id2>'.",
      resolve: poolPairKey,
    }),
    beaconHeight: t.expose('beaconHeight', {
      type: 'BeaconHeight',
      description: 'The height that these reserves are of.',
    }),
    token1: t.field({
      type: TokenRef,
      description: 'The token with the lexicographically smaller id.',
      resolve: (pool, _args, { loaders }) => loaders.tokens.get(pool.token1Id),
    }),
    token2: t.field({
      type: TokenRef,
      description: 'The other token.',
      resolve: (pool, _args, { loaders }) => loaders.tokens.get(pool.token2Id),
    }),
    token1PoolValue: t.expose('reserve1', {
      type: 'BigInt',
      description: "How much of token 1 the pool holds, in that token's smallest unit.",
    }),
    token2PoolValue: t.expose('reserve2', {
      type: 'BigInt',
      description: "How much of token 2 the pool holds, in that token's smallest unit.",
    }),
    price: t.float({
      nullable: true,
      description:
        "Token 1 needed to buy one whole token 2, by the documented formula in floating point, to the last bit: `(T1 - x) / 10^d1`, where `x = ceil((T2 * T1) / (T2 + 10^d2))`. Null for an empty side, or while a token's decimals are neither known nor given.",
      args: decimalsArgs,
      resolve: (pool, args, { loaders }) => quote(priceOfToken2, pool, args, loaders.tokens),
    }),
    exactPrice: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        "The formula of `price` in exact integer arithmetic, with all the decimals of token 1. Null for an empty side, or while a token's decimals are neither known nor given.",
      args: decimalsArgs,
      resolve: (pool, args, { loaders }) => quote(exactPriceOfToken2, pool, args, loaders.tokens),
    }),
    inversePrice: t.float({
      nullable: true,
      description:
        "Token 2 needed to buy one whole token 1: the formula of `price` with the sides exchanged. Null for an empty side, or while a token's decimals are neither known nor given.",
      args: decimalsArgs,
      resolve: (pool, args, { loaders }) => quote(priceOfToken1, pool, args, loaders.tokens),
    }),
    spotPrice: t.float({
      nullable: true,
      description:
        "Token 1 per token 2 by the ratio of the reserves alone: what an infinitely small trade would pay. Null for an empty side, or while a token's decimals are neither known nor given.",
      args: decimalsArgs,
      resolve: (pool, args, { loaders }) => quote(spotPriceOfToken2, pool, args, loaders.tokens),
    }),
    pairs: t.field({
      type: [PairRef],
      nullable: true,
      complexity: objects(ASSUMED_PAIRS_OF_A_POOL),
      description:
        "Market-data pairs that trade the same two tokens, in the host's order. Their own pools need not hold the same reserves. Null with an error where the pairs cannot be read.",
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
      'The pool of two tokens, named in either order. Null when the exchange has no such pool at that height, or with an error where its state cannot be read.',
    args: {
      token1Id: t.arg({ type: 'TokenId', required: true, description: 'One of the two tokens.' }),
      token2Id: t.arg({ type: 'TokenId', required: true, description: 'The other.' }),
      at: t.arg({
        type: 'BeaconHeight',
        description:
          'Reads the state of that height, in place of the current one. A future or pruned height is HEIGHT_NOT_AVAILABLE.',
      }),
    },
    resolve: (_root, { token1Id, token2Id, at }, { loaders }) => loaders.exchange.poolPair(token1Id, token2Id, at),
  }),
);
