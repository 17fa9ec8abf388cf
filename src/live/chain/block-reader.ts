import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { BestBlock, ChainInfo } from '../../domain/chain.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { UpstreamBadShapeError } from '../../errors.ts';
import type { NodeClient } from '../../upstream/node/client.ts';
import { createErrorBudget, type ErrorBudget } from '../../upstream/node/error-budget.ts';
import { askUntilStateIsThere } from '../../upstream/node/state-not-found.ts';

/** One block, and the exchange as it left it. */
export type WholeBlock = { readonly chainInfo: ChainInfo; readonly exchange: ExchangeState };

/**
 * Reads the newest block of a node as documented, whole and from that node alone.
 *
 * A state belongs to the block that has its time. The URL of a node can be that of a load balancer in front of several
 * nodes with different blocks at the tip, so this is compared in every case. Two blocks of one height that were made in the
 * same second cannot be told apart; the next look at the tip shows the other hash.
 *
 * @param tip the chain as the node shows it
 * @throws UpstreamError
 */
export type ReadBlock = (node: NodeClient, tip: ChainInfo, signal: AbortSignal) => Promise<WholeBlock>;

/** A block can arrive between two calls: the lower of two heights is asked for again this often. */
const TIMES_ASKED_TO_AGREE = 2;

/**
 * How often a node that does not have the state of its tip is called again at once. A block that is read gives some back: a
 * node behind a load balancer can be late at every block. Where nothing is left, the next look calls it again.
 */
const ERRORS_AT_TIP = { burst: 12, perMinute: 1 };
const ERRORS_PER_BLOCK = 2;

/** A block can be replaced while it is read: then its state is read again this often. */
const TIMES_READ_AGAIN = 3;

/**
 * Behind a load balancer the state can come from a node with another block than the tip: the tip is requested again this
 * often, until one has the time of the state.
 */
const TIPS_FOR_A_STATE = 4;

/**
 * Makes the reader of blocks.
 *
 * @param disagreed told when a node's two sources of the height still differ after it was asked again, once until they agree
 */
export function createBlockReader(disagreed: (chainInfo: BeaconHeight, beaconState: BeaconHeight) => void): ReadBlock {
  const disagreeing = new WeakSet<NodeClient>();
  const errors = new WeakMap<NodeClient, ErrorBudget>();

  function errorsOf(node: NodeClient): ErrorBudget {
    const budget = errors.get(node) ?? createErrorBudget(ERRORS_AT_TIP);
    errors.set(node, budget);
    return budget;
  }

  /** What a node says of the block to read: once its two sources of the height agree, or the first where they do not. */
  async function agree(node: NodeClient, tip: ChainInfo, signal: AbortSignal): Promise<ChainInfo> {
    // Where calls are scarce, that of the second source is left out: the state at the tip's height confirms the height too.
    if (node.spaceMs() > 0) return tip;
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
    const shown = [tip];

    async function nextTip(): Promise<ChainInfo> {
      const next = await node.chainInfo(signal);
      shown.push(next);
      return next;
    }

    /** The tip that a state belongs to: of those that were shown, or that the node shows when it is called again. */
    async function tipOf(state: ExchangeState): Promise<ChainInfo | undefined> {
      for (let calls = 0; calls <= TIPS_FOR_A_STATE; calls++) {
        const found = shown.findLast(({ beacon }) => isBlockOf(state, beacon));
        if (found !== undefined || calls === TIPS_FOR_A_STATE) return found;
        const { beacon } = await nextTip();
        // The chain has gone on: its newest block is read instead.
        if (beacon.height > state.beaconHeight) return undefined;
      }
      return undefined;
    }

    /** The same for a node that does not name the time of a state: its tip must be the same block before and after. */
    async function unlessReplaced(before: ChainInfo): Promise<ChainInfo | undefined> {
      const { beacon } = await nextTip();
      return beacon.height === before.beacon.height && beacon.hash !== before.beacon.hash ? undefined : before;
    }

    let misfit = '';
    for (let again = 0; again <= TIMES_READ_AGAIN; again++) {
      const agreed = await agree(node, shown.reduce(higherOf), signal);
      shown.push(agreed);
      const { height } = agreed.beacon;
      const exchange = await askUntilStateIsThere(() => node.exchangeState(height, signal), errorsOf(node), signal);
      errorsOf(node).earn(ERRORS_PER_BLOCK);
      const chainInfo = await (exchange.time === undefined ? unlessReplaced(agreed) : tipOf(exchange));
      if (chainInfo !== undefined) return { chainInfo, exchange };
      misfit =
        exchange.time === undefined
          ? 'the newest block changed each time the gateway read it'
          : 'none of its blocks has the time of its exchange state';
    }
    throw new UpstreamBadShapeError('NODE', misfit, { host: node.name });
  };
}

/** Whether the state is that of the block: they have the same height and time. */
function isBlockOf({ beaconHeight, time }: ExchangeState, block: BestBlock): boolean {
  return block.height === beaconHeight && block.time === time;
}

function higherOf(a: ChainInfo, b: ChainInfo): ChainInfo {
  return b.beacon.height >= a.beacon.height ? b : a;
}
