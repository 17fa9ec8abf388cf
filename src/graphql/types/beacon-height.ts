import { builder } from '../builder.ts';

builder.queryField('beaconHeight', (t) =>
  t.field({
    type: 'BeaconHeight',
    nullable: true,
    description:
      'The beacon height that this answer describes. It is read once per operation: no two fields of one answer describe two heights, except where `at` or a cursor names another. Null with an error while the node was never read.',
    resolve: async (_root, _args, { loaders }) => (await loaders.head.get()).beaconHeight,
  }),
);
