import { NATIVE_TOKEN_ID, type TokenId } from '../../domain/token-id.ts';
import type { PriceUpdate } from '../../loaders/updates.ts';
import { builder } from '../builder.ts';
import { objects, objectsOf } from '../complexity.ts';
import type { Service } from '../context.ts';
import { PoolPairRef } from './pool-pair.ts';

/** How many pools all pools, and those of one token, count as. */
const ASSUMED_POOLS = 1_000;
const ASSUMED_POOLS_OF_A_TOKEN = 100;

/** As many can be given at the most where pools are not named one by one. */
function poolsNow({ sources }: Service): number | undefined {
  return sources.head.current()?.exchange.poolPairs.size;
}

function assumedPools(
  poolPairs: readonly unknown[] | null | undefined,
  tokenIds: readonly TokenId[] | null | undefined,
) {
  if (poolPairs == null && tokenIds == null) return ASSUMED_POOLS;
  // Nearly every pool holds the native coin.
  const ofTokens = tokenIds?.map((tokenId) => (tokenId === NATIVE_TOKEN_ID ? ASSUMED_POOLS : ASSUMED_POOLS_OF_A_TOKEN));
  return (ofTokens ?? []).reduce((sum, pools) => sum + pools, poolPairs?.length ?? 0);
}

const PoolPairKeyInput = builder.inputType('PoolPairKey', {
  description: 'The two tokens of a pool, in either order.',
  fields: (t) => ({
    token1Id: t.field({ type: 'TokenId', required: true, description: 'One of the two.' }),
    token2Id: t.field({ type: 'TokenId', required: true, description: 'The other.' }),
  }),
});

const PriceUpdateRef = builder.objectRef<PriceUpdate>('PriceUpdate').implement({
  description: 'The prices at one beacon height.',
  fields: (t) => ({
    beaconHeight: t.field({
      type: 'BeaconHeight',
      description: 'The height that the prices are of.',
      resolve: ({ head }) => head.beaconHeight,
    }),
    previousHeight: t.expose('previousHeight', {
      type: 'BeaconHeight',
      nullable: true,
      description:
        'The height of the update before this one on this subscription. Null on the first. A gap larger than 1 means heights were passed over.',
    }),
    blockTime: t.field({
      type: 'DateTime',
      description: 'When the node made the block.',
      resolve: ({ head }) => head.time,
    }),
    observedAt: t.field({
      type: 'DateTime',
      description: 'When this gateway had read the height whole.',
      resolve: ({ head }) => head.observedAt,
    }),
    poolPairs: t.expose('poolPairs', {
      type: [PoolPairRef],
      complexity: objects(1),
      description: 'The pools that were asked for, each once, in order of their ids.',
    }),
  }),
});

builder.subscriptionField('prices', (t) =>
  t.field({
    type: PriceUpdateRef,
    complexity: ({ poolPairs, tokenIds }, { service }) =>
      objectsOf(
        assumedPools(poolPairs, tokenIds),
        poolPairs == null || tokenIds != null ? poolsNow(service) : undefined,
      ),
    description:
      'Prices, now and then recomputed at each beacon height: of the pools named, of the pools that hold one of the tokens named, of both sets together, of all pools where neither is given. An empty list is BAD_USER_INPUT. A listener that cannot keep up passes heights over.',
    args: {
      poolPairs: t.arg({ type: [PoolPairKeyInput], description: 'Pools by their two tokens.' }),
      tokenIds: t.arg({ type: ['TokenId'], description: 'All pools that hold one of these tokens.' }),
      onlyChanged: t.arg.boolean({
        required: true,
        defaultValue: false,
        description:
          'Leaves out, from the second update on, pools whose reserves did not change; an update without pools is still sent.',
      }),
    },
    subscribe: (_root, args, { updates }) => updates.prices(args),
    resolve: (update) => update,
  }),
);
