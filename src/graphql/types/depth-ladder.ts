import type { DepthLadder, LadderLevel } from '../../domain/depth-ladder.ts';
import { builder } from '../builder.ts';

const LadderLevelRef = builder.objectRef<LadderLevel>('LadderLevel').implement({
  description:
    'A price level: what can be traded between the level before it (`midPrice` for the first one) and this price. Quantities are in whole base tokens. An ask of the book at or below `midPrice`, or a bid at or above it, counts at the first level, with its own price.',
  fields: (t) => ({
    price: t.exposeFloat('price', { description: 'Price of one base token in target tokens.' }),
    poolQuantity: t.exposeFloat('poolQuantity', {
      description:
        'Quantity that the curve of the pool trades between the two prices. In V3, the pool gives only what it holds: from the price at which that ends, it is 0.',
    }),
    bookQuantity: t.exposeFloat('bookQuantity', {
      description: 'Quantity of the entries of the order book of the pair in V1, and of the orders of the pool in V3.',
    }),
    quantity: t.exposeFloat('quantity', { description: 'Sum of `poolQuantity` and `bookQuantity`.' }),
    cumulativeQuantity: t.exposeFloat('cumulativeQuantity', {
      description: 'Quantity of this level and of all levels before it.',
    }),
    cumulativeTotal: t.exposeFloat('cumulativeTotal', {
      description:
        'Whole target tokens that `cumulativeQuantity` costs (asks) or brings (bids): the pool along its curve, each entry of the book at its own price.',
    }),
  }),
});

export const DepthLadderRef = builder.objectRef<DepthLadder>('DepthLadder').implement({
  description:
    'Pool and order book of a pair as one ladder of price levels. In V3, the book is that of the pool. Entries of the book beyond the last level are not part of it.',
  fields: (t) => ({
    midPrice: t.exposeFloat('midPrice', {
      description: 'Spot price of the pool, in target tokens per base token. Levels count from it.',
    }),
    bids: t.expose('bids', {
      type: [LadderLevelRef],
      description: 'What can be sold: the level next to `midPrice` first, then downwards.',
    }),
    asks: t.expose('asks', {
      type: [LadderLevelRef],
      description: 'What can be bought: the level next to `midPrice` first, then upwards.',
    }),
  }),
});
