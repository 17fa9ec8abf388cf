import type { Ticker } from '../../domain/market.ts';
import { builder, NODE_ID, NodeRef } from '../builder.ts';
import { listOf, orderBook } from '../complexity.ts';
import { depthArg, OrderBookRef } from './order-book.ts';
import { PairFilterInput, PairRef, pairIdArgs } from './pair.ts';
import { PoolPairRef } from './pool-pair.ts';

export const TickerRef = builder.objectRef<Ticker>('Ticker');

TickerRef.implement({
  interfaces: [NodeRef],
  description:
    'The last price and the 24-hour volumes of a pair, as the market-data host sends them. They need not be consistent with each other.',
  fields: (t) => ({
    id: t.id({ description: NODE_ID, resolve: (ticker) => `Ticker:${ticker.poolId}` }),
    tickerId: t.exposeString('tickerId', { description: '`<base symbol>_<target symbol>`. Not unique.' }),
    baseId: t.expose('baseId', { type: 'TokenId', description: 'The token that is priced.' }),
    baseCurrency: t.exposeString('base', { description: 'Its symbol as the host writes it.' }),
    targetId: t.expose('targetId', { type: 'TokenId', description: 'The token that prices are in.' }),
    targetCurrency: t.exposeString('target', { description: 'Its symbol as the host writes it.' }),
    poolId: t.exposeString('poolId', { description: 'The only unique key.' }),
    lastPrice: t.exposeFloat('lastPrice', {
      nullable: true,
      description: 'Target per base in the last trade, as the host sends it. Null when it sends none.',
    }),
    baseVolume: t.exposeFloat('baseVolume', {
      nullable: true,
      description: 'Whole base tokens traded in 24 hours, as the host sends it. Null when it sends none.',
    }),
    targetVolume: t.exposeFloat('targetVolume', {
      nullable: true,
      description: 'Whole target tokens traded in 24 hours, as the host sends it. Null when it sends none.',
    }),
    pair: t.field({
      type: PairRef,
      nullable: true,
      description: 'The pair. Null when the host lists none of that pool, or with an error where pairs cannot be read.',
      resolve: (ticker, _args, { loaders }) => loaders.market.pairs.byPoolId(ticker.poolId),
    }),
    orderBook: t.field({
      type: OrderBookRef,
      nullable: true,
      complexity: ({ depth }) => orderBook(depth),
      description:
        "The host's book of its ticker id, which several tickers can share. Null with an error where it cannot be read.",
      args: depthArg,
      resolve: (ticker, { depth }, { loaders }) => loaders.orderBooks.get(ticker.tickerId, depth),
    }),
    poolPair: t.field({
      type: PoolPairRef,
      nullable: true,
      description:
        "The node's pool of the same two tokens, at this answer's height. Null when it has none, or with an error where its state cannot be read.",
      resolve: (ticker, _args, { loaders }) => loaders.exchange.poolPair(ticker.baseId, ticker.targetId),
    }),
  }),
});

builder.queryFields((t) => ({
  tickers: t.field({
    type: [TickerRef],
    complexity: (_args, { service }) => listOf(service.sources.market.tickers.current()?.market.rows.length),
    nullable: true,
    description: "Tickers in the host's order. Null with an error where they cannot be read.",
    args: { filter: t.arg({ type: PairFilterInput, description: 'Which tickers. All, where it is left out.' }) },
    resolve: (_root, { filter }, { loaders }) => loaders.market.tickers.select(filter),
  }),
  ticker: t.field({
    type: TickerRef,
    nullable: true,
    description:
      'One ticker. At least one of the two ids is needed (BAD_USER_INPUT otherwise); a tickerId that names several pools is AMBIGUOUS_TICKER unless poolId says which. Null when there is none.',
    args: pairIdArgs,
    resolve: (_root, ids, { loaders }) => loaders.market.tickers.find(ids),
  }),
}));

builder.subscriptionField('tickers', (t) =>
  t.field({
    type: [TickerRef],
    complexity: (_args, { service }) => listOf(service.sources.market.tickers.current()?.market.rows.length),
    description:
      "Tickers, now and then each time the market-data host's answer changes. A listener that cannot keep up passes answers over.",
    args: { filter: t.arg({ type: PairFilterInput, description: 'Which tickers. All, where it is left out.' }) },
    subscribe: (_root, { filter }, { loaders }) => loaders.updates.tickers(filter),
    resolve: (tickers) => tickers,
  }),
);
