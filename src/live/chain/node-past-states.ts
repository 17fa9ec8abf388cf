import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { BestBlock } from '../../domain/chain.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { UpstreamBadShapeError, UpstreamBusyError } from '../../errors.ts';
import type { NodeClient } from '../../upstream/node/client.ts';
import {
  isStateError,
  retryUntilStateExists,
  statePruned,
  whyStateIsMissing,
} from '../../upstream/node/state-not-found.ts';
import type { Watcher } from '../broadcast/follower.ts';
import { createRetainedHeights, type Standing } from './retained-heights.ts';
import type { ShownBlocks } from './shown-blocks.ts';

/**
 * Reads earlier states from one node, within a budget of errors: a node may limit the errors that it responds with, and then
 * closes every call. What its responses show about other heights is remembered.
 */
export type NodePastStates = {
  standing(height: BeaconHeight): Standing;
  /**
   * Reads a final state, without a call if the node is known to have pruned it.
   *
   * @param newest the newest final height
   * @throws UpstreamBusyError if the budget of errors is used up, UpstreamError
   */
  readFinal(height: BeaconHeight, newest: BeaconHeight, signal: AbortSignal): Promise<ExchangeState>;
  /**
   * Reads a state that can still be replaced together with the block of the head. Behind a load balancer it must have the
   * time of the block that was shown at its height. Otherwise the node's tip must still be the head's block, or another
   * height, after the state was read.
   *
   * @throws as above
   */
  readNearTip(height: BeaconHeight, headBlock: BestBlock, signal: AbortSignal): Promise<ExchangeState>;
  /** The highest height that the node is known to have pruned. */
  prunedUpTo(): BeaconHeight | undefined;
};

const TOO_MANY_ERRORS =
  'responded with too many errors in the last minutes, so the gateway limits reads of earlier states';

const twoChains = (height: BeaconHeight, common: BeaconHeight) =>
  `its state of beacon height ${height} can be of a branch, because it has shown two chains, which may differ above ${common}`;

/**
 * Behind a load balancer a state can be that of another block. It is requested at most this number of times, until it has the
 * time of the block.
 */
const CALLS_FOR_A_BLOCK = 4;

/** Maximum number of risky calls at once: calls that may well fail. What they show, the others need not call for. */
const RISKY_AT_ONCE = 4;

/**
 * Calls for heights that the node has are not risky, unless the node failed to read the last one and fewer errors than this
 * are left.
 */
const ENOUGH_ERRORS = 14;

/** A node that is behind is not called again at once for these: other calls need them. */
const KEPT_FROM_RETRIES = 8;

/**
 * Creates the reader of one node's earlier states, of which nothing is known yet.
 *
 * @param watcher notified when the node begins to fail at states that it should have, and when it reads one again
 */
export function createNodePastStates(node: NodeClient, shown: ShownBlocks, watcher: Watcher): NodePastStates {
  const retained = createRetainedHeights();
  const { standing, errors } = retained;
  /** Each with the error that it may cause reserved in the budget. */
  const riskyCalls = new Set<Promise<unknown>>();
  let isFailing = false;

  async function call(height: BeaconHeight, toKeep: number, signal: AbortSignal): Promise<ExchangeState> {
    if (!errors.has(1 + toKeep)) throw new UpstreamBusyError('NODE', TOO_MANY_ERRORS);
    const forRetries = { ...errors, has: (wanted: number) => errors.has(wanted + KEPT_FROM_RETRIES) };
    try {
      const state = await retryUntilStateExists(() => node.earlierState(height, signal), forRetries, signal);
      retained.found(height);
      if (isFailing) watcher.recovered();
      isFailing = false;
      return state;
    } catch (error) {
      const why = whyStateIsMissing(error);
      if (why === 'pruned') retained.pruned(height);
      if (why === 'future') retained.behind(height);
      if (why === undefined && isStateError(error)) {
        if (!isFailing) watcher.failed(error);
        isFailing = true;
      }
      throw error;
    }
  }

  async function callWithReservedError(height: BeaconHeight, toKeep: number, signal: AbortSignal) {
    const state = call(height, toKeep, signal);
    errors.spend();
    riskyCalls.add(state);
    try {
      return await state;
    } finally {
      riskyCalls.delete(state);
      errors.earn(1);
    }
  }

  function isRisky(height: BeaconHeight): boolean {
    return standing(height) !== 'retained' || (isFailing && !errors.has(ENOUGH_ERRORS));
  }

  /** Whether a call waits for others, which show whether the node has the height, or whether it fails. */
  function hasToWait(height: BeaconHeight, toKeep: number): boolean {
    if (riskyCalls.size === 0 || standing(height) === 'pruned' || !isRisky(height)) return false;
    return riskyCalls.size >= RISKY_AT_ONCE || !errors.has(1 + toKeep);
  }

  return {
    standing,
    async readFinal(height, newest, signal) {
      const common = shown.commonHeight();
      if (common !== undefined && height > common) throw new UpstreamBadShapeError('NODE', twoChains(height, common));
      for (let isProbed = false; ; isProbed = true) {
        // Nothing is awaited from here to the call, so no more calls begin than may.
        while (hasToWait(height, retained.errorsToKeep(height, newest))) await Promise.race(riskyCalls).catch(() => {});
        const probe = isProbed ? undefined : retained.probeFor(height, newest);
        const toKeep = retained.errorsToKeep(height, newest);
        if (probe !== undefined) await callWithReservedError(probe, toKeep, signal);
        else if (standing(height) === 'pruned') throw statePruned({ host: node.name });
        else return (isRisky(height) ? callWithReservedError : call)(height, toKeep, signal);
      }
    },
    async readNearTip(height, headBlock, signal) {
      for (let calls = 0; calls < CALLS_FOR_A_BLOCK; calls++) {
        const block = shown.blockAt(height);
        if (block === 'uncertain') break;
        const state = await call(height, 0, signal);
        if (block !== undefined && state.time === block.time) return state;
        if (block !== undefined && state.time !== undefined) continue;
        const { beacon: tip } = await node.chainInfo(signal);
        if (tip.height === headBlock.height && tip.hash !== headBlock.hash) break;
        return state;
      }
      throw new UpstreamBadShapeError('NODE', 'the newest blocks changed while the gateway read them');
    },
    prunedUpTo: retained.prunedUpTo,
  };
}
