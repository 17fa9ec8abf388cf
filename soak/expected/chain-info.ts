import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Chain } from '../../src/sandbox/chain/chain.ts';
import { chainInfo } from '../../src/sandbox/node/chain-info.ts';
import { committeesOf } from '../../src/sandbox/node/committees.ts';

/** The fields of a best block that are requested. */
export const BEST_BLOCK_FIELDS =
  'chainId isBeacon height hash totalTxs blockProducer validationDataRaw validationData { validatorsIdx aggSig bridgeSig producerBlsSig producerBriSig } epoch time remainingBlockEpoch epochBlock';

/** The expected newest block of a chain. */
type BestBlockResult = { readonly chainId: number; readonly height: number; readonly hash: string };

type NodeBlock = {
  readonly Height: number;
  readonly Hash: string;
  readonly TotalTxs: number;
  readonly BlockProducer: string;
  readonly ValidationData: string;
  readonly Epoch: number;
  readonly Time: number;
  readonly RemainingBlockEpoch: number;
  readonly EpochBlock: number;
};

const cache = new WeakMap<Block, readonly BestBlockResult[]>();

/** The newest blocks of all chains while a block is the tip: the beacon chain's, then the shards' in order. */
export function expectedBestBlocks(chain: Chain, tip: Block): readonly BestBlockResult[] {
  const known = cache.get(tip);
  if (known) return known;

  const { BestBlocks: blocks } = chainInfo(chain.seed, committeesOf(chain.seed), tip) as unknown as {
    readonly BestBlocks: ReadonlyMap<string, NodeBlock>;
  };
  const expected = [...blocks].map(([id, block]) => bestBlock(Number(id), block));
  cache.set(tip, expected);
  return expected;
}

function bestBlock(chainId: number, block: NodeBlock): BestBlockResult {
  return {
    chainId,
    isBeacon: chainId === -1,
    height: block.Height,
    hash: block.Hash,
    totalTxs: String(block.TotalTxs),
    blockProducer: block.BlockProducer,
    validationDataRaw: block.ValidationData,
    validationData: block.ValidationData === '' ? null : signatures(JSON.parse(block.ValidationData)),
    epoch: block.Epoch,
    time: new Date(block.Time * 1_000).toISOString(),
    remainingBlockEpoch: block.RemainingBlockEpoch,
    epochBlock: block.EpochBlock,
  } as BestBlockResult;
}

function signatures(document: Readonly<Record<string, unknown>>) {
  return {
    validatorsIdx: document['ValidatiorsIdx'],
    aggSig: document['AggSig'],
    bridgeSig: document['BridgeSig'],
    producerBlsSig: document['ProducerBLSSig'],
    producerBriSig: document['ProducerBriSig'],
  };
}
