import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { BestBlock, ChainInfo } from '../../domain/chain.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { UpstreamBadShapeError } from '../../errors.ts';
import type { NodeClient } from '../../upstream/node/client.ts';
import type { ReadKind } from './node-record.ts';

/** The newest block as one node has shown it, and the exchange after it. */
export type ReadBlock = {
  readonly chainInfo: ChainInfo;
  readonly exchange: ExchangeState;
  /** The hash of the block below it; `undefined` if the node did not report it for this very block. */
  readonly previousHash: string | undefined;
};

/**
 * Reads the exchange at a height that the chain has reached. It calls again if the node has not reached the height, as long as its
 * budget of errors of this kind lasts.
 *
 * @returns `undefined` if the node has shown the pools of one block and the parameters of another
 * @throws UpstreamError
 */
export type ReadState = (request: StateRequest, signal: AbortSignal) => Promise<ExchangeState | undefined>;

type StateRequest = {
  readonly kind: ReadKind;
  readonly height: BeaconHeight;
  /** Whether it is that of the first version, also where the third one trades. */
  readonly isV1?: boolean | undefined;
};

/** Behind a load balancer, a state or its orders can be those of another block. They are read at most this number of times. */
export const MAX_READS_OF_A_STATE = 4;

/** How often `beaconTip` is called until it has reached the tip of `chainInfo`: a block can arrive between the two calls. */
const CALLS_FOR_A_TIP = 2;

/** A block can be replaced while it is read: number of times that its state is read again then. */
const RETRIES_OF_STATE = 3;

/** Behind a load balancer the state can be of another block than the tip: number of times that the tip is requested again. */
const TIPS_FOR_A_STATE = 4;

/**
 * Creates the function that reads the newest block of one node, given a tip that the node has shown. It throws UpstreamError.
 *
 * A state belongs to the block that has its time. The URL of a node can be that of a load balancer in front of several
 * nodes with different blocks at the tip, so this is always compared. Two blocks of one height that were made in the same
 * second cannot be told apart: the next poll shows the other hash.
 */
export function createBlockReader(node: NodeClient, readState: ReadState) {
  /**
   * The chain info of the block to read: the tip, or a later one if `beaconTip` is above it.
   *
   * @param parents gets the hash of the block below each block that `beaconTip` has shown, by the hash of that block:
   *   behind a load balancer it can be another block than the one that is read
   */
  async function newestTip(tip: ChainInfo, parents: Map<string, string>, signal: AbortSignal): Promise<ChainInfo> {
    // If the node limits the rate of calls, `beaconTip` is left out: the state also confirms the height.
    if (node.spaceMs() > 0) return tip;
    let beaconHeight = 0;
    for (let calls = 0; calls < CALLS_FOR_A_TIP && beaconHeight < tip.beacon.height; calls++) {
      const { height, hash, previousHash } = await node.beaconTip(signal);
      if (hash !== undefined && previousHash !== undefined) parents.set(hash, previousHash);
      beaconHeight = height;
    }
    return beaconHeight > tip.beacon.height ? higherOf(tip, await node.chainInfo(signal)) : tip;
  }

  return async (tip: ChainInfo, signal: AbortSignal): Promise<ReadBlock> => {
    const tips = [tip];
    const parents = new Map<string, string>();

    async function nextTip(): Promise<ChainInfo> {
      const next = await node.chainInfo(signal);
      tips.push(next);
      return next;
    }

    /** The tip that a state belongs to: one that was shown before, or one that the node shows when it is called again. */
    async function tipOf(state: ExchangeState): Promise<ChainInfo | undefined> {
      for (let calls = 0; ; calls++) {
        const found = tips.findLast(({ beacon }) => isBlockOf(state, beacon));
        if (found !== undefined || calls === TIPS_FOR_A_STATE) return found;
        const { beacon } = await nextTip();
        // The chain has moved on: its newest block is read instead.
        if (beacon.height > state.beaconHeight) return undefined;
      }
    }

    /** The same for a node whose states have no time: afterwards, its tip must not be another block of that height. */
    async function unlessReplaced(before: ChainInfo): Promise<ChainInfo | undefined> {
      const { beacon } = await nextTip();
      return beacon.height === before.beacon.height && beacon.hash !== before.beacon.hash ? undefined : before;
    }

    let reason = '';
    for (let retries = 0; retries <= RETRIES_OF_STATE; retries++) {
      const newest = await newestTip(tips.reduce(higherOf), parents, signal);
      tips.push(newest);
      const { height } = newest.beacon;
      const exchange = await readState({ kind: 'newBlocks', height }, signal);
      if (exchange === undefined) {
        reason = 'its pools and its parameters are of two blocks';
        continue;
      }
      const chainInfo = await (exchange.time === undefined ? unlessReplaced(newest) : tipOf(exchange));
      if (chainInfo !== undefined) return { chainInfo, exchange, previousHash: parents.get(chainInfo.beacon.hash) };
      reason =
        exchange.time === undefined
          ? 'the newest block changed each time the gateway read it'
          : 'none of its blocks has the time of its exchange state';
    }
    throw new UpstreamBadShapeError('NODE', reason, { host: node.name });
  };
}

/** Whether the state is that of the block: they have the same height and time. */
function isBlockOf({ beaconHeight, time }: ExchangeState, block: BestBlock): boolean {
  return block.height === beaconHeight && block.time === time;
}

function higherOf(a: ChainInfo, b: ChainInfo): ChainInfo {
  return b.beacon.height >= a.beacon.height ? b : a;
}
