import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ChainInfo } from '../domain/chain.ts';
import type { ExchangeState } from '../domain/exchange.ts';
import { UpstreamBadShapeError } from '../errors.ts';
import type { NodeClient } from '../upstream/node/client.ts';
import { askUntilStateIsThere } from '../upstream/node/state-not-found.ts';

/** One block, and the exchange as it left it. */
export type WholeBlock = { readonly chainInfo: ChainInfo; readonly exchange: ExchangeState };

/**
 * Reads the newest block of a node as documented, whole and from that node alone.
 *
 * @param tip what the node shows
 * @throws UpstreamError
 */
export type ReadBlock = (node: NodeClient, tip: ChainInfo, signal: AbortSignal) => Promise<WholeBlock>;

/** A block can arrive between two calls: the lower of two heights is asked for again this often. */
const TIMES_ASKED_TO_AGREE = 2;

/** A block can be replaced while it is read: then it is read again this often. */
const TIMES_READ_AGAIN = 2;

/**
 * Makes the reader of blocks.
 *
 * @param disagreed told when a node's two sources of the height still differ after it was asked again, once until they agree
 */
export function createBlockReader(disagreed: (chainInfo: BeaconHeight, beaconState: BeaconHeight) => void): ReadBlock {
  const disagreeing = new WeakSet<NodeClient>();

  /** What a node says of the block to read: once its two sources of the height agree, or the first where they do not. */
  async function agree(node: NodeClient, tip: ChainInfo, signal: AbortSignal): Promise<ChainInfo> {
    let chainInfo = tip;
    let beaconHeight = await node.beaconHeight(signal);
    for (let asked = 0; asked < TIMES_ASKED_TO_AGREE && chainInfo.beacon.height !== beaconHeight; asked++) {
      if (chainInfo.beacon.height < beaconHeight) chainInfo = higherOf(chainInfo, await node.chainInfo(signal));
      else beaconHeight = Math.max(beaconHeight, await node.beaconHeight(signal));
    }

    const agrees = chainInfo.beacon.height === beaconHeight;
    if (!agrees && !disagreeing.has(node)) disagreed(chainInfo.beacon.height, beaconHeight);
    if (agrees) disagreeing.delete(node);
    else disagreeing.add(node);
    return chainInfo;
  }

  return async (node, tip, signal) => {
    let newest = tip;
    for (let again = 0; again <= TIMES_READ_AGAIN; again++) {
      const chainInfo = await agree(node, newest, signal);
      const { height } = chainInfo.beacon;
      const exchange = await askUntilStateIsThere(() => node.exchangeState(height, signal), signal);
      newest = await node.chainInfo(signal);
      if (!isReplaced(chainInfo, newest, exchange)) return { chainInfo, exchange };
    }
    throw new UpstreamBadShapeError('NODE', 'its newest block was replaced each time that it was read', {
      host: node.name,
    });
  };
}

/**
 * Whether the block that was read was replaced before its state was. Where the chain has gone on since, its hash can no
 * longer be seen, but its time can: the state tells it too.
 */
function isReplaced({ beacon }: ChainInfo, newest: ChainInfo, { time }: ExchangeState): boolean {
  if (newest.beacon.height === beacon.height) return newest.beacon.hash !== beacon.hash;
  return newest.beacon.height > beacon.height && time !== undefined && time !== beacon.time;
}

function higherOf(a: ChainInfo, b: ChainInfo): ChainInfo {
  return b.beacon.height >= a.beacon.height ? b : a;
}
