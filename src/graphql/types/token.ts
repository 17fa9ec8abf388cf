import { andThen } from '../../domain/maybe-promise.ts';
import { basePrice, tokenPrice } from '../../domain/price.ts';
import { NATIVE_TOKEN_ID } from '../../domain/token.ts';
import { usdPrice } from '../../domain/usd-prices.ts';
import { builder, NODE_ID, NodeRef, TokenRef } from '../builder.ts';
import { complexityOfTokens, POOL_PRICE } from '../complexity.ts';

TokenRef.implement({
  interfaces: [NodeRef],
  description:
    "A token. Its symbol and decimals come from the gateway's token list; the market-data host provides the symbols of tokens outside that list. The gateway never guesses them.",
  fieldDescriptions: {
    tokenId: 'Id of the token on the chain.',
    symbol:
      'Symbol of the token, from the token list, or otherwise from the market data. Not unique. Null if neither contains it.',
    decimals:
      'Number of decimals: one whole token is 10^decimals of its smallest units. Null if the token list does not contain them.',
    nativePrice:
      'Amount of the native coin (PRV) that buys one whole token, from the pool of both at the height of this response. Of several pools of V3, it is the one with the most liquidity. The formula is that of `PoolPair.price`. Null for the native coin itself, if there is no such pool, if a reserve is 0, or if the decimals of a token are unknown. Null with an error if the exchange state cannot be read.',
    usdPrice:
      'US dollars for one whole token, from the pools at the height of this response. It is 1 for a stable coin (`USD_TOKENS` of the gateway), whatever its pools say. Any other token has the average price of its pools on routes to stable coins, weighted by the depth of each route: the smallest reserve on it, in US dollars. So a pool with little in it hardly counts. The price of a token that is only in such pools can have little to do with any market. Null if no route of pools with two reserves above 0 leads to a stable coin, or if the decimals of the token are unknown. Null with an error if the exchange state cannot be read.',
    poolCount:
      'Number of pools that contain this token, at the height of this response. Null with an error if the exchange state cannot be read.',
  },
  fields: (t) => ({
    id: t.id({ description: NODE_ID, resolve: (token) => `Token:${token.tokenId}` }),
    tokenId: t.expose('tokenId', { type: 'TokenId' }),
    symbol: t.exposeString('symbol', { nullable: true }),
    decimals: t.exposeInt('decimals', { nullable: true }),
    nativePrice: t.float({
      nullable: true,
      complexity: POOL_PRICE,
      resolve: ({ tokenId }, _args, { loaders }) =>
        andThen(
          loaders.exchange.poolPair(tokenId, NATIVE_TOKEN_ID),
          (pool) => pool && tokenPrice(basePrice, pool, tokenId, loaders.tokens.list),
        ),
    }),
    usdPrice: t.float({
      nullable: true,
      resolve: ({ tokenId, decimals }, _args, { loaders }) =>
        andThen(loaders.exchange.usdPrices(), (prices) => usdPrice(prices, tokenId, decimals)),
    }),
    poolCount: t.int({
      nullable: true,
      resolve: ({ tokenId }, _args, { loaders }) =>
        andThen(loaders.head.get(), ({ exchange }) => exchange.directory.placesOfToken.get(tokenId)?.length ?? 0),
    }),
  }),
});

builder.queryFields((t) => ({
  token: t.field({
    type: TokenRef,
    nullable: true,
    description:
      'One token by its id. Null if the id appears neither in the token list, nor in any pair, nor in any pool of the version of the exchange that trades. Null with an error if the gateway cannot read an upstream that could contain it.',
    args: { id: t.arg({ type: 'TokenId', required: true, description: 'Id of the token on the chain.' }) },
    resolve: (_root, { id }, { loaders }) => loaders.tokens.find(id),
  }),
  tokens: t.field({
    type: [TokenRef],
    complexity: (_args, { service }) => complexityOfTokens(service),
    description:
      'All tokens of the token list, of all pairs, and of all pools of the version of the exchange that trades, ascending by id. Tokens of an upstream that could not be read yet are missing.',
    resolve: (_root, _args, { loaders }) => loaders.tokens.all(),
  }),
}));
