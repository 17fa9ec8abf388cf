import { createTickerStream } from '../../loaders/market-streams.ts';
import { builder, NODE_ID, NodeRef } from '../builder.ts';
import { selectedPairs } from '../complexity.ts';
import { pairFilterArg, pairIdArgs } from './pair.ts';
import { PairRef, TickerRef } from './refs.ts';

// The fields that tickers share with pairs are in pair.ts.
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

builder.queryFields((t) => ({
  tickers: t.field({
    type: [TickerRef],
    complexity: ({ filter }, { service }) => selectedPairs(filter, service.sources.market.tickers.current()?.market),
    nullable: true,
    description:
      'All tickers that match the filter, in the order of the market-data host. Null with an error if tickers cannot be read.',
    args: pairFilterArg,
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
    complexity: ({ filter }, { service }) => selectedPairs(filter, service.sources.market.tickers.current()?.market),
    description:
      'Sends the current tickers first, then the list each time a ticker changes. A slow subscriber skips changes and receives the newest list. If tickers could not be read yet, the first update is an error with null data, and the subscription stays open.',
    args: pairFilterArg,
    subscribe: (_root, { filter }, { loaders }) => createTickerStream(filter, loaders),
    resolve: (tickers) => tickers,
  }),
);
