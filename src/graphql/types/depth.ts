import type { PoolDepth } from '../../domain/depth.ts';
import type { DepthLadder, LadderLevel } from '../../domain/depth-ladder.ts';
import { DEFAULT_PERCENTS, DEFAULT_STEPS, ladderOf, readPercents, readSteps } from '../../loaders/depth.ts';
import { builder, PairRef, PoolPairRef } from '../builder.ts';
import { complexityOfLadder, objects } from '../complexity.ts';

const PoolDepthRef = builder.objectRef<PoolDepth>('PoolDepth').implement({
  description:
    'The trades that move the spot price of a pool by some percent. Amounts are in the smallest unit of the token. They do not contain the trading fee, which the trader pays in addition. The price is that of the curve. In V3, a trade also fills orders: it moves the curve to the price of the best order, then fills this order, and so on, so it pays and receives what the curve and these orders take and give.',
  fieldDescriptions: {
    percent: 'The percentage by which the price moves, as in `percents`.',
    upToken1:
      'Token 1 to pay so that the price of token 2 rises by `percent`: the smallest amount that reaches it, apart from the rounding of what the pool pays out. In V3, the exchange refuses some amounts just beyond an order: they do not count.',
    upToken2: 'Token 2 that the pool and its orders pay out for `upToken1`.',
    downToken2:
      'Token 2 to pay so that the price of token 2 falls by `percent`: the smallest amount that reaches it, as for `upToken1`. In V1, it can exceed 2^64 - 1.',
    downToken1: 'Token 1 that the pool and its orders pay out for `downToken2`.',
  },
  fields: (t) => ({
    percent: t.exposeFloat('percent'),
    ...t.exposeAll('BigInt', 'upToken1', 'upToken2', 'downToken2', 'downToken1'),
  }),
});

const LadderLevelRef = builder.objectRef<LadderLevel>('LadderLevel').implement({
  description:
    'A price level: what can be traded between the level before it (`midPrice` for the first one) and this price. Quantities are in whole base tokens. An ask of the book at or below `midPrice`, or a bid at or above it, counts at the first level, with its own price.',
  fieldDescriptions: {
    price: 'Price of one base token in target tokens.',
    poolQuantity:
      'Quantity that the curve of the pool trades between the two prices. In V3, the pool gives only what it holds: from the price at which that ends, it is 0.',
    bookQuantity: 'Quantity of the entries of the order book of the pair in V1, and of the orders of the pool in V3.',
    quantity: 'Sum of `poolQuantity` and `bookQuantity`.',
    cumulativeQuantity: 'Quantity of this level and of all levels before it.',
    cumulativeTotal:
      'Whole target tokens that `cumulativeQuantity` costs (asks) or brings (bids): the pool along its curve, each entry of the book at its own price.',
  },
  fields: (t) =>
    t.exposeAll('Float', 'price', 'poolQuantity', 'bookQuantity', 'quantity', 'cumulativeQuantity', 'cumulativeTotal'),
});

const DepthLadderRef = builder.objectRef<DepthLadder>('DepthLadder').implement({
  description:
    'Pool and order book of a pair as one ladder of price levels. In V3, the book is that of the pool. Entries of the book beyond the last level are not part of it.',
  fieldDescriptions: {
    midPrice: 'Spot price of the pool, in target tokens per base token. Levels count from it.',
    bids: 'What can be sold: the level next to `midPrice` first, then downwards.',
    asks: 'What can be bought: the level next to `midPrice` first, then upwards.',
  },
  fields: (t) => ({
    midPrice: t.exposeFloat('midPrice'),
    ...t.exposeAll([LadderLevelRef], 'bids', 'asks'),
  }),
});

builder.objectField(PoolPairRef, 'depth', (t) =>
  t.field({
    type: [PoolDepthRef],
    nullable: true,
    complexity: ({ percents }) => objects((percents ?? DEFAULT_PERCENTS).length),
    description:
      'The trades that move the spot price by each of these percentages, up and down, in the order of the argument. Computed in exact integers. In V3, a trade also fills the orders on its way, and a percentage that no trade can reach with what the pool holds is left out. Empty if a virtual value is 0, or if the pool refuses every trade. Null with an error if a percentage is not valid, or if the orders cannot be read.',
    args: {
      percents: t.arg.floatList({
        defaultValue: DEFAULT_PERCENTS,
        description:
          'Percentages, each above 0 and below 100, at most 100 of them. Any other percentage is BAD_USER_INPUT.',
      }),
    },
    extensions: { refuse: readPercents },
    resolve: (pool, args, { loaders }) => loaders.poolOrders.depths(pool, readPercents(args)),
  }),
);

builder.objectField(PairRef, 'depthLadder', (t) =>
  t.field({
    type: DepthLadderRef,
    nullable: true,
    complexity: ({ levels }) => complexityOfLadder(levels),
    description:
      'Pool and complete order book of this pair as one ladder of price levels, at `midPrice * (1 ± i * stepPercent / 100)`. The pool is `poolPair`. In V3, the order book is `PoolPair.book`: that of the market-data host shows the same orders, and is not added. Null if `poolPair` is null, if it is a pool of other tokens than `baseId` and `targetId`, if there is no such book, if a reserve is 0, if the pool refuses every trade, or if the decimals of a token are unknown. Null with an error if the exchange state or the order book cannot be read.',
    args: {
      levels: t.arg.int({
        defaultValue: DEFAULT_STEPS.levels,
        description: 'Number of levels on each side, from 1 to 200. Any other number is BAD_USER_INPUT.',
      }),
      stepPercent: t.arg.float({
        defaultValue: DEFAULT_STEPS.stepPercent,
        description:
          'Distance between two levels, in percent of `midPrice`. It must be above 0, and `levels * stepPercent` below 100. Otherwise it is BAD_USER_INPUT.',
      }),
    },
    extensions: { refuse: readSteps },
    resolve: (pair, args, { loaders }) => ladderOf(pair, args, loaders),
  }),
);
