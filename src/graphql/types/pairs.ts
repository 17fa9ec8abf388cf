import { placeOfPair } from '../../domain/market.ts';
import { basePrice, exactBasePrice } from '../../domain/price.ts';
import { pricesOf } from '../../loaders/divergence.ts';
import { createTickerStream } from '../../loaders/market.ts';
import { readOrderBookArguments } from '../../loaders/order-book.ts';
import { pairPrice } from '../../loaders/pool-price.ts';
import { builder, exposeAll, NODE_ID, NodeRef, PairRef, PoolPairRef, TickerRef } from '../builder.ts';
import { DIVERGENCE, orderBook, POOL_PRICE, selectedPairs } from '../complexity.ts';
import { DivergenceRef } from './divergence.ts';
import { OrderBookRef, orderBookArgs } from './order-book.ts';
import { tokenField } from './token.ts';

/** The arguments that name one pair or ticker. */
const pairIdArgs = builder.args((t) => ({
  tickerId: t.string({
    description: 'Ticker id, `<base symbol>_<target symbol>`. Several pools can have the same ticker id.',
  }),
  poolId: t.string({ description: 'Pool id, which is unique.' }),
}));

const PairFilterInput = builder.inputType('PairFilter', {
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

/** The argument `filter` of a list of pairs or tickers. */
const pairFilterArg = builder.args((t) => ({
  filter: t.field({ type: PairFilterInput, description: 'Filter. Without it, the list is complete.' }),
}));

PairRef.implement({
  interfaces: [NodeRef],
  description: 'A trading pair on the market-data host: two tokens that trade against each other in one pool.',
  fields: (t) => ({
    id: t.id({ description: NODE_ID, resolve: (pair) => `Pair:${pair.poolId}` }),
    ...exposeAll(t, 'String', {
      base: 'Symbol of the base token in the market data. Symbols of bridged tokens start with `p`.',
      target: 'Symbol of the target token in the market data.',
    }),
    ticker: t.field({
      type: TickerRef,
      nullable: true,
      description:
        'Last price and volumes of this pair. Null if the host has no ticker for the pool. Null with an error if tickers cannot be read.',
      resolve: (pair, _args, { loaders }) => loaders.market.tickers.byPoolId(pair.poolId),
    }),
    exactPoolPrice: t.field({
      type: 'Decimal',
      nullable: true,
      complexity: POOL_PRICE,
      description:
        'Same as `poolPrice`, but in exact integer arithmetic, with all decimals of the target token. Null in the same cases as `poolPrice`.',
      resolve: (pair, _args, { loaders }) => pairPrice(exactBasePrice, pair, loaders),
    }),
    divergence: t.field({
      type: DivergenceRef,
      nullable: true,
      complexity: DIVERGENCE,
      description:
        'How far the price of `poolPair`, the last trade and the order book are apart. Null if `poolPair` is null, or if it is a pool of other tokens than `baseId` and `targetId`. Null with an error if the exchange state cannot be read.',
      resolve: (pair, _args, { loaders }) => pricesOf(pair, loaders),
    }),
  }),
});

// The fields that pairs and tickers share.
for (const ref of [PairRef, TickerRef]) {
  builder.objectFields(ref, (t) => ({
    ...exposeAll(t, 'String', {
      tickerId:
        'Ticker id, `<base symbol>_<target symbol>`. Not unique: tokens can share a symbol, and two tokens can trade in several pools.',
      poolId: 'Pool id, which is unique: both token ids, the smaller one first, and a hash.',
    }),
    ...exposeAll(t, 'TokenId', {
      baseId: 'Id of the base token, which is the token that has the price.',
      targetId: 'Id of the target token, which is the token that prices are quoted in.',
    }),
    baseToken: t.field(tokenField('The base token.', ({ baseId }) => baseId)),
    targetToken: t.field(tokenField('The target token.', ({ targetId }) => targetId)),
    orderBook: t.field({
      type: OrderBookRef,
      nullable: true,
      complexity: ({ depth }) => orderBook(depth),
      extensions: { refuse: readOrderBookArguments },
      description:
        'Order book of this ticker id. Pairs with the same ticker id share one order book. Null with an error if the order book cannot be read.',
      args: orderBookArgs,
      resolve: ({ tickerId }, args, { loaders }) => loaders.orderBooks.get(tickerId, args),
    }),
    poolPair: t.field({
      type: PoolPairRef,
      nullable: true,
      description:
        "The node's pool of this pair, at the height of this response. With V3, it is the pool that `poolId` names, never another pool of the same two tokens. The host may write the id in upper case, or with the two token ids in the other order. With V1, it is the pool of the two tokens. Null if the node has no such pool. If the host names a pool of other tokens than `baseId` and `targetId`, fields that compare prices with it are null. Null with an error if the exchange state cannot be read.",
      resolve: (pair, _args, { loaders }) => loaders.exchange.find((exchange) => placeOfPair(exchange, pair)),
    }),
    poolPrice: t.float({
      nullable: true,
      complexity: POOL_PRICE,
      description:
        'Price of one whole base token in target tokens, from `poolPair` at the height of this response. The formula is that of `PoolPair.price`, and the trader buys the base token. Directly comparable with `Ticker.lastPrice` and with the prices of the order book. Null if `poolPair` is null, if it is a pool of other tokens than `baseId` and `targetId`, if one of its reserves is 0, or if the decimals of a token are unknown. Null with an error if the exchange state cannot be read.',
      resolve: (pair, _args, { loaders }) => pairPrice(basePrice, pair, loaders),
    }),
  }));
}

TickerRef.implement({
  interfaces: [NodeRef],
  description:
    'Last price and 24-hour volumes of a pair, as the market-data host sends them. The host does not guarantee that they are consistent with each other.',
  fields: (t) => ({
    id: t.id({ description: NODE_ID, resolve: (ticker) => `Ticker:${ticker.poolId}` }),
    baseCurrency: t.exposeString('base', { description: 'Symbol of the base token in the market data.' }),
    targetCurrency: t.exposeString('target', { description: 'Symbol of the target token in the market data.' }),
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
  }),
});

for (const [one, ref] of [
  ['pair', PairRef],
  ['ticker', TickerRef],
] as const) {
  const all = `${one}s` as const;

  builder.queryFields((t) => ({
    [all]: t.field({
      type: [ref],
      nullable: true,
      complexity: ({ filter }, { service }) => selectedPairs(filter, service.sources.market[all].current()?.market),
      description: `All ${all} that match the filter, in the order of the market-data host. Null with an error if ${all} cannot be read.`,
      args: pairFilterArg,
      resolve: (_root, { filter }, { loaders }) => loaders.market[all].select(filter),
    }),
    [one]: t.field({
      type: ref,
      nullable: true,
      description: `One ${one}, by \`tickerId\`, \`poolId\` or both. Without either, the request is BAD_USER_INPUT. A \`tickerId\` of several pools without a \`poolId\` is AMBIGUOUS_TICKER. Null if there is no such ${one}. Null with an error if ${all} cannot be read.`,
      args: pairIdArgs,
      resolve: (_root, ids, { loaders }) => loaders.market[all].find(ids),
    }),
  }));
}

builder.subscriptionField('tickers', (t) =>
  t.field({
    type: [TickerRef],
    complexity: ({ filter }, { service }) => selectedPairs(filter, service.sources.market.tickers.current()?.market),
    description:
      'Sends the current tickers first, then the list each time a ticker changes. A slow subscriber skips changes and receives the newest list. If tickers could not be read yet, the first update is an error with null data, and the subscription stays open.',
    args: pairFilterArg,
    subscribe: (_root, { filter }, { loaders }) => createTickerStream(filter, loaders),
    resolve: (tickers) => tickers,
  }),
);
