import { andThen } from '../../domain/maybe-promise.ts';
import type { Head } from '../../live/chain/head.ts';
import { createHeadStream } from '../../loaders/head-streams.ts';
import { builder } from '../builder.ts';
import { HEIGHT_AT_A_TIME } from '../complexity.ts';

export const HeadRef = builder.objectRef<Head>('Head').implement({
  description:
    'One beacon height. The gateway publishes it once it has read the complete exchange state at that height.',
  fieldDescriptions: {
    id: "Cache key for clients: 'Head:<height>:<hash>'. Two heads never share a key. `node` does not accept it.",
    beaconHeight: 'The beacon height.',
    previousHeight:
      'The height that this gateway published before this one. Null for the first height. Equal to `beaconHeight` if the node replaced the block at that height and the gateway read it again. If the node replaced lower blocks too, the gateway does not publish their heights again.',
    hash: 'Hash of the beacon block at this height.',
    time: 'Time at which the block was produced.',
    observedAt: 'Time at which the gateway finished reading this height.',
    ageMs: 'Milliseconds since `observedAt`.',
    stale:
      'True if the node cannot be read, if no new height arrived for five times the usual block interval (at least 40 seconds), or if the newest block is older than the setting MAX_BLOCK_AGE_MS.',
  },
  fields: (t) => ({
    id: t.id({ resolve: ({ beaconHeight, hash }) => `Head:${beaconHeight}:${hash}` }),
    beaconHeight: t.expose('beaconHeight', { type: 'BeaconHeight' }),
    previousHeight: t.expose('previousHeight', { type: 'BeaconHeight', nullable: true }),
    hash: t.exposeString('hash'),
    ...t.exposeAll('DateTime', 'time', 'observedAt'),
    ageMs: t.float({
      resolve: (head, _args, { service, loaders }) => loaders.dependencies.expireNow(service.now() - head.observedAt),
    }),
    stale: t.boolean({
      resolve: (_head, _args, { service, loaders }) => loaders.dependencies.expireNow(service.sources.head.isStale()),
    }),
  }),
});

builder.queryFields((t) => ({
  beaconHeight: t.field({
    type: 'BeaconHeight',
    nullable: true,
    description:
      'The beacon height of this response. The gateway chooses it once per operation, so all fields describe the same height, except where `at`, a cursor or an id names another. Null with an error until the gateway has read the node for the first time.',
    resolve: (_root, _args, { loaders }) => andThen(loaders.head.get(), (head) => head.beaconHeight),
  }),
  beaconHeightAt: t.field({
    type: 'BeaconHeight',
    nullable: true,
    complexity: HEIGHT_AT_A_TIME,
    description:
      'The newest beacon height whose block was produced at or before `time`, exactly. The gateway finds it in the recorded history, or reads a few states from the node. A time after the newest block gives the newest height. Null if `time` is before all blocks that the node still has and the history contains. Null with HEIGHT_NOT_AVAILABLE if the block is in a gap of the history, and the node has pruned it.',
    args: { time: t.arg({ type: 'DateTime', required: true, description: 'The moment, with any offset from UTC.' }) },
    resolve: (_root, { time }, { loaders }) => loaders.exchange.heightAt(time),
  }),
}));

builder.subscriptionField('head', (t) =>
  t.field({
    type: HeadRef,
    description:
      'Sends the current beacon height first, then each new one. A slow subscriber skips heights and receives the newest. If no height could be read yet, the first update is an error with null data, and the subscription stays open.',
    subscribe: (_root, _args, { loaders }) => createHeadStream(loaders),
    resolve: (head) => head,
  }),
);
