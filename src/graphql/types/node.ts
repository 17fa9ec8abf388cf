import { builder, NodeRef } from '../builder.ts';
import { objects } from '../complexity.ts';
import { findNode } from '../find-node.ts';

builder.queryFields((t) => ({
  node: t.field({
    type: NodeRef,
    nullable: true,
    description:
      "Any object by its id. Ids are readable: 'Pair:<pool id>', 'Ticker:<pool id>', 'PoolPair:<id1>-<id2>', 'PoolPair:<id1>-<id2>@<height>', 'Token:<id>', 'ChainInfo:<name>', 'BestBlock:<chain id>'. Null when there is no such object; a text that is no id at all is BAD_USER_INPUT.",
    args: { id: t.arg.id({ required: true, description: 'The id of the object.' }) },
    resolve: (_root, { id }, { loaders }) => findNode(id, loaders),
  }),
  nodes: t.field({
    type: [NodeRef],
    nullable: { list: false, items: true },
    complexity: ({ ids }) => objects(ids.length),
    description: 'Objects by their ids, in the order of the ids. An entry is null for the reasons of `node`.',
    args: { ids: t.arg.idList({ required: true, description: 'The ids of the objects.' }) },
    resolve: (_root, { ids }, { loaders }) => ids.map((id) => findNode(id, loaders)),
  }),
}));
