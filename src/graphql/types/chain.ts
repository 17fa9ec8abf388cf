import {
  BEACON_CHAIN_ID,
  type BestBlock,
  type ChainInfo,
  findBestBlock,
  type ValidationData,
} from '../../domain/chain.ts';
import { andThen } from '../../domain/maybe-promise.ts';
import { builder, NODE_ID, NodeRef } from '../builder.ts';
import { complexityOfList } from '../complexity.ts';
import type { Service } from '../context.ts';

const ValidationDataRef = builder.objectRef<ValidationData>('ValidationData').implement({
  description: 'Signatures over a block.',
  fieldDescriptions: {
    producerBlsSig: 'BLS signature of the producer, in base64.',
    aggSig: 'Aggregated signature of these validators, in base64.',
    producerBriSig: 'Bridge signature of the producer. Null if the block has none.',
    validatorsIdx:
      'Indexes of the validators in the committee that signed, ascending. Validators that did not sign are missing.',
    bridgeSig: 'Bridge signatures of these validators, in the order of `validatorsIdx`. An entry can be empty.',
  },
  fields: (t) => ({
    ...t.exposeAll('String', 'producerBlsSig', 'aggSig'),
    producerBriSig: t.exposeString('producerBriSig', { nullable: true }),
    validatorsIdx: t.exposeIntList('validatorsIdx'),
    bridgeSig: t.exposeStringList('bridgeSig'),
  }),
});

const BestBlockRef = builder.objectRef<BestBlock>('BestBlock').implement({
  interfaces: [NodeRef],
  description: 'The newest block of the beacon chain or of one shard.',
  fieldDescriptions: {
    chainId: '-1 for the beacon chain, otherwise the number of the shard, starting at 0.',
    epoch: 'Epoch of the block on the beacon chain. Always 0 on a shard.',
    remainingBlockEpoch:
      'Number of blocks of the epoch after this one. At the last block of an epoch, the node sends `epochBlock`, never 0. Always 0 on a shard.',
    epochBlock: 'Number of blocks per epoch on the beacon chain. Always 0 on a shard.',
    isBeacon: 'True if the block belongs to the beacon chain.',
    height: 'Height of the block in its own chain.',
    hash: 'Hash of the block: 64 hexadecimal characters.',
    blockProducer: "Encoded public key of the block's producer.",
    validationDataRaw: 'The signatures as the original text from the node.',
    totalTxs: 'Total number of transactions in this chain. 0 for the beacon chain, which has no transactions.',
    validationData:
      "Signatures over the block. Null if the node's text does not have the documented format; `validationDataRaw` always contains that text.",
    time: 'Time at which the block was produced.',
  },
  fields: (t) => ({
    id: t.id({ description: NODE_ID, resolve: (block) => `BestBlock:${block.chainId}` }),
    ...t.exposeAll('Int', 'chainId', 'epoch', 'remainingBlockEpoch', 'epochBlock'),
    isBeacon: t.boolean({ resolve: (block) => block.chainId === BEACON_CHAIN_ID }),
    height: t.expose('height', { type: 'BeaconHeight' }),
    ...t.exposeAll('String', 'hash', 'blockProducer', 'validationDataRaw'),
    totalTxs: t.expose('totalTxs', { type: 'BigInt' }),
    validationData: t.expose('validationData', { type: ValidationDataRef, nullable: true }),
    time: t.expose('time', { type: 'DateTime' }),
  }),
});

/** The number of chains: the beacon chain and its shards; `undefined` if there is no head yet. */
function countChains({ sources }: Service): number | undefined {
  const head = sources.head.current();
  return head && 1 + head.chainInfo.shards.length;
}

const ChainInfoRef = builder.objectRef<ChainInfo>('ChainInfo').implement({
  interfaces: [NodeRef],
  description:
    'The newest blocks of the beacon chain and of its shards, from one response of the node to `getblockchaininfo`.',
  fieldDescriptions: {
    chainName: 'Name of the network.',
    activeShards: 'Number of shards in the network.',
    bestBlocks: 'The newest block of each chain: the beacon chain first, then the shards in ascending order.',
    beacon: 'The newest block of the beacon chain.',
    shard: 'The newest block of one shard. Null if the network has no such shard.',
  },
  fields: (t) => ({
    id: t.id({ description: NODE_ID, resolve: (chain) => `ChainInfo:${chain.chainName}` }),
    chainName: t.exposeString('chainName'),
    activeShards: t.exposeInt('activeShards'),
    bestBlocks: t.field({
      type: [BestBlockRef],
      complexity: (_args, { service }) => complexityOfList(countChains(service)),
      resolve: (chain) => [chain.beacon, ...chain.shards],
    }),
    beacon: t.expose('beacon', { type: BestBlockRef }),
    shard: t.field({
      type: BestBlockRef,
      nullable: true,
      args: { id: t.arg.int({ required: true, description: 'Number of the shard, starting at 0.' }) },
      resolve: (chain, { id }) => chain.shards.find((block) => block.chainId === id),
    }),
  }),
});

builder.queryFields((t) => ({
  bestBlock: t.field({
    type: BestBlockRef,
    nullable: true,
    description:
      'The newest block of one chain. Null if the network has no such shard. Null with an error until the gateway has read the node for the first time.',
    args: {
      chainId: t.arg.int({
        defaultValue: BEACON_CHAIN_ID,
        description:
          '-1 for the beacon chain, otherwise the number of a shard, from 0 to `ChainInfo.activeShards` - 1.',
      }),
    },
    resolve: (_root, { chainId }, { loaders }) =>
      andThen(loaders.head.get(), ({ chainInfo }) => findBestBlock(chainInfo, chainId ?? BEACON_CHAIN_ID)),
  }),
  chainInfo: t.field({
    type: ChainInfoRef,
    nullable: true,
    description:
      'The newest blocks of all chains. Null with an error until the gateway has read the node for the first time.',
    resolve: (_root, _args, { loaders }) => andThen(loaders.head.get(), (head) => head.chainInfo),
  }),
}));
