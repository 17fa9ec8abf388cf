import { BadUserInputError } from '../../errors.ts';
import { requireAtLeast } from '../../loaders/argument-ranges.ts';
import { type BoundsArguments, createPriceCrossingStream, type PriceCrossing } from '../../loaders/head-streams.ts';
import { builder } from '../builder.ts';
import { poolKeyArgs } from './pool-key.ts';
import { PoolPairRef } from './refs.ts';

const PriceCrossingRef = builder.objectRef<PriceCrossing>('PriceCrossing').implement({
  description: 'The price of a pool crossed a bound.',
  fields: (t) => ({
    bound: t.exposeFloat('bound', { description: 'The bound, as the subscription set it.' }),
    isAbove: t.exposeBoolean('isAbove', {
      description: 'True if the price rose above the bound `above`, false if it fell below the bound `below`.',
    }),
    price: t.exposeFloat('price', { description: '`PoolPair.price` at this height.' }),
    previousPrice: t.exposeFloat('previousPrice', {
      description:
        '`PoolPair.price` of the same pool at the previous height. If this subscriber skipped heights, at the last height that was compared for it.',
    }),
    poolPair: t.expose('poolPair', { type: PoolPairRef, description: 'The pool at this height.' }),
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
        description: 'The price above which an update is sent, in token 1 of the pool per token 2.',
      }),
      below: t.arg.float({
        description: 'The price below which an update is sent, in token 1 of the pool per token 2.',
      }),
    },
    subscribe: (_root, args, { loaders }) => createPriceCrossingStream(args, loaders),
    resolve: (crossing) => crossing,
  }),
);
