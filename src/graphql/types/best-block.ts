import { BEACON_CHAIN_ID, type BestBlock } from '../../domain/chain.ts';
import { builder, NODE_ID, NodeRef } from '../builder.ts';
import { ValidationDataRef } from './validation-data.ts';

export const BestBlockRef = builder.objectRef<BestBlock>('BestBlock');

BestBlockRef.implement({
  interfaces: [NodeRef],
  description: 'The newest block of the beacon chain or of a shard.',
  fields: (t) => ({
    id: t.id({ description: NODE_ID, resolve: (block) => `BestBlock:${block.chainId}` }),
    chainId: t.exposeInt('chainId', { description: '-1 for the beacon chain, else the shard, counted from 0.' }),
    isBeacon: t.boolean({
      description: 'Whether this is the block of the beacon chain.',
      resolve: (block) => block.chainId === BEACON_CHAIN_ID,
    }),
    height: t.expose('height', { type: 'BeaconHeight', description: 'Its height in its own chain.' }),
    hash: t.exposeString('hash', { description: '64 hexadecimal characters.' }),
    totalTxs: t.expose('totalTxs', {
      type: 'BigInt',
      description: 'Transactions in this chain so far. 0 on the beacon chain, which carries none.',
    }),
    blockProducer: t.exposeString('blockProducer', { description: 'The encoded public key of its producer.' }),
    validationData: t.expose('validationData', {
      type: ValidationDataRef,
      nullable: true,
      description:
        'The signatures over the block. Null when the node sent a text that is not the documented document; validationDataRaw always holds what it sent.',
    }),
    validationDataRaw: t.exposeString('validationDataRaw', {
      description: 'The text that holds the signatures, as sent.',
    }),
    epoch: t.exposeInt('epoch', { description: 'The epoch of the block. Set on the beacon chain, 0 on a shard.' }),
    time: t.expose('time', { type: 'DateTime', description: 'When the block was made.' }),
    remainingBlockEpoch: t.exposeInt('remainingBlockEpoch', {
      description: 'Blocks left in the epoch: never 0 on the beacon chain, always 0 on a shard.',
    }),
    epochBlock: t.exposeInt('epochBlock', {
      description: 'How many blocks an epoch has. Set on the beacon chain, 0 on a shard.',
    }),
  }),
});
