import { BEACON_CHAIN_ID, type ChainInfo } from '../../../src/domain/chain.ts';
import type { ExchangeState } from '../../../src/domain/exchange.ts';
import { UpstreamRpcError } from '../../../src/errors.ts';
import type { Head } from '../../../src/live/chain/head.ts';
import { createNode, type Node } from '../../../src/live/chain/node.ts';
import { createHealthRecord } from '../../../src/upstream/health.ts';
import type { NodeClient } from '../../../src/upstream/node/client.ts';
import { exchangeStateOf } from '../../domain/pools.ts';
import { onlyV1, UNWATCHED, WITHOUT_V3 } from '../../upstream/connect.ts';

/** The chain info of a node with its tip at that height. */
export function chainInfoOf(height: number, hash = `block ${height}`, time = height * 40_000): ChainInfo {
  const beacon = {
    chainId: BEACON_CHAIN_ID,
    height,
    hash,
    totalTxs: 0n,
    blockProducer: '',
    validationData: undefined,
    validationDataRaw: '',
    epoch: 1,
    time,
    remainingBlockEpoch: 1,
    epochBlock: 1,
  };
  return { chainName: 'testnet', activeShards: 0, beacon, shards: [] };
}

/** An exchange without pools. */
export function exchangeOf(height: number): ExchangeState {
  return exchangeStateOf(height, []);
}

/** A head at that height. */
export function headOf(height: number, hash?: string, source: Node = NOBODY): Head {
  const chainInfo = chainInfoOf(height, hash);
  return {
    beaconHeight: height,
    previousHeight: undefined,
    hash: chainInfo.beacon.hash,
    time: chainInfo.beacon.time,
    chainInfo,
    exchange: exchangeOf(height),
    source,
    observedAt: 0,
  };
}

/** The source of a head that was read from no node. */
const NOBODY = createNode(scriptedNode({ tips: [], heights: [] }), {
  versions: onlyV1(),
  isRightChain: () => true,
  graceMs: 1,
  maxPauseMs: 1,
  watcher: UNWATCHED(),
});

/** A node that returns what a test says, in turn and the last for ever, and remembers its calls. */
export function scriptedNode(script: {
  readonly tips: readonly ChainInfo[];
  readonly heights: readonly number[];
}): NodeClient & { readonly calls: string[] } {
  const tips = [...script.tips];
  const heights = [...script.heights];
  const calls: string[] = [];

  return {
    name: 'scripted',
    calls,
    async chainInfo() {
      calls.push('chainInfo');
      const [tip = chainInfoOf(1)] = tips.length > 1 ? tips.splice(0, 1) : tips;
      return tip;
    },
    spaceMs: () => 0,
    health: createHealthRecord('NODE', () => 0).read,
    ...WITHOUT_V3,
    async beaconTip() {
      calls.push('beaconTip');
      const [height = 1] = heights.length > 1 ? heights.splice(0, 1) : heights;
      return { height, hash: undefined, previousHash: undefined };
    },
    async newestStateV1(height) {
      calls.push(`newestStateV1 ${height}`);
      return exchangeOf(height);
    },
    async earlierStateV1(height) {
      calls.push(`earlierStateV1 ${height}`);
      return exchangeOf(height);
    },
  };
}

/** The error of a node that has pruned a state. */
export function statePruned(): UpstreamRpcError {
  return new UpstreamRpcError(-8000, { because: '-8000: missing trie node 0a1b (path )' });
}

/** The error of a node that does not have a block yet. */
export function blockNotFound(height: number): UpstreamRpcError {
  const because = `-8000: Can't found ConsensusStateRootHash of beacon height ${height}`;
  return new UpstreamRpcError(-8000, { because: `${because}, error Beacon, Block Height ${height} not found` });
}

/** The error of a node that failed to read a state that it has. */
export function stateUnreadable(): UpstreamRpcError {
  return new UpstreamRpcError(-8000, { because: '-8000: open /data/7.ldb: too many open files' });
}
