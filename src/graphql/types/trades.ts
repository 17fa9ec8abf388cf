import { andThen } from '../../domain/maybe-promise.ts';
import { formatTradeCursor } from '../../domain/page.ts';
import { DEFAULT_PAGE_SIZE } from '../../loaders/arguments.ts';
import type { PoolVolume, TradeOfBlock, TradePage } from '../../loaders/pool-trades.ts';
import { requireChangeArguments } from '../../loaders/price-changes.ts';
import { createTradeStream, priceOfTrade, type TradesUpdate, tradedPriceOf, tradesOf } from '../../loaders/trades.ts';
import { builder, NODE_ID, NodeRef, PoolPairRef, TickerRef } from '../builder.ts';
import { objects, recordedObjects, recordedValues, sizeOf } from '../complexity.ts';
import { windowArgs } from './price-change.ts';

const TradeRef = builder.objectRef<TradeOfBlock>('Trade').implement({
  interfaces: [NodeRef],
  description:
    'A trade through one pool, as its block records it. A trade along a route of several pools is one entry in each of them. The amounts are those of the curve of the pool and of its orders together. They do not contain the fee, with one exception: if the fee is paid in the sold token on a route of several pools, the exchange swaps a part of the fee along that route.',
  fieldDescriptions: {
    transactionId: 'Hash of the transaction that requested the trade.',
    beaconHeight: 'Beacon height of the block that records the trade.',
    time: 'Time at which that block was produced.',
    poolPair:
      'The pool. In `PoolPair.trades`, it is the pool that the list is of. In `node`, it is the pool at the height of this response, and in the subscription `trades`, the pool after the block.',
    sellToken: 'The token that came into the pool.',
    buyToken: 'The token that went out of the pool.',
    sellAmount: 'What came into the pool and its orders, in the smallest unit of `sellToken`.',
    buyAmount: 'What went out of the pool and its orders, in the smallest unit of `buyToken`.',
    buyAmountFromOrders: 'The part of `buyAmount` that came from orders.',
    price:
      'Whole token 1 of the pool for one whole token 2: the average over the trade. Null if the decimals of a token are unknown.',
    step: 'Place of this pool in the route of the trade, from 0.',
    steps: 'Number of pools in the route of the trade.',
  },
  fields: (t) => ({
    id: t.id({
      description: NODE_ID,
      resolve: ({ trade }) => `Trade:${trade.beaconHeight}:${trade.transactionId}:${trade.step}`,
    }),
    transactionId: t.string({ resolve: ({ trade }) => trade.transactionId }),
    beaconHeight: t.field({ type: 'BeaconHeight', resolve: ({ trade }) => trade.beaconHeight }),
    time: t.field({ type: 'DateTime', resolve: ({ trade }) => trade.time }),
    poolPair: t.expose('pool', { type: PoolPairRef }),
    sellToken: t.token(({ trade, pool }: TradeOfBlock) => (trade.sells === 1 ? pool.token1Id : pool.token2Id)),
    buyToken: t.token(({ trade, pool }: TradeOfBlock) => (trade.sells === 1 ? pool.token2Id : pool.token1Id)),
    sellAmount: t.field({ type: 'BigInt', resolve: ({ trade }) => trade.sellAmount }),
    buyAmount: t.field({ type: 'BigInt', resolve: ({ trade }) => trade.buyAmount }),
    buyAmountFromOrders: t.field({ type: 'BigInt', resolve: ({ trade }) => trade.buyAmountFromOrders }),
    price: t.float({
      nullable: true,
      resolve: (found, _args, { loaders }) => priceOfTrade(found, found.pool.token2Id, loaders.tokens.list),
    }),
    step: t.int({ resolve: ({ trade }) => trade.step }),
    steps: t.int({ resolve: ({ trade }) => trade.steps }),
  }),
});

const TradeEdgeRef = builder.edgeObject({
  type: TradeRef,
  name: 'TradeEdge',
  description:
    'A trade and its cursor. The cursor is the place of the trade on the chain, so it stays valid when there are new trades.',
  nodeField: { description: 'The trade at this position.' },
});

const TradeConnectionRef = builder.connectionObject(
  {
    type: TradeRef,
    name: 'TradeConnection',
    description: 'One page of the trades of a pool, as defined by the Relay connection specification.',
    edgesField: { description: 'Trades of this page with their cursors, newest first.', complexity: objects(1) },
  },
  TradeEdgeRef,
);

