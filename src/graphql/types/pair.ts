import { basePrice, exactBasePrice } from '../../domain/price.ts';
import { quotePair } from '../../loaders/quote.ts';
import { builder, NODE_ID, NodeRef } from '../builder.ts';
import { listOf, orderBook, POOL_PRICE } from '../complexity.ts';
import { depthArg, OrderBookRef, refusingDepth } from './order-book.ts';
import { PairRef, PoolPairRef, TickerRef } from './refs.ts';
import { TokenRef } from './token.ts';

/** The arguments that name one pair or ticker. */
export const pairIdArgs = builder.args((t) => ({
  tickerId: t.string({
    description: 'Ticker id, `<base symbol>_<target symbol>`. Several pools can have the same ticker id.',
  }),
  poolId: t.string({ description: 'Pool id, which is unique.' }),
}));

/** The filter of a list of pairs or tickers. */
export const PairFilterInput = builder.inputType('PairFilter', {
  description:
    'Filter for pairs and tickers. A pair must match every field that is set. An empty list matches no pair.',
  fields: (t) => ({
    tickerIds: t.stringList({ description: 'Matches pairs with one of these ticker ids.' }),
    poolIds: t.stringList({ description: 'Matches pairs with one of these pool ids.' }),
    tokenId: t.field({ type: 'TokenId', description: 'Matches pairs whose base or target is this token.' }),
    base: t.string({ description: 'Matches pairs whose base token has this symbol in the market data.' }),
    target: t.string({ description: 'Matches pairs whose target token has this symbol in the market data.' }),
  }),
});

PairRef.implement({
  interfaces: [NodeRef],
  description: 'A trading pair on the market-data host: two tokens that trade against each other in one pool.',
  fields: (t) => ({
    id: t.id({ description: NODE_ID, resolve: (pair) => `Pair:${pair.poolId}` }),
    tickerId: t.exposeString('tickerId', {
      description:
        'Ticker id, `<base symbol>_<target symbol>`. Not unique: tokens can share a symbol, and two tokens can trade in several pools.',
    }),
    baseId: t.expose('baseId', {
      type: 'TokenId',
      description: 'Id of the base token, which is the token that has the price.',
    }),
    base: t.exposeString('base', {
      description: 'Symbol of the base token in the market data. Symbols of bridged tokens start with `p`.',
    }),
    targetId: t.expose('targetId', {
      type: 'TokenId',
      description: 'Id of the target token, which is the token that prices are quoted in.',
    }),
    target: t.exposeString('target', { description: 'Symbol of the target token in the market data.' }),
    poolId: t.exposeString('poolId', {
      description: 'Pool id, which is unique: both token ids, the smaller one first, and a hash.',
    }),
    baseToken: t.field({
      type: TokenRef,
      description: 'The base token.',
      resolve: (pair, _args, { loaders }) => loaders.tokens.get(pair.baseId),
    }),
    targetToken: t.field({
      type: TokenRef,
      description: 'The target token.',
      resolve: (pair, _args, { loaders }) => loaders.tokens.get(pair.targetId),
    }),
    ticker: t.field({
      type: TickerRef,
      nullable: true,
      description:
        'Last price and volumes of this pair. Null if the host has no ticker for the pool. Null with an error if tickers cannot be read.',
      resolve: (pair, _args, { loaders }) => loaders.market.tickers.byPoolId(pair.poolId),
    }),
    orderBook: t.field({
      type: OrderBookRef,
      nullable: true,
      complexity: ({ depth }) => orderBook(depth),
      extensions: refusingDepth,
      description:
        "Order book of this pair's ticker id. Several pairs can share one order book. Null with an error if the order book cannot be read.",
      args: depthArg,
      resolve: (pair, { depth }, { loaders }) => loaders.orderBooks.get(pair.tickerId, depth),
    }),
    poolPair: t.field({
      type: PoolPairRef,
      nullable: true,
      description:
        "The node's pool of the same two tokens, at the height of this response. Null if the node has no such pool. Null with an error if the exchange state cannot be read.",
      resolve: (pair, _args, { loaders }) => loaders.exchange.poolPair(pair.baseId, pair.targetId),
    }),
    poolPrice: t.float({
      nullable: true,
      complexity: POOL_PRICE,
      description:
        "Price of one whole base token in target tokens, from the node's pool of the same two tokens at the height of this response. The formula is that of `PoolPair.price`, and the trader buys the base token. Directly comparable with `Ticker.lastPrice` and with the prices of the order book. Null if there is no such pool, if one of its reserves is 0, or if the decimals of a token are unknown. Null with an error if the exchange state cannot be read.",
      resolve: (pair, _args, { loaders }) => quotePair(basePrice, pair, loaders),
    }),
    exactPoolPrice: t.field({
      type: 'Decimal',
      nullable: true,
      complexity: POOL_PRICE,
      description:
        'Same as `poolPrice`, but in exact integer arithmetic, with all decimals of the target token. Null in the same cases as `poolPrice`.',
      resolve: (pair, _args, { loaders }) => quotePair(exactBasePrice, pair, loaders),
    }),
  }),
});

builder.queryFields((t) => ({
  pairs: t.field({
    type: [PairRef],
    complexity: (_args, { service }) => listOf(service.sources.market.pairs.current()?.market.rows.length),
    nullable: true,
    description:
      'All pairs that match the filter, in the order of the market-data host. Null with an error if pairs cannot be read.',
    args: { filter: t.arg({ type: PairFilterInput, description: 'Filter. Without it, the list contains all pairs.' }) },
    resolve: (_root, { filter }, { loaders }) => loaders.market.pairs.select(filter),
  }),
  pair: t.field({
    type: PairRef,
    nullable: true,
    description:
      'One pair, by `tickerId`, `poolId` or both. Without either, the request is BAD_USER_INPUT. A `tickerId` of several pools without a `poolId` is AMBIGUOUS_TICKER. Null if there is no such pair. Null with an error if pairs cannot be read.',
    args: pairIdArgs,
    resolve: (_root, ids, { loaders }) => loaders.market.pairs.find(ids),
  }),
}));
