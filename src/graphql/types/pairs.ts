import { placeOfPair } from '../../domain/market.ts';
import { basePrice, exactBasePrice } from '../../domain/price.ts';
import { pricesOf } from '../../loaders/divergence.ts';
import { createTickerStream } from '../../loaders/market.ts';
import { readOrderBookArguments } from '../../loaders/order-book.ts';
import { pairPrice } from '../../loaders/pool-price.ts';
import { builder, NODE_ID, NodeRef, PairRef, PoolPairRef, TickerRef } from '../builder.ts';
import { complexityOfOrderBook, complexityOfPairs, DIVERGENCE, POOL_PRICE } from '../complexity.ts';
import { DivergenceRef } from './divergence.ts';
import { OrderBookRef, orderBookArgs } from './order-book.ts';

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

/** The descriptions of the fields that pairs and tickers share. */
const SHARED_DESCRIPTIONS = {
  tickerId:
    'Ticker id, `<base symbol>_<target symbol>`. Not unique: tokens can share a symbol, and two tokens can trade in several pools.',
  poolId:
    'Pool id as the host writes it, which is unique: both token ids and a hash. `PoolPair.poolId` is always in lower case, with the smaller token id first.',
  baseId: 'Id of the base token, which is the token that has the price.',
  targetId: 'Id of the target token, which is the token that prices are quoted in.',
  baseToken: 'The base token.',
  targetToken: 'The target token.',
  orderBook:
    'Order book of this ticker id. Pairs with the same ticker id share one order book. Null with an error if the order book cannot be read.',
  poolPair:
    "The node's pool of this pair, at the height of this response. With V3, it is the pool that `poolId` names, never another pool of the same two tokens. The host may write the id in upper case, or with the two token ids in the other order. With V1, it is the pool of the two tokens. Null if the node has no such pool. If the host names a pool of other tokens than `baseId` and `targetId`, fields that compare prices with it are null. Null with an error if the exchange state cannot be read.",
  poolPrice:
    'Price of one whole base token in target tokens, from `poolPair` at the height of this response. The formula is that of `PoolPair.price`, and the trader buys the base token. Directly comparable with `Ticker.lastPrice` and with the prices of the order book. Null if `poolPair` is null, if it is a pool of other tokens than `baseId` and `targetId`, if one of its reserves is 0, or if the decimals of a token are unknown. Null with an error if the exchange state cannot be read.',
};

PairRef.implement({
  interfaces: [NodeRef],
  description: 'A trading pair on the market-data host: two tokens that trade against each other in one pool.',
  fieldDescriptions: {
    ...SHARED_DESCRIPTIONS,
    base: 'Symbol of the base token in the market data. Symbols of bridged tokens start with `p`.',
    target: 'Symbol of the target token in the market data.',
    ticker:
      'Last price and volumes of this pair. Null if the host has no ticker for the pool. Null with an error if tickers cannot be read.',
    exactPoolPrice:
      'Same as `poolPrice`, but in exact integer arithmetic, with all decimals of the target token. Null in the same cases as `poolPrice`.',
    divergence:
      'How far the price of `poolPair`, the last trade and the order book are apart. Null if `poolPair` is null, or if it is a pool of other tokens than `baseId` and `targetId`. Null with an error if the exchange state cannot be read.',
  },
  fields: (t) => ({
    id: t.id({ description: NODE_ID, resolve: (pair) => `Pair:${pair.poolId}` }),
    ...t.exposeAll('String', 'base', 'target'),
    ticker: t.field({
      type: TickerRef,
      nullable: true,
      resolve: (pair, _args, { loaders }) => loaders.market.tickers.byPoolId(pair.poolId),
    }),
    exactPoolPrice: t.field({
      type: 'Decimal',
      nullable: true,
      complexity: POOL_PRICE,
      resolve: (pair, _args, { loaders }) => pairPrice(exactBasePrice, pair, loaders),
    }),
    divergence: t.field({
      type: DivergenceRef,
      nullable: true,
      complexity: DIVERGENCE,
      resolve: (pair, _args, { loaders }) => pricesOf(pair, loaders),
    }),
  }),
});

// The fields that pairs and tickers share.
for (const ref of [PairRef, TickerRef]) {
  builder.objectFields(ref, (t) => ({
    ...t.exposeAll('String', 'tickerId', 'poolId'),
    ...t.exposeAll('TokenId', 'baseId', 'targetId'),
    baseToken: t.token(({ baseId }) => baseId),
    targetToken: t.token(({ targetId }) => targetId),
    orderBook: t.field({
      type: OrderBookRef,
      nullable: true,
      complexity: ({ depth }) => complexityOfOrderBook(depth),
      extensions: { refuse: readOrderBookArguments },
      args: orderBookArgs,
      resolve: ({ tickerId }, args, { loaders }) => loaders.orderBooks.get(tickerId, args),
    }),
    poolPair: t.field({
      type: PoolPairRef,
      nullable: true,
      resolve: (pair, _args, { loaders }) => loaders.exchange.find((exchange) => placeOfPair(exchange, pair)),
    }),
    poolPrice: t.float({
      nullable: true,
      complexity: POOL_PRICE,
      resolve: (pair, _args, { loaders }) => pairPrice(basePrice, pair, loaders),
    }),
  }));
}

TickerRef.implement({
  interfaces: [NodeRef],
  description:
    'Last price and 24-hour volumes of a pair, as the market-data host sends them. The host does not guarantee that they are consistent with each other.',
  fieldDescriptions: {
    ...SHARED_DESCRIPTIONS,
    baseCurrency: 'Symbol of the base token in the market data.',
    targetCurrency: 'Symbol of the target token in the market data.',
    lastPrice: 'Price of one base token in target tokens in the last trade. Null if the host sends none.',
    baseVolume: 'Traded volume of the last 24 hours, in whole base tokens. Null if the host sends none.',
    targetVolume: 'Traded volume of the last 24 hours, in whole target tokens. Null if the host sends none.',
    pair: 'The pair of this ticker. Null if the host has no pair for the pool. Null with an error if pairs cannot be read.',
  },
  fields: (t) => ({
    id: t.id({ description: NODE_ID, resolve: (ticker) => `Ticker:${ticker.poolId}` }),
    baseCurrency: t.exposeString('base'),
    targetCurrency: t.exposeString('target'),
    lastPrice: t.exposeFloat('lastPrice', { nullable: true }),
    baseVolume: t.exposeFloat('baseVolume', { nullable: true }),
    targetVolume: t.exposeFloat('targetVolume', { nullable: true }),
    pair: t.field({
      type: PairRef,
      nullable: true,
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
      complexity: (args, { service }) => complexityOfPairs(args.filter, service.sources.market[all].current()?.market),
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
    complexity: (args, { service }) => complexityOfPairs(args.filter, service.sources.market.tickers.current()?.market),
    description:
      'Sends the current tickers first, then the list each time a ticker changes. A slow subscriber skips changes and receives the newest list. If tickers could not be read yet, the first update is an error with null data, and the subscription stays open.',
    args: pairFilterArg,
    subscribe: (_root, { filter }, { loaders }) => createTickerStream(filter, loaders),
    resolve: (tickers) => tickers,
  }),
);
