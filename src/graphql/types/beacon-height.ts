import { builder } from '../builder.ts';

builder.queryField('beaconHeight', (t) =>
  t.field({
    type: 'BeaconHeight',
    nullable: true,
    description:
      'The beacon height of this response. The gateway chooses it once per operation, so all fields describe the same height, except where `at`, a cursor or an id names another. Null with an error until the gateway has read the node for the first time.',
    resolve: async (_root, _args, { loaders }) => (await loaders.head.get()).beaconHeight,
  }),
);
