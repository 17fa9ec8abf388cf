import type { Head } from '../../live/head.ts';
import { builder } from '../builder.ts';

export const HeadRef = builder.objectRef<Head>('Head').implement({
  description: 'One beacon height, read whole and published at once.',
  fields: (t) => ({
    beaconHeight: t.expose('beaconHeight', { type: 'BeaconHeight', description: 'The height.' }),
    previousHeight: t.expose('previousHeight', {
      type: 'BeaconHeight',
      nullable: true,
      description:
        'The height that this gateway published before it. Null for the first. Equal to beaconHeight where the node replaced the block at that height and it was read again.',
    }),
    hash: t.exposeString('hash', { description: 'The hash of the block at that height.' }),
    time: t.expose('time', { type: 'DateTime', description: 'When the node made the block.' }),
    observedAt: t.expose('observedAt', { type: 'DateTime', description: 'When this gateway had read it whole.' }),
    ageMs: t.float({
      description: 'Milliseconds since observedAt.',
      resolve: (head, _args, { service, loaders }) => loaders.basis.momentary(service.now() - head.observedAt),
    }),
    stale: t.boolean({
      description: 'The node cannot be read, or has shown no new height for several times the usual interval.',
      resolve: (_head, _args, { service, loaders }) => loaders.basis.momentary(service.sources.head.isStale()),
    }),
  }),
});

builder.subscriptionField('head', (t) =>
  t.field({
    type: HeadRef,
    description: 'Now, and then each new beacon height. A listener that cannot keep up passes heights over.',
    subscribe: (_root, _args, { loaders }) => loaders.updates.head(),
    resolve: (head) => head,
  }),
);
