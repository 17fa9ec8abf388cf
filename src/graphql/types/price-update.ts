import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { poolCount } from '../../domain/exchange.ts';
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
  const head = sources.head.current();
  return head && poolCount(head.exchange);
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

function missedHeights(height: BeaconHeight, previousHeight: BeaconHeight | undefined): number {
  return previousHeight === undefined ? 0 : Math.max(0, height - previousHeight - 1);
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
        'The height of the update before this one on this subscription; on the first, the height that it goes on after, and null where it does not. A gap larger than 1 means heights were passed over.',
    }),
    missedHeights: t.int({
      description:
        'How many heights lie between previousHeight and this one: they were passed over, because this listener was too slow, the blocks too quick, or the heights no longer kept when it came back. 0 as a rule, and on a first update that goes on after nothing.',
      resolve: ({ head, previousHeight }) => missedHeights(head.beaconHeight, previousHeight),
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
      'Prices, now and then recomputed at each beacon height: of the pools named, of the pools that hold one of the tokens named, of both sets together, of all pools where neither is given. An empty list is BAD_USER_INPUT. A listener that cannot keep up passes heights over. One that comes back names the last height that it got, and gets those that it missed, as far as they are kept.',
    args: {
      poolPairs: t.arg({ type: [PoolPairKeyInput], description: 'Pools by their two tokens.' }),
      tokenIds: t.arg({ type: ['TokenId'], description: 'All pools that hold one of these tokens.' }),
      onlyChanged: t.arg.boolean({
        required: true,
        defaultValue: false,
        description:
          'Leaves out, from the second update on, pools whose reserves did not change; an update without pools is still sent.',
      }),
      afterHeight: t.arg({
        type: 'BeaconHeight',
        description:
          'Goes on after this height: each later one that is kept comes in order, `service.limits.maxResumedHeights` at most, then each new one, none twice. Where older ones were missed, `missedHeights` of the first update says how many. A height far in the future is HEIGHT_NOT_AVAILABLE. Over server-sent events the header `Last-Event-ID` does the same, and where both are there it decides; one far in the future counts as none, and prices begin with the newest.',
      }),
    },
    subscribe: (_root, args, { loaders }) => loaders.updates.prices(args),
    resolve: (update) => update,
  }),
);
