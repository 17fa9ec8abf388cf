import { bestAsk, bestBid } from '../../domain/order-book.ts';
import { isCrossed, type PoolBook } from '../../domain/pool-book.ts';
import { DEFAULT_DEPTH, readOrderBookArguments } from '../../loaders/order-book.ts';
import { DEFAULT_PAGE_SIZE } from '../../loaders/page-arguments.ts';
import { builder } from '../builder.ts';
import { objects, poolBook } from '../complexity.ts';
import { OrderBookEntryRef } from './order-book.ts';
import { PoolOrderRef } from './pool-order.ts';
import { PoolPairRef } from './refs.ts';

const PoolBookRef = builder.objectRef<PoolBook>('PoolBook').implement({
  description:
    'Open orders of a pool as an order book, from the node. Prices are in whole token 1 per whole token 2, quantities in whole token 2. Orders with the same price are merged, and orders of which too little is left to be filled are left out. The curve of the pool is not part of the book.',
  fields: (t) => ({
    bids: t.expose('bids', {
      type: [OrderBookEntryRef],
      description:
        'Orders that sell token 1, highest price first. Their quantity is what they buy of token 2 for all that is left, rounded down.',
    }),
    asks: t.expose('asks', {
      type: [OrderBookEntryRef],
      description: 'Orders that sell token 2, lowest price first. Their quantity is what is left of token 2.',
    }),
    bestBid: t.float({
      nullable: true,
      description: 'Highest bid price. `depth` does not affect it. Null if there are no bids.',
      resolve: bestBid,
    }),
    bestAsk: t.float({
      nullable: true,
      description: 'Lowest ask price. `depth` does not affect it. Null if there are no asks.',
      resolve: bestAsk,
    }),
    isCrossed: t.boolean({
      description:
        'True if the best bid is above the best ask. The exchange never matches orders with each other, so a book can stay crossed until a trade comes.',
      resolve: isCrossed,
    }),
  }),
});

builder.objectFields(PoolPairRef, (t) => ({
  book: t.field({
    type: PoolBookRef,
    nullable: true,
    complexity: ({ depth }) => poolBook(depth),
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
    complexity: ({ first }) => objects(first ?? DEFAULT_PAGE_SIZE),
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
