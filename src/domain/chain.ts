import type { BeaconHeight } from './beacon-height.ts';
import type { Instant } from './instant.ts';

/** The chain id of the beacon chain. Shards count from 0. */
export const BEACON_CHAIN_ID = -1;

/** The newest blocks of the beacon chain and its shards, from one response of the node. */
export type ChainInfo = {
  readonly chainName: string;
  readonly activeShards: number;
  readonly beacon: BestBlock;
  /** In order of their ids. */
  readonly shards: readonly BestBlock[];
};

/** The newest block of one chain. */
export type BestBlock = {
  /** -1 for the beacon chain, else the shard's id. */
  readonly chainId: number;
  readonly height: BeaconHeight;
  readonly hash: string;
  /** 0 on the beacon chain. */
  readonly totalTxs: bigint;
  readonly blockProducer: string;
  /** `undefined` if {@link validationDataRaw} does not have the documented shape. */
  readonly validationData: ValidationData | undefined;
  readonly validationDataRaw: string;
  /** 0 on a shard, as are the other two fields of the epoch. */
  readonly epoch: number;
  /** When the block was produced. */
  readonly time: Instant;
  /** Blocks of the epoch after this one. At the last block of an epoch, the node sends {@link epochBlock}. 0 on a shard. */
  readonly remainingBlockEpoch: number;
  /** Blocks in an epoch. */
  readonly epochBlock: number;
};

/** The signatures over a block, from the JSON text inside `ValidationData`. */
export type ValidationData = {
  readonly producerBlsSig: string;
  readonly producerBriSig: string | undefined;
  /** The indexes of the validators that signed. */
  readonly validatorsIdx: readonly number[];
  readonly aggSig: string;
  /** One per entry of {@link validatorsIdx}; an entry may be empty. */
  readonly bridgeSig: readonly string[];
};

/** The hash of a head whose state was read only after later heights: its block is not known. */
export const UNKNOWN_HASH = '';

/** A block of the beacon chain, and the hash of the one below it, if that is known. */
type LinkedBlock = {
  readonly beaconHeight: BeaconHeight;
  /** The hash of the block, or {@link UNKNOWN_HASH}. */
  readonly hash: string;
  readonly previousHash?: string | undefined;
  readonly time: Instant;
};

/**
 * Whether a newer block shows that a block was replaced: it is not above that block, names another one below it, or is earlier. No
 * block is later than one above it.
 */
export function isReplacedBy(block: LinkedBlock, newer: LinkedBlock): boolean {
  if (newer.beaconHeight <= block.beaconHeight || newer.time < block.time) return true;
  if (newer.previousHash === undefined || newer.beaconHeight !== block.beaconHeight + 1) return false;
  return newer.previousHash !== block.hash;
}

/** Whether a time can be that of a block below another one: it is above 0, and not later. A node may send 0 if it knows no time. */
export function canBeBelow(time: Instant, newer: Pick<LinkedBlock, 'time'>): boolean {
  return time > 0 && time <= newer.time;
}

/** A block, and those of some blocks that are surely below it on its chain, descending. @param blocks ascending */
export function ancestors<Block extends LinkedBlock>(block: Block, blocks: readonly Block[]): readonly Block[] {
  const chain = [block];
  for (const each of blocks.toReversed()) {
    const { beaconHeight, previousHash } = chain.at(-1) ?? block;
    if (each.beaconHeight === beaconHeight - 1 && each.hash === previousHash) chain.push(each);
  }
  return chain;
}

/** The newest block of the beacon chain (-1) or of a shard; `undefined` for a shard that does not exist. */
export function findBestBlock(chain: ChainInfo, chainId: number): BestBlock | undefined {
  return chainId === BEACON_CHAIN_ID ? chain.beacon : chain.shards.find((block) => block.chainId === chainId);
}
