import type { BeaconHeight } from './beacon-height.ts';
import type { Instant } from './instant.ts';

/** The beacon chain's place among the chains; shards count from 0. */
export const BEACON_CHAIN_ID = -1;

/** The newest blocks of the beacon chain and its shards, as one answer of the node told them. */
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
  /** `undefined` where {@link validationDataRaw} is not the documented document. */
  readonly validationData: ValidationData | undefined;
  readonly validationDataRaw: string;
  /** Set on the beacon chain only, as are the other two numbers of the epoch; 0 on a shard. */
  readonly epoch: number;
  /** When the block was made. */
  readonly time: Instant;
  /** Blocks left in the epoch, this one included: never 0 on the beacon chain. */
  readonly remainingBlockEpoch: number;
  /** Blocks in an epoch. */
  readonly epochBlock: number;
};

/** The signatures over a block, from the JSON text inside `ValidationData`. */
export type ValidationData = {
  readonly producerBlsSig: string;
  readonly producerBriSig: string | undefined;
  /** Which validators signed; indexes may be skipped. */
  readonly validatorsIdx: readonly number[];
  readonly aggSig: string;
  /** One per entry of {@link validatorsIdx}; an entry may be empty. */
  readonly bridgeSig: readonly string[];
};

/** The newest block of a chain: -1 is the beacon chain, else a shard; `undefined` for a shard that does not exist. */
export function findBestBlock(chain: ChainInfo, chainId: number): BestBlock | undefined {
  return chainId === BEACON_CHAIN_ID ? chain.beacon : chain.shards.find((block) => block.chainId === chainId);
}
