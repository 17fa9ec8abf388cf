import type { Block } from '../chain/block.ts';
import { createRandom } from '../chain/random.ts';
import { shardHash } from '../chain/shards.ts';
import type { Committees, Validator } from './committees.ts';
import type { GoValue } from './go-json.ts';

/** Number of beacon blocks in an epoch. */
export const BLOCKS_PER_EPOCH = 350;

/** The epoch of a beacon height. The first is 1. */
export function epochOf(height: number): number {
  return Math.floor((height - 1) / BLOCKS_PER_EPOCH) + 1;
}

/** The result of `getblockchaininfo` for a node whose newest beacon block is `tip`. */
export function chainInfo(seed: number, committees: Committees, tip: Block): GoValue {
  const bestBlocks = new Map<string, GoValue>();
  bestBlocks.set('-1', {
    Height: tip.height,
    Hash: tip.hash,
    TotalTxs: 0,
    ...signatures(seed, tip.hash, tip.height, committees.beacon),
    Epoch: epochOf(tip.height),
    Time: tip.time,
    RemainingBlockEpoch: BLOCKS_PER_EPOCH - (tip.height % BLOCKS_PER_EPOCH),
    EpochBlock: BLOCKS_PER_EPOCH,
  });
  for (const [id, shard] of tip.shards.entries()) {
    const hash = shardHash(seed, id, shard);
    bestBlocks.set(String(id), {
      Height: shard.height,
      Hash: hash,
      TotalTxs: shard.totalTxs,
      ...signatures(seed, hash, shard.height, committees.shards[id] ?? []),
      Epoch: 0,
      Time: shard.time,
      RemainingBlockEpoch: 0,
      EpochBlock: 0,
    });
  }
  return { ChainName: 'sandbox', BestBlocks: bestBlocks, ActiveShards: tip.shards.length };
}

// The producer and the signatures of a block. Not all validators sign, and some blocks have no signatures.
function signatures(seed: number, hash: string, height: number, committee: readonly Validator[]) {
  const random = createRandom(seed, 'signatures', hash);
  const indexes = committee.map((_, index) => index).filter((index) => index === 0 || random.chance(0.9));
  const bridge = indexes.map(() => '');
  const portal = [{}, { PortalSig: null }, { PortalSig: bridge }][random.below(3)];
  const document = {
    ProducerBLSSig: random.base64(65),
    ProducerBriSig: random.chance(0.9) ? null : random.base64(65),
    ValidatiorsIdx: indexes,
    AggSig: random.base64(32),
    BridgeSig: bridge,
    ...portal,
  };

  return {
    BlockProducer: committee[height % committee.length]?.blockKey ?? '',
    ValidationData: random.chance(0.06) ? '' : JSON.stringify(document),
  };
}
