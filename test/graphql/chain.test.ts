import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const BLOCK = `id chainId isBeacon height hash totalTxs blockProducer validationDataRaw epoch time remainingBlockEpoch epochBlock
  validationData { producerBlsSig producerBriSig validatorsIdx aggSig bridgeSig }`;

describe('the chain', () => {
  test('is described as the node describes it, with corrected names', async () => {
    const { data, errors } = await gateway.ask(
      `{ chainInfo { id chainName activeShards bestBlocks { ${BLOCK} } beacon { chainId } shard(id: 7) { chainId } } }`,
    );
    expect(errors).toBeUndefined();

    const response = await fetch(gateway.sandbox.nodeUrl, {
      method: 'POST',
      body: JSON.stringify({ id: 1, jsonrpc: '1.0', method: 'getblockchaininfo', params: [] }),
    });
    const { Result: sent } = await response.json();
    const keys = ['-1', '0', '1', '2', '3', '4', '5', '6', '7'];
    expect(data.chainInfo).toEqual({
      id: `ChainInfo:${sent.ChainName}`,
      chainName: sent.ChainName,
      activeShards: 8,
      bestBlocks: keys.map((key) => toBlock(Number(key), sent.BestBlocks[key])),
      beacon: { chainId: -1 },
      shard: { chainId: 7 },
    });
  });

  test('has a best block for the beacon chain and each shard, and null for a shard that does not exist', async () => {
    const { data, errors } = await gateway.ask(
      '{ beacon: bestBlock { chainId isBeacon epochBlock } shard: bestBlock(chainId: 3) { chainId isBeacon epoch } none: bestBlock(chainId: 8) { id } no: bestBlock(chainId: -2) { id } chainInfo { shard(id: -1) { id } } }',
    );
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      beacon: { chainId: -1, isBeacon: true, epochBlock: 350 },
      shard: { chainId: 3, isBeacon: false, epoch: 0 },
      none: null,
      no: null,
      chainInfo: { shard: null },
    });
  });
});

type SentBlock = { ValidationData: string } & Readonly<Record<string, string | number>>;

function toBlock(chainId: number, block: SentBlock): object {
  const data = block.ValidationData === '' ? null : JSON.parse(block.ValidationData);
  return {
    id: `BestBlock:${chainId}`,
    chainId,
    isBeacon: chainId === -1,
    height: block['Height'],
    hash: block['Hash'],
    totalTxs: String(block['TotalTxs']),
    blockProducer: block['BlockProducer'],
    validationDataRaw: block.ValidationData,
    epoch: block['Epoch'],
    time: new Date(Number(block['Time']) * 1000).toISOString(),
    remainingBlockEpoch: block['RemainingBlockEpoch'],
    epochBlock: block['EpochBlock'],
    validationData: data && {
      producerBlsSig: data.ProducerBLSSig,
      producerBriSig: data.ProducerBriSig,
      validatorsIdx: data.ValidatiorsIdx,
      aggSig: data.AggSig,
      bridgeSig: data.BridgeSig,
    },
  };
}