const PoolVolumeRef = builder.objectRef<PoolVolume>('PoolVolume').implement({
  description:
    'What a pool traded in a window: the sum of its trades, each with what came in and what went out, of the pool and its orders together.',
  fieldDescriptions: {
    token1: 'Traded amount of token 1, in both directions, in its smallest unit. It can exceed 2^64 - 1.',
    token2: 'The same as `token1`, of token 2.',
    trades: 'Number of trades.',
    since:
      'The time from which trades count: the start of the window, or the time of the first block whose trades are known if none are known at the start.',
    isComplete:
      'True if the trades of every block of the window are known. False if the recorded trades begin in the window, have a gap in it, or cannot be read in one of its blocks.',
  },
  fields: (t) => ({
    ...t.exposeAll('BigInt', 'token1', 'token2'),
    trades: t.exposeInt('trades'),
    since: t.expose('since', { type: 'DateTime' }),
    isComplete: t.exposeBoolean('isComplete'),
  }),
});

builder.objectFields(PoolPairRef, (t) => ({
  trades: t.field({
    type: TradeConnectionRef,
    nullable: true,
    complexity: ({ first }, { service }) =>
      recordedObjects(sizeOf(first, DEFAULT_PAGE_SIZE, service.limits.maxPageSize)),
    extensions: { isAwaited: true },
    description:
      'Trades through this pool up to its height, newest first: the last trade of the newest block comes first. Their `poolPair` is this pool. Blocks that are not final yet are included from memory. Trades of blocks that are not known are missing, as `volume` shows. Null in V1. Null with HISTORY_UNAVAILABLE if the recorded history cannot be read, and with an error if the trades of the block at this height cannot be read.',
    args: {
      first: t.arg.int({
        defaultValue: DEFAULT_PAGE_SIZE,
        description:
          'Maximum number of trades. A negative number, or one above `service.limits.maxPageSize`, is BAD_USER_INPUT.',
      }),
      after: t.arg.string({
        description:
          'Cursor of the trade before the first one on the page. It can come from another height of the pool. Any other text is BAD_USER_INPUT.',
      }),
    },
    resolve: (pool, args, { loaders }) =>
      andThen(loaders.history.tradePage(pool, args), (page) => page && toConnection(page)),
  }),
  volume: t.field({
    type: PoolVolumeRef,
    nullable: true,
    complexity: recordedObjects(1),
    extensions: { refuse: requireChangeArguments },
    description:
      'What the pool traded in the hours up to its height, exactly, from the trades of the blocks: of those made after `T - hours`, where T is the time of the block of this pool. Null in V1, and without an error if no block of the window is known. Null with HISTORY_UNAVAILABLE if the recorded history cannot be read, and with an error if the trades of the block at this height cannot be read.',
    args: windowArgs,
    resolve: (pool, args, { loaders }) => loaders.history.volume(pool, args),
  }),
}));

builder.objectField(TickerRef, 'tradedPrice', (t) =>
  t.float({
    nullable: true,
    complexity: recordedValues(1),
    description:
      'Average price of the newest known trade through `poolPair`, in target tokens per base token, from the chain. `lastPrice` is the one that the host sends. Null in V1, if no trade is known, if `poolPair` is null or of other tokens than `baseId` and `targetId`, or if the decimals of a token are unknown. Null with HISTORY_UNAVAILABLE if the recorded history cannot be read, and with an error if the exchange state or the trades of the newest block cannot be read.',
    resolve: (ticker, _args, { loaders }) => tradedPriceOf(ticker, loaders),
  }),
);

function toConnection({ trades, hasNextPage, hasPreviousPage }: TradePage) {
  const edges = trades.map((node) => ({ cursor: formatTradeCursor(node.trade), node }));
  const [startCursor = null, endCursor = null] = [edges[0]?.cursor, edges.at(-1)?.cursor];
  return { edges, pageInfo: { hasNextPage, hasPreviousPage, startCursor, endCursor } };
}

const TradesUpdateRef = builder.objectRef<TradesUpdate>('TradesUpdate').implement({
  description: 'The trades of one block.',
  fieldDescriptions: {
    beaconHeight: 'Beacon height of the block.',
    previousHeight:
      'Height of the previous update of this subscription. For the first update, the height after which the subscription resumed, or null if it did not resume. A difference to `beaconHeight` of more than 1 means that the subscriber skipped heights. If it equals `beaconHeight`, the block of that height was replaced: the trades of the update before do not count. A block can also be replaced together with a later one, without an update of its own. So a trade is certain when its height is final, three blocks later: query `PoolPair.trades` then.',
    time: 'Time at which the block was produced.',
    trades:
      'The trades in the order of the block. Empty if there were none, and in V1. An error if the node does not send the block: then the update has null data.',
  },
  fields: (t) => ({
    beaconHeight: t.field({ type: 'BeaconHeight', resolve: ({ head }) => head.beaconHeight }),
    previousHeight: t.expose('previousHeight', { type: 'BeaconHeight', nullable: true }),
    time: t.field({ type: 'DateTime', resolve: ({ head }) => head.time }),
    trades: t.field({ type: [TradeRef], resolve: (update, _args, { loaders }) => tradesOf(update, loaders) }),
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
