import { basePrice } from '../../domain/price.ts';
import { quotePair } from '../../loaders/quote.ts';
import { builder, NODE_ID, NodeRef } from '../builder.ts';
import { listOf, orderBook, POOL_PRICE } from '../complexity.ts';
import { depthArg, OrderBookRef, refusingDepth } from './order-book.ts';
import { PairFilterInput, pairIdArgs } from './pair.ts';
import { PairRef, PoolPairRef, TickerRef } from './refs.ts';
import { TokenRef } from './token.ts';

TickerRef.implement({
  interfaces: [NodeRef],
  description:
    'Last price and 24-hour volumes of a pair, as the market-data host sends them. The host does not guarantee that they are consistent with each other.',
  fields: (t) => ({
    id: t.id({ description: NODE_ID, resolve: (ticker) => `Ticker:${ticker.poolId}` }),
    tickerId: t.exposeString('tickerId', { description: 'Ticker id, `<base symbol>_<target symbol>`. Not unique.' }),
    baseId: t.expose('baseId', {
      type: 'TokenId',
      description: 'Id of the base token, which is the token that has the price.',
    }),
    baseCurrency: t.exposeString('base', { description: 'Symbol of the base token in the market data.' }),
    targetId: t.expose('targetId', {
      type: 'TokenId',
      description: 'Id of the target token, which is the token that prices are quoted in.',
    }),
    targetCurrency: t.exposeString('target', { description: 'Symbol of the target token in the market data.' }),
    poolId: t.exposeString('poolId', { description: 'Pool id, which is unique.' }),
    baseToken: t.field({
      type: TokenRef,
      description: 'The base token.',
      resolve: (ticker, _args, { loaders }) => loaders.tokens.get(ticker.baseId),
    }),
    targetToken: t.field({
      type: TokenRef,
      description: 'The target token.',
      resolve: (ticker, _args, { loaders }) => loaders.tokens.get(ticker.targetId),
    }),
    lastPrice: t.exposeFloat('lastPrice', {
      nullable: true,
      description: 'Price of one base token in target tokens in the last trade. Null if the host sends none.',
    }),
    baseVolume: t.exposeFloat('baseVolume', {
      nullable: true,
      description: 'Traded volume of the last 24 hours, in whole base tokens. Null if the host sends none.',
    }),
    targetVolume: t.exposeFloat('targetVolume', {
      nullable: true,
      description: 'Traded volume of the last 24 hours, in whole target tokens. Null if the host sends none.',
    }),
    pair: t.field({
      type: PairRef,
      nullable: true,
      description:
        'The pair of this ticker. Null if the host has no pair for the pool. Null with an error if pairs cannot be read.',
      resolve: (ticker, _args, { loaders }) => loaders.market.pairs.byPoolId(ticker.poolId),
    }),
    orderBook: t.field({
      type: OrderBookRef,
      nullable: true,
      complexity: ({ depth }) => orderBook(depth),
      extensions: refusingDepth,
      description:
        'Order book of this ticker id. Several tickers can share one order book. Null with an error if the order book cannot be read.',
      args: depthArg,
      resolve: (ticker, { depth }, { loaders }) => loaders.orderBooks.get(ticker.tickerId, depth),
    }),
    poolPair: t.field({
      type: PoolPairRef,
      nullable: true,
      description:
        "The node's pool of the same two tokens, at the height of this response. Null if the node has no such pool. Null with an error if the exchange state cannot be read.",
      resolve: (ticker, _args, { loaders }) => loaders.exchange.poolPair(ticker.baseId, ticker.targetId),
    }),
    poolPrice: t.float({
      nullable: true,
      complexity: POOL_PRICE,
      description:
        "Price of one whole base token in target tokens, from the node's pool of the same two tokens at the height of this response. Same as `Pair.poolPrice`, and directly comparable with `lastPrice`. Null if there is no such pool, if one of its reserves is 0, or if the decimals of a token are unknown. Null with an error if the exchange state cannot be read.",
      resolve: (ticker, _args, { loaders }) => quotePair(basePrice, ticker, loaders),
    }),
  }),
});

builder.queryFields((t) => ({
  tickers: t.field({
    type: [TickerRef],
    complexity: (_args, { service }) => listOf(service.sources.market.tickers.current()?.market.rows.length),
    nullable: true,
    description:
      'All tickers that match the filter, in the order of the market-data host. Null with an error if tickers cannot be read.',
    args: {
      filter: t.arg({ type: PairFilterInput, description: 'Filter. Without it, the list contains all tickers.' }),
    },
    resolve: (_root, { filter }, { loaders }) => loaders.market.tickers.select(filter),
  }),
  ticker: t.field({
    type: TickerRef,
    nullable: true,
    description:
      'One ticker, by `tickerId`, `poolId` or both. Without either, the request is BAD_USER_INPUT. A `tickerId` of several pools without a `poolId` is AMBIGUOUS_TICKER. Null if there is no such ticker. Null with an error if tickers cannot be read.',
    args: pairIdArgs,
    resolve: (_root, ids, { loaders }) => loaders.market.tickers.find(ids),
  }),
}));

builder.subscriptionField('tickers', (t) =>
  t.field({
    type: [TickerRef],
    complexity: (_args, { service }) => listOf(service.sources.market.tickers.current()?.market.rows.length),
    description:
      'Sends the current tickers first, then the list each time a ticker changes. A slow subscriber skips changes and receives the newest list. If tickers could not be read yet, the first update is an error with null data, and the subscription stays open.',
    args: {
      filter: t.arg({ type: PairFilterInput, description: 'Filter. Without it, the list contains all tickers.' }),
    },
    subscribe: (_root, { filter }, { loaders }) => loaders.sourceStreams.tickers(filter),
    resolve: (tickers) => tickers,
  }),
);
