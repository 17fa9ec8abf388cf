import { type ChainInfo, findBestBlock } from '../../domain/chain.ts';
import { builder, NODE_ID, NodeRef } from '../builder.ts';
import { BestBlockRef } from './best-block.ts';

export const ChainInfoRef = builder.objectRef<ChainInfo>('ChainInfo');

ChainInfoRef.implement({
  interfaces: [NodeRef],
  description: "The newest blocks of the beacon chain and its shards, as one answer of the node's `getblockchaininfo`.",
  fields: (t) => ({
    id: t.id({ description: NODE_ID, resolve: (chain) => `ChainInfo:${chain.chainName}` }),
    chainName: t.exposeString('chainName', { description: 'The name of the network.' }),
    activeShards: t.exposeInt('activeShards', { description: 'How many shards the network runs.' }),
    bestBlocks: t.field({
      type: [BestBlockRef],
      description: 'The newest block of each chain: the beacon chain first, then the shards in order.',
      resolve: (chain) => [chain.beacon, ...chain.shards],
    }),
    beacon: t.expose('beacon', { type: BestBlockRef, description: 'The newest block of the beacon chain.' }),
    shard: t.field({
      type: BestBlockRef,
      nullable: true,
      description: 'The newest block of a shard. Null when the chain has no such shard.',
      args: { id: t.arg.int({ required: true, description: 'The shard, counted from 0.' }) },
      resolve: (chain, { id }) => chain.shards.find((block) => block.chainId === id),
    }),
  }),
});

builder.queryFields((t) => ({
  chainInfo: t.field({
    type: ChainInfoRef,
    nullable: true,
    description: 'The newest blocks of all chains. Null with an error while the node was never read.',
    resolve: async (_root, _args, { loaders }) => (await loaders.head.get()).chainInfo,
  }),
  bestBlock: t.field({
    type: BestBlockRef,
    nullable: true,
    description:
      'The newest block of one chain. Null when the chain has no such shard, or with an error while the node was never read.',
    args: {
      chainId: t.arg.int({ required: true, defaultValue: -1, description: '-1 is the beacon chain, 0 to 7 a shard.' }),
    },
    resolve: async (_root, { chainId }, { loaders }) => findBestBlock((await loaders.head.get()).chainInfo, chainId),
  }),
}));
