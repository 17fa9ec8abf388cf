import { builder } from '../builder.ts';

const TOKEN_1 = 'Id of one of the two tokens.';
const TOKEN_2 = 'Id of the other token.';
const POOL_ID =
  'Id of the pool, as `PoolPair.poolId`, if several pools have these tokens. It must be a pool of the two tokens that the exchange has; anything else is BAD_USER_INPUT. Without it, the pool is that of `Query.poolPair`, with V3 the one with the most liquidity. That is decided again at each height.';

/** Names a pool in a list. */
export const PoolPairKeyInput = builder.inputType('PoolPairKey', {
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
