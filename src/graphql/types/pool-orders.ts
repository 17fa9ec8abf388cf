import { isCrossed } from '../../domain/order-book.ts';
import { orderPrice, type PoolBook } from '../../domain/pool-book.ts';
import { isMatchable, termsOf } from '../../domain/pool-order.ts';
import { DEFAULT_PAGE_SIZE } from '../../loaders/arguments.ts';
import { DEFAULT_DEPTH, readOrderBookArguments } from '../../loaders/order-book.ts';
import type { OrderOfPool } from '../../loaders/pool-orders.ts';
import { poolPrice } from '../../loaders/pool-price.ts';
import { builder, PoolPairRef } from '../builder.ts';
import { complexityOfPoolBook, objects, sizeOf } from '../complexity.ts';
import { OrderBookEntryRef } from './order-book.ts';

const PoolOrderRef = builder.objectRef<OrderOfPool>('PoolOrder').implement({
  description:
    'An open order of a pool at the height of the pool. It offers one token of the pool for the other one, at a fixed rate. Trades through the pool fill it, at once or in parts. The exchange never matches orders with each other.',
  fieldDescriptions: {
    id: 'Hash of the transaction that placed the order. It is the same at all heights, while the amounts change: it is not a cache key.',
    sellToken: 'The token that the order sells.',
    buyToken: 'The token that the order buys.',
    sellAmount:
      'What is left to sell, in the smallest unit of `sellToken`. The owner can withdraw a part, so it does not show how much has been sold.',
    boughtAmount: 'What has been bought and not been withdrawn yet, in the smallest unit of `buyToken`.',
    price:
      'Token 1 of the pool for one token 2, both in whole tokens, as the order was placed, with up to 18 significant digits. It never changes. Null if the decimals of a token are unknown.',
    isMatchable:
      'True if a trade can fill the order: what it gets for the rest, rounded down, is at least 1 smallest unit of `buyToken`, and below 2^64. False if nothing or too little is left. Such an order stays open until it is closed.',
  },
  fields: (t) => ({
    id: t.string({ resolve: ({ order }) => order.id }),
    sellToken: t.token(({ order, pool }) => (order.sells === 1 ? pool.token1Id : pool.token2Id)),
    buyToken: t.token(({ order, pool }) => (order.sells === 1 ? pool.token2Id : pool.token1Id)),
    sellAmount: t.field({ type: 'BigInt', resolve: ({ order }) => termsOf(order).left }),
    boughtAmount: t.field({ type: 'BigInt', resolve: ({ order }) => termsOf(order).bought }),
    price: t.field({
      type: 'Decimal',
      nullable: true,
      resolve: ({ order, pool }, _args, { loaders }) =>
        poolPrice((_pool, d1, d2) => orderPrice(order, d1, d2), pool, {}, loaders.tokens.list),
    }),
    isMatchable: t.boolean({ resolve: ({ order }) => isMatchable(order) }),
  }),
});

const PoolBookRef = builder.objectRef<PoolBook>('PoolBook').implement({
  description:
    'Open orders of a pool as an order book, from the node. Prices are in whole token 1 per whole token 2, quantities in whole token 2. Orders with the same price are merged, and orders of which too little is left to be filled are left out. The curve of the pool is not part of the book.',
  fieldDescriptions: {
    bids: 'Orders that sell token 1, highest price first. Their quantity is what they buy of token 2 for all that is left, rounded down.',
    asks: 'Orders that sell token 2, lowest price first. Their quantity is what is left of token 2.',
    bestBid: 'Highest bid price. `depth` does not affect it. Null if there are no bids.',
    bestAsk: 'Lowest ask price. `depth` does not affect it. Null if there are no asks.',
    isCrossed:
      'True if the best bid is above the best ask. The exchange never matches orders with each other, so a book can stay crossed until a trade comes.',
  },
  fields: (t) => ({
    ...t.exposeAll([OrderBookEntryRef], 'bids', 'asks'),
    bestBid: t.float({ nullable: true, resolve: ({ bids }) => bids[0]?.price }),
    bestAsk: t.float({ nullable: true, resolve: ({ asks }) => asks[0]?.price }),
    isCrossed: t.boolean({ resolve: isCrossed }),
  }),
});

builder.objectFields(PoolPairRef, (t) => ({
  book: t.field({
    type: PoolBookRef,
    nullable: true,
    complexity: ({ depth }) => complexityOfPoolBook(depth),
    extensions: { refuse: readOrderBookArguments },
    description:
      'Open orders of this pool at this height as an order book, also while the pool refuses every trade because it is empty on one side. Null in V1, which has no orders, and if the decimals of a token are unknown. Null with an error if the orders cannot be read.',
    args: {
      depth: t.arg.int({
        defaultValue: DEFAULT_DEPTH,
        description:
          'Maximum number of entries on both sides together, after merging. Half of them are bids and half are asks: 100 returns up to 50 per side. An odd number is rounded up. 0 returns the complete book. A negative number is BAD_USER_INPUT.',
      }),
    },
    resolve: (pool, args, { loaders }) => loaders.poolOrders.book(pool, args),
  }),
  orders: t.field({
    type: [PoolOrderRef],
    nullable: true,
    complexity: ({ first }, { service }) => objects(sizeOf(first, DEFAULT_PAGE_SIZE, service.limits.maxPageSize)),
    description:
      'Open orders of this pool at this height, also those that no trade can fill any more. Each side is in the order in which trades meet it: the best price first, and of equal prices the smaller id. Without `sells`, the orders that sell token 1 come first, then those that sell token 2. Null in V1, which has no orders. Null with an error if the orders cannot be read.',
    args: {
      sells: t.arg({
        type: 'TokenId',
        description:
          'Returns only orders that sell this token. A token that is not one of the two tokens of the pool is BAD_USER_INPUT.',
      }),
      first: t.arg.int({
        defaultValue: DEFAULT_PAGE_SIZE,
        description:
          'Maximum number of orders. If the two sides have more together, half of them are of each side, or more if the other side has fewer. A negative number, or one above `service.limits.maxPageSize`, is BAD_USER_INPUT.',
      }),
    },
    resolve: (pool, args, { loaders }) => loaders.poolOrders.best(pool, args),
  }),
}));
