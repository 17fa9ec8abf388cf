import type { Pair } from '../../domain/market.ts';
import { builder, NODE_ID, NodeRef } from '../builder.ts';
import { listOf, orderBook } from '../complexity.ts';
import { depthArg, OrderBookRef } from './order-book.ts';
import { PoolPairRef } from './pool-pair.ts';
import { TickerRef } from './ticker.ts';
import { TokenRef } from './token.ts';

export const PairRef = builder.objectRef<Pair>('Pair');

/** What names one pair or ticker. */
export const pairIdArgs = builder.args((t) => ({
  tickerId: t.string({ description: 'The ticker id, `<base symbol>_<target symbol>`. Not unique.' }),
  poolId: t.string({ description: 'The pool id: the only unique key.' }),
}));

/** Which pairs or tickers are wanted. */
export const PairFilterInput = builder.inputType('PairFilter', {
  description: 'Which pairs are wanted: those that pass everything that is given. An empty list matches nothing.',
  fields: (t) => ({
    tickerIds: t.stringList({ description: 'Pairs with one of these ticker ids.' }),
    poolIds: t.stringList({ description: 'Pairs with one of these pool ids.' }),
    tokenId: t.field({ type: 'TokenId', description: 'Pairs that trade this token on either side.' }),
    base: t.string({ description: 'Pairs whose base has this symbol, as the market-data host writes it.' }),
    target: t.string({ description: 'Pairs whose target has this symbol, as the market-data host writes it.' }),
  }),
});

PairRef.implement({
  interfaces: [NodeRef],
  description: 'Two tokens that trade against each other in one pool, as the market-data host lists them.',
  fields: (t) => ({
    id: t.id({ description: NODE_ID, resolve: (pair) => `Pair:${pair.poolId}` }),
    tickerId: t.exposeString('tickerId', {
      description:
        '`<base symbol>_<target symbol>`. Not unique: symbols are not, and two tokens can trade in several pools.',
    }),
    baseId: t.expose('baseId', { type: 'TokenId', description: 'The token that is priced.' }),
    base: t.exposeString('base', {
      description: 'Its symbol as the host writes it: a bridged one has a `p` in front.',
    }),
    targetId: t.expose('targetId', { type: 'TokenId', description: 'The token that prices are in.' }),
    target: t.exposeString('target', { description: 'Its symbol as the host writes it.' }),
    poolId: t.exposeString('poolId', {
      description: 'The only unique key: both token ids, the smaller first, and a hash.',
    }),
    baseToken: t.field({
      type: TokenRef,
      description: 'What is known of the base token.',
      resolve: (pair, _args, { loaders }) => loaders.tokens.get(pair.baseId),
    }),
    targetToken: t.field({
      type: TokenRef,
      description: 'What is known of the target token.',
      resolve: (pair, _args, { loaders }) => loaders.tokens.get(pair.targetId),
    }),
    ticker: t.field({
      type: TickerRef,
      nullable: true,
      description:
        'Its last price and volumes. Null when the host has no ticker of that pool, or with an error where tickers cannot be read.',
      resolve: (pair, _args, { loaders }) => loaders.market.tickers.byPoolId(pair.poolId),
    }),
    orderBook: t.field({
      type: OrderBookRef,
      nullable: true,
      complexity: ({ depth }) => orderBook(depth),
      description:
        "The host's book of its ticker id, which several pairs can share. Null with an error where it cannot be read.",
      args: depthArg,
      resolve: (pair, { depth }, { loaders }) => loaders.orderBooks.get(pair.tickerId, depth),
    }),
    poolPair: t.field({
      type: PoolPairRef,
      nullable: true,
      description:
        "The node's pool of the same two tokens, at this answer's height. Null when it has none, or with an error where its state cannot be read.",
      resolve: (pair, _args, { loaders }) => loaders.exchange.poolPair(pair.baseId, pair.targetId),
    }),
  }),
});

builder.queryFields((t) => ({
  pairs: t.field({
    type: [PairRef],
    complexity: (_args, { service }) => listOf(service.sources.market.pairs.current()?.market.rows.length),
    nullable: true,
    description: "Pairs in the host's order. Null with an error where they cannot be read.",
    args: { filter: t.arg({ type: PairFilterInput, description: 'Which pairs. All, where it is left out.' }) },
    resolve: (_root, { filter }, { loaders }) => loaders.market.pairs.select(filter),
  }),
  pair: t.field({
    type: PairRef,
    nullable: true,
    description:
      'One pair. At least one of the two ids is needed (BAD_USER_INPUT otherwise); a tickerId that names several pools is AMBIGUOUS_TICKER unless poolId says which. Null when there is none.',
    args: pairIdArgs,
    resolve: (_root, ids, { loaders }) => loaders.market.pairs.find(ids),
  }),
}));
