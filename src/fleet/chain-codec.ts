import { parseAmount } from '../domain/amount.ts';
import type { BestBlock, ChainInfo } from '../domain/chain.ts';
import { readValidationData } from '../upstream/node/chain-info.ts';
import { readArray, readInteger, readString, readTimestamp, readUint64, ShapeError } from '../upstream/wire.ts';

/** The newest blocks as JSON: a list for each block, the beacon chain first. */
export function chainInfoToJson({ chainName, activeShards, beacon, shards }: ChainInfo): unknown {
  return [chainName, activeShards, ...[beacon, ...shards].map(blockToJson)];
}

function blockToJson(block: BestBlock): unknown {
  return [
    block.chainId,
    block.height,
    block.hash,
    String(block.totalTxs),
    block.blockProducer,
    block.validationDataRaw,
    block.epoch,
    block.time,
    block.remainingBlockEpoch,
    block.epochBlock,
  ];
}

/** Reads what {@link chainInfoToJson} has written. @throws ShapeError */
export function readChainInfo(value: unknown): ChainInfo {
  const [chainName, activeShards, ...blocks] = readArray(value, '$.chain');
  const [beacon, ...shards] = blocks.map((block) => readBlock(readArray(block, '$.chain[…]')));
  if (beacon === undefined) throw new ShapeError('the beacon chain', '$.chain');
  return {
    chainName: readString(chainName, '$.chain[0]'),
    activeShards: readInteger(activeShards, '$.chain[1]'),
    beacon,
    shards,
  };
}

function readBlock([
  chainId,
  height,
  hash,
  totalTxs,
  producer,
  validationData,
  ...epoch
]: readonly unknown[]): BestBlock {
  const path = '$.chain[…]';
  const validationDataRaw = readString(validationData, path);
  return {
    chainId: Number.isSafeInteger(chainId) ? Number(chainId) : readInteger(chainId, path),
    height: readInteger(height, path),
    hash: readString(hash, path),
    totalTxs: readUint64(parseAmount(totalTxs), path),
    blockProducer: readString(producer, path),
    validationData: readValidationData(validationDataRaw),
    validationDataRaw,
    epoch: readInteger(epoch[0], path),
    time: readTimestamp(epoch[1], path),
    remainingBlockEpoch: readInteger(epoch[2], path),
    epochBlock: readInteger(epoch[3], path),
  };
}
