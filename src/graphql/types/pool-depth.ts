import type { PoolDepth } from '../../domain/depth.ts';
import { builder } from '../builder.ts';

export const PoolDepthRef = builder.objectRef<PoolDepth>('PoolDepth').implement({
  description:
    'The trades that move the spot price of a pool by some percent. Amounts are in the smallest unit of the token. They do not contain the trading fee, which the trader pays in addition. The price is that of the curve. In V3, a trade also fills orders: it moves the curve to the price of the best order, then fills this order, and so on, so it pays and receives what the curve and these orders take and give.',
  fields: (t) => ({
    percent: t.exposeFloat('percent', { description: 'The percentage by which the price moves, as in `percents`.' }),
    upToken1: t.expose('upToken1', {
      type: 'BigInt',
      description:
        'Token 1 to pay so that the price of token 2 rises by `percent`: the smallest amount that reaches it. In V3, the exchange refuses some amounts just beyond an order: they do not count.',
    }),
    upToken2: t.expose('upToken2', {
      type: 'BigInt',
      description: 'Token 2 that the pool and its orders pay out for `upToken1`.',
    }),
    downToken2: t.expose('downToken2', {
      type: 'BigInt',
      description:
        'Token 2 to pay so that the price of token 2 falls by `percent`: the smallest amount that reaches it, as for `upToken1`. In V1, it can exceed 2^64 - 1.',
    }),
    downToken1: t.expose('downToken1', {
      type: 'BigInt',
      description: 'Token 1 that the pool and its orders pay out for `downToken2`.',
    }),
  }),
});
