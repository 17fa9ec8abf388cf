import { BEACON_CHAIN_ID, type BestBlock, type ChainInfo, type ValidationData } from '../../domain/chain.ts';
import { toInstant } from '../../domain/instant.ts';
import {
  readArray,
  readInteger,
  readObject,
  readString,
  readTimestamp,
  readUint64,
  ShapeError,
  type WireObject,
} from '../wire.ts';

/** Decodes the result of `getblockchaininfo`. @throws ShapeError */
export function readChainInfo(result: WireObject): ChainInfo {
  const path = '$.Result.BestBlocks';
  const blocks = Object.entries(readObject(result['BestBlocks'], path))
    .filter(([key]) => CHAIN_ID.test(key))
    .map(([key, block]) => readBestBlock(Number(key), readObject(block, `${path}["${key}"]`), `${path}["${key}"]`));
  const beacon = blocks.find((block) => block.chainId === BEACON_CHAIN_ID);
  if (beacon === undefined) throw new ShapeError('the beacon chain', `${path}["-1"]`);

  return {
    chainName: readString(result['ChainName'], '$.Result.ChainName'),
    activeShards: readInteger(result['ActiveShards'], '$.Result.ActiveShards'),
    beacon,
    shards: blocks.filter((block) => block !== beacon).sort((a, b) => a.chainId - b.chainId),
  };
}

/** `-1` for the beacon chain and `0`, `1`, … for the shards; other keys are ignored. */
const CHAIN_ID = /^(-1|0|[1-9]\d{0,8})$/;

function readBestBlock(chainId: number, block: WireObject, path: string): BestBlock {
  // Not every block has signatures: the text may be empty or missing.
  const validationDataRaw = readString(block['ValidationData'] ?? '', `${path}.ValidationData`);

  return {
    chainId,
    height: readInteger(block['Height'], `${path}.Height`),
    hash: readString(block['Hash'], `${path}.Hash`),
    totalTxs: readUint64(block['TotalTxs'], `${path}.TotalTxs`),
    blockProducer: readString(block['BlockProducer'], `${path}.BlockProducer`),
    validationData: readValidationData(validationDataRaw),
    validationDataRaw,
    epoch: readInteger(block['Epoch'], `${path}.Epoch`),
    time: toInstant(readTimestamp(block['Time'], `${path}.Time`)),
    remainingBlockEpoch: readInteger(block['RemainingBlockEpoch'], `${path}.RemainingBlockEpoch`),
    epochBlock: readInteger(block['EpochBlock'], `${path}.EpochBlock`),
  };
}

/** The JSON document in the text; `undefined` if it does not have the documented shape. */
function readValidationData(text: string): ValidationData | undefined {
  try {
    const data = readObject(JSON.parse(text), '$');
    const producerBriSig = data['ProducerBriSig'];

    return {
      producerBlsSig: readString(data['ProducerBLSSig'], '$.ProducerBLSSig'),
      producerBriSig: producerBriSig == null ? undefined : readString(producerBriSig, '$.ProducerBriSig'),
      validatorsIdx: readArray(data['ValidatiorsIdx'], '$.ValidatiorsIdx').map((index) =>
        readInteger(index, '$.ValidatiorsIdx[…]'),
      ),
      aggSig: readString(data['AggSig'], '$.AggSig'),
      bridgeSig: readArray(data['BridgeSig'], '$.BridgeSig').map((sig) => readString(sig, '$.BridgeSig[…]')),
    };
  } catch {
    return undefined;
  }
}
