import { describe, expect, test } from 'vitest';
import { BEACON_CHAIN_ID, type BestBlock, type ChainInfo, findBestBlock } from '../../src/domain/chain.ts';

function blockOf(chainId: number): BestBlock {
  return {
    chainId,
    height: 100 + chainId,
    hash: `hash of ${chainId}`,
    totalTxs: 0n,
    blockProducer: '',
    validationData: undefined,
    validationDataRaw: '',
    epoch: 0,
    time: 0,
    remainingBlockEpoch: 0,
    epochBlock: 0,
  };
}

describe('the newest block of a chain', () => {
  // A node need not know every shard: here it knows 0 and 2.
  const chain: ChainInfo = {
    chainName: 'testnet',
    activeShards: 3,
    beacon: blockOf(BEACON_CHAIN_ID),
    shards: [blockOf(0), blockOf(2)],
  };

  test('is found by -1 for the beacon chain, and by the id of a shard', () => {
    expect(findBestBlock(chain, -1)).toBe(chain.beacon);
    expect(findBestBlock(chain, 0)).toBe(chain.shards[0]);
    expect(findBestBlock(chain, 2)).toBe(chain.shards[1]);
  });

  test.each([1, 3, -2, 0.5])('does not exist for chain %d', (chainId) => {
    expect(findBestBlock(chain, chainId)).toBeUndefined();
  });
});
