import { BadUserInputError } from '../../errors.ts';
import { requireAtLeast } from '../../loaders/arguments.ts';
import {
  type BoundsArguments,
  createPriceCrossingStream,
  createPriceStream,
  type PriceCrossing,
  type PriceUpdate,
} from '../../loaders/price-streams.ts';
import { builder, PoolPairRef } from '../builder.ts';
import { complexityOfPrices, objects } from '../complexity.ts';

const TOKEN_1 = 'Id of one of the two tokens.';
const TOKEN_2 = 'Id of the other token.';
const POOL_ID =
  'Id of the pool, as `PoolPair.poolId`, if several pools have these tokens. It must be a pool of the two tokens that the exchange has; anything else is BAD_USER_INPUT. Without it, the pool is that of `Query.poolPair`, with V3 the one with the most liquidity. That is decided again at each height.';

const PoolPairKeyInput = builder.inputType('PoolPairKey', {
  description: 'Identifies a pool by its two tokens, in either order, and with V3 also by its pool id.',
  fields: (t) => ({
    token1Id: t.field({ type: 'TokenId', required: true, description: TOKEN_1 }),
    token2Id: t.field({ type: 'TokenId', required: true, description: TOKEN_2 }),
    poolId: t.string({ description: POOL_ID }),
  }),
});

/** The arguments that name the pool of a subscription. */
export const poolKeyArgs = builder.args((t) => ({
  token1Id: t.field({ type: 'TokenId', required: true, description: TOKEN_1 }),
  token2Id: t.field({ type: 'TokenId', required: true, description: TOKEN_2 }),
  poolId: t.string({ description: POOL_ID }),
}));

const PriceUpdateRef = builder.objectRef<PriceUpdate>('PriceUpdate').implement({
  description: 'Pools with their prices at one beacon height.',
  fieldDescriptions: {
    beaconHeight: 'Beacon height of the prices.',
    previousHeight:
      'Height of the previous update of this subscription. For the first update, the height after which the subscription resumed, or null if it did not resume. A difference to `beaconHeight` of more than 1 means that the subscriber skipped heights.',
    missedHeights:
      'Number of heights that this subscriber skipped between `previousHeight` and `beaconHeight`. Heights are skipped if the subscriber is slow, if blocks arrive faster than the gateway reads them, or if a resumed subscription is too far behind. 0 if no height was skipped, and in the first update of a subscription that did not resume.',
    blockTime: 'Time at which the block was produced.',
    observedAt: 'Time at which the gateway finished reading this height.',
    poolPairs: 'The selected pools, each once, ascending by their ids.',
  },
  fields: (t) => ({
    beaconHeight: t.field({ type: 'BeaconHeight', resolve: ({ head }) => head.beaconHeight }),
    previousHeight: t.expose('previousHeight', { type: 'BeaconHeight', nullable: true }),
    missedHeights: t.int({
      resolve: ({ head, previousHeight }) =>
        previousHeight === undefined ? 0 : Math.max(0, head.beaconHeight - previousHeight - 1),
    }),
    blockTime: t.field({ type: 'DateTime', resolve: ({ head }) => head.time }),
    observedAt: t.field({ type: 'DateTime', resolve: ({ head }) => head.observedAt }),
    poolPairs: t.expose('poolPairs', { type: [PoolPairRef], complexity: objects(1) }),
  }),
});

builder.subscriptionField('prices', (t) =>
  t.field({
    type: PriceUpdateRef,
    complexity: (args, { service }) => complexityOfPrices(args, service),
    description:
      'Sends the current prices first, then the prices at each new beacon height. `poolPairs` selects pools by their tokens or pool ids, `tokenIds` selects all pools of a token, and both together select the union. Without both, all pools are selected. An empty list is BAD_USER_INPUT. A slow subscriber skips heights and receives the newest. After a lost connection, `afterHeight` resumes the subscription. If no height could be read yet, the first update is an error with null data, and the subscription stays open.',
    args: {
      poolPairs: t.arg({
        type: [PoolPairKeyInput],
        description: 'Selects pools by their two tokens, or by their pool id.',
      }),
      tokenIds: t.arg({ type: ['TokenId'], description: 'Selects all pools that contain one of these tokens.' }),
      onlyChanged: t.arg.boolean({
        defaultValue: false,
        description:
          'If true, every update after the first contains only the pools whose values, virtual values, open orders or fee rate changed, and the pools that the update before did not select. Prices do not depend on orders and fees, but quotes do. If none changed, the update has an empty list.',
      }),
      afterHeight: t.arg({
        type: 'BeaconHeight',
        description:
          'Resumes after this height, the last one that the client received. The subscriber first receives the later heights in order, at most the newest `service.limits.maxResumedHeights`, then each new height, and no block twice. `missedHeights` of the first update counts older heights that were skipped. A height far in the future is HEIGHT_NOT_AVAILABLE, but is ignored if no height could be read yet. With server-sent events, the header `Last-Event-ID` has the same effect and takes precedence. A height far in the future in that header is ignored: the subscription starts with the newest prices.',
      }),
    },
    subscribe: (_root, args, { loaders }) => createPriceStream(args, loaders),
    resolve: (update) => update,
  }),
);

const PriceCrossingRef = builder.objectRef<PriceCrossing>('PriceCrossing').implement({
  description: 'The price of a pool crossed a bound.',
  fieldDescriptions: {
    bound: 'The bound, as the subscription set it.',
    price: '`PoolPair.price` at this height.',
    previousPrice:
      '`PoolPair.price` of the same pool at the previous height. If this subscriber skipped heights, at the last height that was compared for it.',
    isAbove: 'True if the price rose above the bound `above`, false if it fell below the bound `below`.',
    poolPair: 'The pool at this height.',
  },
  fields: (t) => ({
    ...t.exposeAll('Float', 'bound', 'price', 'previousPrice'),
    isAbove: t.exposeBoolean('isAbove'),
    poolPair: t.expose('poolPair', { type: PoolPairRef }),
  }),
});

/** @throws BadUserInputError if no bound is set, or if no price can cross one */
function requireBounds({ above, below }: BoundsArguments): void {
  if (above == null && below == null) throw new BadUserInputError('Set above or below, or both.');
  requireAtLeast(0, 'above', above);
  requireAtLeast(0, 'below', below);
}

builder.subscriptionField('priceCrossed', (t) =>
  t.field({
    type: PriceCrossingRef,
    extensions: { refuse: requireBounds },
    description:
      'Sends an update each time `price` of a pool rises above `above` or falls below `below`. Each height is compared with the one before, so nothing is sent at the start, and nothing at the height at which a pool is new. At least one bound is needed. A price that equals a bound has not crossed it. A slow subscriber skips heights: the newest price is compared with the last one that was compared for this subscriber. Both prices are of one pool: if another pool gets the most liquidity, its own price at the height before counts. A pool that does not exist, or whose tokens have unknown decimals, is BAD_USER_INPUT. If no height could be read yet, the first update is an error with null data, and the subscription stays open.',
    args: {
      ...poolKeyArgs,
      above: t.arg.float({
        description:
          'The price above which an update is sent, in token 1 of the pool per token 2. A negative number is BAD_USER_INPUT.',
      }),
      below: t.arg.float({
        description:
          'The price below which an update is sent, in token 1 of the pool per token 2. A negative number is BAD_USER_INPUT.',
      }),
    },
    subscribe: (_root, args, { loaders }) => createPriceCrossingStream(args, loaders),
    resolve: (crossing) => crossing,
  }),
);
