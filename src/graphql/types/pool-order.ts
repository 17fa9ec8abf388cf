import { isMatchable, termsOf } from '../../domain/order-sides.ts';
import { orderPrice } from '../../domain/pool-book.ts';
import type { OrderOfPool } from '../../loaders/pool-orders.ts';
import { poolPrice } from '../../loaders/pool-price.ts';
import { builder } from '../builder.ts';
import { PLAIN_TEXT } from '../scalars.ts';
import { TokenRef } from './token.ts';

export const PoolOrderRef = builder.objectRef<OrderOfPool>('PoolOrder').implement({
  description:
    'An open order of a pool at the height of the pool. It offers one token of the pool for the other one, at a fixed rate. Trades through the pool fill it, at once or in parts. The exchange never matches orders with each other.',
  fields: (t) => ({
    id: t.string({
      description:
        'Hash of the transaction that placed the order. It is the same at all heights, while the amounts change: it is not a cache key.',
      extensions: PLAIN_TEXT,
      resolve: ({ order }) => order.id,
    }),
    sellToken: t.field({
      type: TokenRef,
      description: 'The token that the order sells.',
      resolve: ({ order, pool }, _args, { loaders }) =>
        loaders.tokens.get(order.sells === 1 ? pool.token1Id : pool.token2Id),
    }),
    buyToken: t.field({
      type: TokenRef,
      description: 'The token that the order buys.',
      resolve: ({ order, pool }, _args, { loaders }) =>
        loaders.tokens.get(order.sells === 1 ? pool.token2Id : pool.token1Id),
    }),
    sellAmount: t.field({
      type: 'BigInt',
      description:
        'What is left to sell, in the smallest unit of `sellToken`. The owner can withdraw a part, so it does not show how much has been sold.',
      resolve: ({ order }) => termsOf(order).left,
    }),
    boughtAmount: t.field({
      type: 'BigInt',
      description: 'What has been bought and not been withdrawn yet, in the smallest unit of `buyToken`.',
      resolve: ({ order }) => termsOf(order).bought,
    }),
    price: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Token 1 of the pool for one token 2, both in whole tokens, as the order was placed, with up to 18 significant digits. It never changes. Null if the decimals of a token are unknown.',
      resolve: ({ order, pool }, _args, { loaders }) =>
        poolPrice(
          (_pool, decimals1, decimals2) => orderPrice(order, decimals1, decimals2),
          pool,
          {},
          loaders.tokens.list,
        ),
    }),
    isMatchable: t.boolean({
      description:
        'True if a trade can fill the order: what it gets for the rest, rounded down, is at least 1 smallest unit of `buyToken`, and below 2^64. False if nothing or too little is left. Such an order stays open until it is closed.',
      resolve: ({ order }) => isMatchable(order),
    }),
  }),
});
