import { builder, NodeRef } from '../builder.ts';
import { objects } from '../complexity.ts';
import { findNode, findNodes } from '../find-node.ts';

builder.queryFields((t) => ({
  node: t.field({
    type: NodeRef,
    nullable: true,
    description:
      "Finds an object by its id. Ids are readable: 'Pair:<pool id>', 'Ticker:<pool id>', 'PoolPair:<id1>-<id2>', 'PoolPair:<id1>-<id2>@<height>', 'Token:<id>', 'ChainInfo:<name>', 'BestBlock:<chain id>'. Null if there is no such object. Null with an error if its upstream cannot be read. Text in any other format is BAD_USER_INPUT.",
    args: { id: t.arg.id({ required: true, description: 'Id of the object.' }) },
    resolve: (_root, { id }, { loaders }) => findNode(id, loaders),
  }),
  nodes: t.field({
    type: [NodeRef],
    nullable: { list: false, items: true },
    complexity: ({ ids }) => objects(ids.length),
    description: 'Finds objects by their ids, in the order of the ids. An entry is null in the same cases as `node`.',
    args: { ids: t.arg.idList({ required: true, description: 'Ids of the objects.' }) },
    resolve: (_root, { ids }, { loaders }) => findNodes(ids, loaders),
  }),
}));
