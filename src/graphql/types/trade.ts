import type { TradeOfBlock } from '../../loaders/pool-trades.ts';
import { createTradeStream, priceOfTrade, type TradesUpdate, tradesOf } from '../../loaders/trades.ts';
import { builder, NODE_ID, NodeRef, PoolPairRef } from '../builder.ts';
import { WITHOUT_ESCAPES } from '../scalars.ts';
import { tokenField } from './token.ts';

export const TradeRef = builder.objectRef<TradeOfBlock>('Trade').implement({
  interfaces: [NodeRef],
  description:
    'A trade through one pool, as its block records it. A trade along a route of several pools is one entry in each of them. The amounts are those of the curve of the pool and of its orders together. They do not contain the fee, with one exception: if the fee is paid in the sold token on a route of several pools, the exchange swaps a part of the fee along that route.',
  fields: (t) => ({
    id: t.id({
      description: NODE_ID,
      resolve: ({ trade }) => `Trade:${trade.beaconHeight}:${trade.transactionId}:${trade.step}`,
    }),
    transactionId: t.string({
      description: 'Hash of the transaction that requested the trade.',
      extensions: WITHOUT_ESCAPES,
      resolve: ({ trade }) => trade.transactionId,
    }),
    beaconHeight: t.field({
      type: 'BeaconHeight',
      description: 'Beacon height of the block that records the trade.',
      resolve: ({ trade }) => trade.beaconHeight,
    }),
    time: t.field({
      type: 'DateTime',
      description: 'Time at which that block was produced.',
      resolve: ({ trade }) => trade.time,
    }),
    poolPair: t.expose('pool', {
      type: PoolPairRef,
      description:
        'The pool. In `PoolPair.trades`, it is the pool that the list is of. In `node`, it is the pool at the height of this response, and in the subscription `trades`, the pool after the block.',
    }),
    sellToken: t.field(
      tokenField('The token that came into the pool.', ({ trade, pool }: TradeOfBlock) =>
        trade.sells === 1 ? pool.token1Id : pool.token2Id,
      ),
    ),
    buyToken: t.field(
      tokenField('The token that went out of the pool.', ({ trade, pool }: TradeOfBlock) =>
        trade.sells === 1 ? pool.token2Id : pool.token1Id,
      ),
    ),
    sellAmount: t.field({
      type: 'BigInt',
      description: 'What came into the pool and its orders, in the smallest unit of `sellToken`.',
      resolve: ({ trade }) => trade.sellAmount,
    }),
    buyAmount: t.field({
      type: 'BigInt',
      description: 'What went out of the pool and its orders, in the smallest unit of `buyToken`.',
      resolve: ({ trade }) => trade.buyAmount,
    }),
    buyAmountFromOrders: t.field({
      type: 'BigInt',
      description: 'The part of `buyAmount` that came from orders.',
      resolve: ({ trade }) => trade.buyAmountFromOrders,
    }),
    price: t.float({
      nullable: true,
      description:
        'Whole token 1 of the pool for one whole token 2: the average over the trade. Null if the decimals of a token are unknown.',
      resolve: (found, _args, { loaders }) => priceOfTrade(found, found.pool.token2Id, loaders.tokens.list),
    }),
    step: t.int({
      description: 'Place of this pool in the route of the trade, from 0.',
      resolve: ({ trade }) => trade.step,
    }),
    steps: t.int({ description: 'Number of pools in the route of the trade.', resolve: ({ trade }) => trade.steps }),
  }),
});

const TradesUpdateRef = builder.objectRef<TradesUpdate>('TradesUpdate').implement({
  description: 'The trades of one block.',
  fields: (t) => ({
    beaconHeight: t.field({
      type: 'BeaconHeight',
      description: 'Beacon height of the block.',
      resolve: ({ head }) => head.beaconHeight,
    }),
    previousHeight: t.expose('previousHeight', {
      type: 'BeaconHeight',
      nullable: true,
      description:
        'Height of the previous update of this subscription. For the first update, the height after which the subscription resumed, or null if it did not resume. A difference to `beaconHeight` of more than 1 means that the subscriber skipped heights. If it equals `beaconHeight`, the block of that height was replaced: the trades of the update before do not count.',
    }),
    time: t.field({
      type: 'DateTime',
      description: 'Time at which the block was produced.',
      resolve: ({ head }) => head.time,
    }),
    trades: t.field({
      type: [TradeRef],
      description:
        'The trades in the order of the block. Empty if there were none, and in V1. An error if the node does not send the block: then the update has null data.',
      resolve: (update, _args, { loaders }) => tradesOf(update, loaders.sources),
    }),
  }),
});

builder.subscriptionField('trades', (t) =>
  t.field({
    type: TradesUpdateRef,
    description:
      'Sends the trades of the newest block first, then those of each new block: one update for each beacon height, also without trades. They are exact, from the instructions of the blocks. A slow subscriber gets the heights that it has missed later, at most the newest `service.limits.maxResumedHeights`. After a lost connection, `afterHeight` resumes the subscription. If no height could be read yet, or if the node does not send a block, the update is an error with null data, and the subscription stays open.',
    args: {
      poolIds: t.arg.stringList({
        description:
          'Selects the trades of these pools, by their pool ids. By default, those of all pools. An empty list, or text that is no pool id, is BAD_USER_INPUT. A pool that the exchange does not have has no trades.',
      }),
      afterHeight: t.arg({
        type: 'BeaconHeight',
        description:
          'Resumes after this height, the last one that the client received, as in `prices`. With server-sent events, the header `Last-Event-ID` has the same effect and takes precedence.',
      }),
    },
    subscribe: (_root, args, { loaders }) => createTradeStream(args, loaders),
    resolve: (update) => update,
  }),
);
