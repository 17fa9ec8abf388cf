import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { UpstreamBadShapeError, UpstreamBusyError } from '../../errors.ts';
import type { NodeClient } from '../../upstream/node/client.ts';
import {
  askUntilStateIsThere,
  blockNotFound,
  isStateError,
  statePruned,
  whyStateIsMissing,
} from '../../upstream/node/state-not-found.ts';
import type { Head } from './head.ts';
import type { ShownBlock } from './nodes.ts';
import { createRetainedHeights, type RetainedHeights, type Standing } from './retained-heights.ts';

/**
 * Reads earlier states from one node, and remembers which heights each node has pruned: a node may limit the errors that it
 * answers with, and then closes every call.
 */
export type NodeStates = {
  standing(node: NodeClient, height: BeaconHeight): Standing;
  /**
   * Reads a final state, without a call where the node is known to have pruned it.
   *
   * @param newest the newest final height
   * @throws UpstreamBusyError where the node has answered with too many errors, UpstreamError
   */
  readFinal(node: NodeClient, height: BeaconHeight, newest: BeaconHeight, signal: AbortSignal): Promise<ExchangeState>;
  /**
   * Reads a state that can still be replaced. Behind a load balancer it must have the time of the block that was shown at its
   * height. Where none was shown, and at every other node, the head's block must still be the node's after the state was read.
   *
   * @throws as above
   */
  readNearTip(node: NodeClient, height: BeaconHeight, below: BelowHead, signal: AbortSignal): Promise<ExchangeState>;
  /** The highest height that a node is known to have pruned. */
  prunedUpTo(node: NodeClient): BeaconHeight | undefined;
};

const TOO_MANY_ERRORS =
  'responded with too many errors in the last minutes, so the gateway limits reads of earlier states';

/** Behind a load balancer a state can be that of another block: it is requested so often until it has the block's time. */
const CALLS_FOR_A_BLOCK = 4;

/** As many calls that may well fail are under way at one node. What they show, the others need not call for. */
const RISKY_AT_ONCE = 4;

/**
 * Calls for heights that the node has are not risky, unless the node failed to read one of them last and fewer errors than
 * this are left.
 */
const ENOUGH_ERRORS = 14;

/** A node that is behind is not called again at once for these: other calls need them. */
const KEPT_FROM_RETRIES = 8;

/** Creates the reader of earlier states, with nothing known of any node. */
export function createNodeStates(): NodeStates {
  const known = new Map<NodeClient, KnownNode>();

  function knownOf(node: NodeClient): KnownNode {
    const there: KnownNode = known.get(node) ?? {
      retained: createRetainedHeights(),
      risky: new Set(),
      isFailing: false,
    };
    known.set(node, there);
    return there;
  }

  async function call(node: NodeClient, height: BeaconHeight, toKeep: number, signal: AbortSignal) {
    const known = knownOf(node);
    const { retained } = known;
    const { errors } = retained;
    if (!errors.has(1 + toKeep)) throw new UpstreamBusyError('NODE', TOO_MANY_ERRORS);
    const forRetries = { ...errors, has: (wanted: number) => errors.has(wanted + KEPT_FROM_RETRIES) };
    try {
      const state = await askUntilStateIsThere(() => node.earlierState(height, signal), forRetries, signal);
      retained.found(height);
      known.isFailing = false;
      return state;
    } catch (error) {
      const why = whyStateIsMissing(error);
      if (why === undefined && isStateError(error)) known.isFailing = true;
      if (why === 'pruned') retained.pruned(height);
      if (why === 'future') retained.behind(height);
      throw error;
    }
  }

  /** Makes a call that may well fail, with the error that it may cause set aside. */
  async function risk(node: NodeClient, height: BeaconHeight, toKeep: number, signal: AbortSignal) {
    const { retained, risky } = knownOf(node);
    const state = call(node, height, toKeep, signal);
    retained.errors.spend();
    risky.add(state);
    try {
      return await state;
    } finally {
      risky.delete(state);
      retained.errors.earn(1);
    }
  }

  function isRisky({ retained: { standing, errors }, isFailing }: KnownNode, height: BeaconHeight): boolean {
    return standing(height) !== 'retained' || (isFailing && !errors.has(ENOUGH_ERRORS));
  }

  /** Whether a call has to wait for others that show whether the node has the height, or whether it fails. */
  function hasToWait(known: KnownNode, height: BeaconHeight, toKeep: number): boolean {
    const { retained, risky } = known;
    if (risky.size === 0 || retained.standing(height) === 'pruned' || !isRisky(known, height)) return false;
    return risky.size >= RISKY_AT_ONCE || !retained.errors.has(1 + toKeep);
  }

  return {
    standing: (node, height) => knownOf(node).retained.standing(height),
    async readFinal(node, height, newest, signal) {
      const known = knownOf(node);
      const { retained, risky } = known;
      for (let isProbed = false; ; isProbed = true) {
        // From here to the call nothing is awaited, so no more calls begin than may.
        while (hasToWait(known, height, retained.errorsToKeep(height, newest)))
          await Promise.race(risky).catch(() => {});
        const probe = isProbed ? undefined : retained.probeFor(height, newest);
        const toKeep = retained.errorsToKeep(height, newest);
        if (probe !== undefined) await risk(node, probe, toKeep, signal);
        else if (retained.standing(height) === 'pruned') throw statePruned({ host: node.name });
        else return isRisky(known, height) ? risk(node, height, toKeep, signal) : call(node, height, toKeep, signal);
      }
    },
    async readNearTip(node, height, { head, blockBelow }, signal) {
      for (let calls = 0; calls < CALLS_FOR_A_BLOCK; calls++) {
        const block = blockBelow();
        if (block === 'uncertain') break;
        const state = await call(node, height, 0, signal);
        if (block !== undefined && state.time === block.time) return state;
        if (block !== undefined && state.time !== undefined) continue;
        const { beacon: tip } = await node.chainInfo(signal);
        if (tip.height === head.beaconHeight && tip.hash !== head.hash) break;
        return state;
      }
      throw new UpstreamBadShapeError('NODE', 'the newest blocks changed while the gateway read them');
    },
    prunedUpTo: (node) => knownOf(node).retained.prunedUpTo(),
  };
}

/** A head, and the block below it at the height that is read, where it must be known; see `Nodes`. */
export type BelowHead = { readonly head: Head; blockBelow(): ShownBlock | 'uncertain' | undefined };

/** What is known of a node, and the calls under way that may well fail. */
type KnownNode = {
  readonly retained: RetainedHeights;
  readonly risky: Set<Promise<unknown>>;
  /** Whether the last state that the node answered about could not be read by it. */
  isFailing: boolean;
};

/** @throws what a node that is behind does, where its tip is not the head's block: what it has may stand on others */
export async function requireTip(node: NodeClient, { beaconHeight, hash }: Head, signal: AbortSignal): Promise<void> {
  const { beacon: tip } = await node.chainInfo(signal);
  if (tip.hash !== hash) throw blockNotFound(beaconHeight, { host: node.name });
}
