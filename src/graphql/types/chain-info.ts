import type { ChainInfo } from '../../domain/chain.ts';
import { andThen } from '../../domain/maybe-promise.ts';
import { builder, NODE_ID, NodeRef } from '../builder.ts';
import { listOf } from '../complexity.ts';
import type { Service } from '../context.ts';
import { BestBlockRef } from './best-block.ts';

/** The number of chains: the beacon chain and its shards; `undefined` if there is no head yet. */
function countChains({ sources }: Service): number | undefined {
  const head = sources.head.current();
  return head && 1 + head.chainInfo.shards.length;
}

const ChainInfoRef = builder.objectRef<ChainInfo>('ChainInfo').implement({
  interfaces: [NodeRef],
  description:
    'The newest blocks of the beacon chain and of its shards, from one response of the node to `getblockchaininfo`.',
  fields: (t) => ({
    id: t.id({ description: NODE_ID, resolve: (chain) => `ChainInfo:${chain.chainName}` }),
    chainName: t.exposeString('chainName', { description: 'Name of the network.' }),
    activeShards: t.exposeInt('activeShards', { description: 'Number of shards in the network.' }),
    bestBlocks: t.field({
      type: [BestBlockRef],
      complexity: (_args, { service }) => listOf(countChains(service)),
      description: 'The newest block of each chain: the beacon chain first, then the shards in ascending order.',
      resolve: (chain) => [chain.beacon, ...chain.shards],
    }),
    beacon: t.expose('beacon', { type: BestBlockRef, description: 'The newest block of the beacon chain.' }),
    shard: t.field({
      type: BestBlockRef,
      nullable: true,
      description: 'The newest block of one shard. Null if the network has no such shard.',
      args: { id: t.arg.int({ required: true, description: 'Number of the shard, starting at 0.' }) },
      resolve: (chain, { id }) => chain.shards.find((block) => block.chainId === id),
    }),
  }),
});

builder.queryField('chainInfo', (t) =>
  t.field({
    type: ChainInfoRef,
    nullable: true,
    description:
      'The newest blocks of all chains. Null with an error until the gateway has read the node for the first time.',
    resolve: (_root, _args, { loaders }) => andThen(loaders.head.get(), (head) => head.chainInfo),
  }),
);
