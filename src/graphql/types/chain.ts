import {
  BEACON_CHAIN_ID,
  type BestBlock,
  type ChainInfo,
  findBestBlock,
  type ValidationData,
} from '../../domain/chain.ts';
import { andThen } from '../../domain/maybe-promise.ts';
import { builder, exposeAll, NODE_ID, NodeRef } from '../builder.ts';
import { listOf } from '../complexity.ts';
import type { Service } from '../context.ts';

const ValidationDataRef = builder.objectRef<ValidationData>('ValidationData').implement({
  description: 'Signatures over a block.',
  fields: (t) => ({
    producerBlsSig: t.exposeString('producerBlsSig', { description: 'BLS signature of the producer, in base64.' }),
    aggSig: t.exposeString('aggSig', { description: 'Aggregated signature of these validators, in base64.' }),
    producerBriSig: t.exposeString('producerBriSig', {
      nullable: true,
      description: 'Bridge signature of the producer. Null if the block has none.',
    }),
    validatorsIdx: t.exposeIntList('validatorsIdx', {
      description:
        'Indexes of the validators in the committee that signed, ascending. Validators that did not sign are missing.',
    }),
    bridgeSig: t.exposeStringList('bridgeSig', {
      description: 'Bridge signatures of these validators, in the order of `validatorsIdx`. An entry can be empty.',
    }),
  }),
});

const BestBlockRef = builder.objectRef<BestBlock>('BestBlock').implement({
  interfaces: [NodeRef],
  description: 'The newest block of the beacon chain or of one shard.',
  fields: (t) => ({
    id: t.id({ description: NODE_ID, resolve: (block) => `BestBlock:${block.chainId}` }),
    ...exposeAll(t, 'Int', {
      chainId: '-1 for the beacon chain, otherwise the number of the shard, starting at 0.',
      epoch: 'Epoch of the block on the beacon chain. Always 0 on a shard.',
      remainingBlockEpoch: 'Number of blocks left in the epoch. At least 1 on the beacon chain, always 0 on a shard.',
      epochBlock: 'Number of blocks per epoch on the beacon chain. Always 0 on a shard.',
    }),
    isBeacon: t.boolean({
      description: 'True if the block belongs to the beacon chain.',
      resolve: (block) => block.chainId === BEACON_CHAIN_ID,
    }),
    height: t.expose('height', { type: 'BeaconHeight', description: 'Height of the block in its own chain.' }),
    hash: t.exposeString('hash', { description: 'Hash of the block: 64 hexadecimal characters.' }),
    blockProducer: t.exposeString('blockProducer', { description: "Encoded public key of the block's producer." }),
    validationDataRaw: t.exposeString('validationDataRaw', {
      description: 'The signatures as the original text from the node.',
    }),
    totalTxs: t.expose('totalTxs', {
      type: 'BigInt',
      description: 'Total number of transactions in this chain. 0 for the beacon chain, which has no transactions.',
    }),
    validationData: t.expose('validationData', {
      type: ValidationDataRef,
      nullable: true,
      description:
        "Signatures over the block. Null if the node's text does not have the documented format; `validationDataRaw` always contains that text.",
    }),
    time: t.expose('time', { type: 'DateTime', description: 'Time at which the block was produced.' }),
  }),
});

builder.queryField('bestBlock', (t) =>
  t.field({
    type: BestBlockRef,
    nullable: true,
    description:
      'The newest block of one chain. Null if the network has no such shard. Null with an error until the gateway has read the node for the first time.',
    args: {
      chainId: t.arg.int({
        defaultValue: BEACON_CHAIN_ID,
        description: '-1 for the beacon chain, 0 to 7 for a shard.',
      }),
    },
    resolve: (_root, { chainId }, { loaders }) =>
      andThen(loaders.head.get(), ({ chainInfo }) => findBestBlock(chainInfo, chainId ?? BEACON_CHAIN_ID)),
  }),
);

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
