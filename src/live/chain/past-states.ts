import { LRUCache } from 'lru-cache';
import { type BeaconHeight, isFinal, newestFinal } from '../../domain/beacon-height.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { HeightNotAvailableError, UpstreamBusyError } from '../../errors.ts';
import type { Bulkhead, QueuedCall } from '../../upstream/bulkhead.ts';
import type { Requester } from '../../upstream/fair-queue.ts';
import { blockNotFound, statePruned, whyStateIsMissing } from '../../upstream/node/state-not-found.ts';
import { type ReadOnce, readAlone } from '../fleet-port.ts';
import type { Head } from './head.ts';
import type { Node } from './node.ts';
import type { Nodes } from './nodes.ts';
import type { PoolCounts } from './pool-counts.ts';
import { readProbing } from './probing.ts';
import type { Standing } from './retained-heights.ts';
import type { ShownBlock } from './shown-blocks.ts';

/** Reads the exchange as it was at a height below a head. All requests for one state share one read. */
export type PastStates = {
  /**
   * @param requester the client and operation that wait for it in the queue
   * @throws HeightNotAvailableError for a height that every node has pruned, UpstreamError
   */
  read(height: BeaconHeight, head: Head, requester: Requester): Promise<ExchangeState>;
  /**
   * Reads several heights for one operation, with few calls if every node has pruned them.
   *
   * @returns the state of each height, or why it cannot be read
   */
  readAll(heights: readonly BeaconHeight[], head: Head, requester: Requester): Promise<(ExchangeState | Error)[]>;
  /**
   * Reads a final state that no client waits for. It takes no place in the cache of states.
   *
   * @throws as `read`
   */
  readInBackground(height: BeaconHeight, head: Head): Promise<ExchangeState>;
  /** Whether reads in the background should wait, because clients are waiting for many states. */
  isBusy(): boolean;
  /** Whether a state has lost no pools, as far as other heights show. An incomplete one is read again when it is next requested. */
  isComplete(state: ExchangeState): boolean;
};

/** A final height of a chain. */
export type FinalHeight = {
  readonly chainName: string;
  readonly height: BeaconHeight;
  /** Whether a state of it has all pools. Only such a state is for all replicas. */
  readonly isComplete: (state: ExchangeState) => boolean;
};

type PastStatesOptions = {
  readonly nodes: Pick<Nodes, 'all' | 'firstSuccess' | 'sharingBlock'>;
  readonly bulkhead: Bulkhead;
  readonly poolCounts: PoolCounts;
  /** Reads a final state for a client; alone by default. */
  readonly readOnce?: ReadState | undefined;
};

type ReadState = ReadOnce<FinalHeight, ExchangeState>;

/** A state, or a read of it that waits or is under way. */
type QueuedState = QueuedCall<ExchangeState>;

/** Enough for a page of history, or for the points of a chart. */
const MAX_FINAL_STATES = 64;

/** Calls for a state near the tip: perhaps the tip first, then the state, and the tip again. */
const CALLS_NEAR_TIP = 2;

/** Calls for a final state: calls of others that may decide about it, a probe, and the state. */
const CALLS_FOR_FINAL = 3;

/** In this order nodes are called for a final state. */
const STANDINGS: readonly Standing[] = ['retained', 'unknown', 'behind', 'pruned'];

/** All reads in the background have one share of the queue. */
const BACKGROUND: Requester = { client: Symbol('background') };

/** The few states above the final ones that are kept for one head. */
const MAX_STATES_UNDER_A_HEAD = 1_000;

/**
 * Creates the past states.
 *
 * Final states never change and stay in an LRU cache. The few blocks below the tip can still be replaced together with it,
 * so their states are kept only as long as the head under which they were read.
 *
 * A state is read from the head's own node, or from one that has shown a block which this one has shown too: the head's, or
 * for a final state any block under which it is final. Only when all of these have pruned a height it counts as pruned.
 * Nodes that have not shown such a block are called last, because they may have come to it since the last poll: their tip
 * is polled again first. A node that is paused is called after the others.
 */
export function createPastStates(options: PastStatesOptions): PastStates {
  const { nodes, bulkhead, poolCounts, readOnce = readAlone } = options;
  const final = new LRUCache<BeaconHeight, QueuedState>({ max: MAX_FINAL_STATES });
  const finalUnderWay = new Map<BeaconHeight, QueuedState>();
  const underHead = new WeakMap<Head, LRUCache<BeaconHeight, QueuedState>>();

  function statesUnder(head: Head): LRUCache<BeaconHeight, QueuedState> {
    const states = underHead.get(head) ?? new LRUCache({ max: MAX_STATES_UNDER_A_HEAD });
    underHead.set(head, states);
    return states;
  }

  function knownRead(height: BeaconHeight, head: Head): QueuedState | undefined {
    return final.get(height) ?? finalUnderWay.get(height) ?? statesUnder(head).get(height);
  }

  /** The nodes that have the chain of the head up to a final height. A block above it may still be replaced. */
  function nodesForFinal(height: BeaconHeight, head: Head): readonly Node[] {
    return nodes.sharingBlock(head.source, (block) => isFinal(height, block.height));
  }

  function standings(height: BeaconHeight, head: Head): readonly Standing[] {
    return nodesForFinal(height, head).map((node) => node.pastStates.standing(height));
  }

  async function read(height: BeaconHeight, head: Head, requester: Requester): Promise<ExchangeState> {
    const known = knownRead(height, head);
    if (known !== undefined) return known.wait(requester);
    if (!isFinal(height, head.beaconHeight)) return readNearTip(height, head).wait(requester);
    refuseIfPruned(height, head);
    return readFinal(height, head).wait(requester);
  }

  async function readInBackground(height: BeaconHeight, head: Head): Promise<ExchangeState> {
    const known = final.peek(height) ?? finalUnderWay.get(height);
    if (known !== undefined) return known.wait(BACKGROUND);
    refuseIfPruned(height, head);
    return queueFinal(height, head, readAlone).wait(BACKGROUND);
  }

  /** A height that every node has pruned needs no call, so it does not wait in the queue. */
  function refuseIfPruned(height: BeaconHeight, head: Head): void {
    if (standings(height, head).every((standing) => standing === 'pruned'))
      throw new HeightNotAvailableError(height, head.beaconHeight);
  }

  function isUnknown(height: BeaconHeight, head: Head): boolean {
    if (!isFinal(height, head.beaconHeight) || knownRead(height, head) !== undefined) return false;
    const known = standings(height, head);
    return known.includes('unknown') && !known.includes('retained');
  }

  function queueFinal(height: BeaconHeight, head: Head, readFor: ReadState): QueuedState {
    const { chainName } = head.chainInfo;
    const rank = ({ pastStates }: Node) => STANDINGS.indexOf(pastStates.standing(height));
    return queueRead(height, head, {
      isAccepted: (block) => isFinal(height, block.height),
      inOrder: (sharing) => sharing.toSorted((a, b) => rank(a) - rank(b)),
      others: () => nodes.all.filter((node) => node.isResponding()),
      // A node of another chain has nothing to say about whether the height is pruned.
      notSharing: (node) => statePruned({ host: node.name }),
      calls: CALLS_FOR_FINAL,
      readFrom: (node, signal) => node.pastStates.readFinal(height, newestFinal(head.beaconHeight), signal),
      readOnce: (read) => readFor({ chainName, height, isComplete: poolCounts.isWhole }, read),
    });
  }

  function readFinal(height: BeaconHeight, head: Head): QueuedState {
    const queued = queueFinal(height, head, readOnce);
    finalUnderWay.set(height, queued);
    queued.answer
      .then(
        // A state with lost pools is read again when it is next requested.
        (state) => poolCounts.isWhole(state) && final.set(height, queued),
        () => undefined,
      )
      .finally(() => finalUnderWay.delete(height));
    return queued;
  }

  function readNearTip(height: BeaconHeight, head: Head): QueuedState {
    const states = statesUnder(head);
    const queued = queueRead(height, head, {
      isAccepted: (block) => block.hash === head.hash,
      inOrder: (sharing) => sharing,
      others: () => nodes.all,
      notSharing: (node) => blockNotFound(head.beaconHeight, { host: node.name }),
      calls: CALLS_NEAR_TIP,
      readFrom: (node, signal) => node.pastStates.readNearTip(height, head.chainInfo.beacon, signal),
      // The replicas of a fleet may disagree about it.
      readOnce: (read) => read(),
    });
    states.set(height, queued);
    queued.answer.catch((error) => error instanceof HeightNotAvailableError || states.delete(height));
    return queued;
  }

  function queueRead(height: BeaconHeight, head: Head, plan: ReadPlan): QueuedState {
    const sharing = () => nodes.sharingBlock(head.source, plan.isAccepted);

    /** Reads, and records in the health of the node how it went. @param slower the nodes that were called before */
    async function readFrom(node: Node, slower: readonly Node[], signal: AbortSignal): Promise<ExchangeState> {
      try {
        if (!sharing().includes(node)) await node.pollTip().catch(() => {});
        if (!sharing().includes(node)) throw plan.notSharing(node);
        const state = await plan.readFrom(node, signal);
        node.pastReads.succeeded();
        for (const overtaken of slower)
          if (overtaken.pastStates.standing(height) !== 'pruned') overtaken.pastReads.overtaken();
        return state;
      } catch (error) {
        // That the node does not have a state is an answer. That the gateway does not call it is no fault of the node.
        const isFailure = whyStateIsMissing(error) === undefined && !(error instanceof UpstreamBusyError);
        if (isFailure && !signal.aborted) node.pastReads.failed(error);
        throw error;
      }
    }

    async function readFromAny(): Promise<ExchangeState> {
      const all = [...new Set([...plan.inOrder(sharing()), ...plan.others()])];
      const order = all.toSorted((a, b) => Number(a.pastReads.isPaused()) - Number(b.pastReads.isPaused()));
      const left = order.entries();
      try {
        return await nodes.firstSuccess(async () => {
          const [place, node] = left.next().value ?? [];
          return node && ((signal) => readFrom(node, order.slice(0, place), signal));
        }, plan.calls);
      } catch (error) {
        throw whyStateIsMissing(error) === 'pruned' ? new HeightNotAvailableError(height, head.beaconHeight) : error;
      }
    }

    return bulkhead.queue(() => plan.readOnce(readFromAny));
  }

  return {
    read,
    readInBackground,
    isBusy: bulkhead.isBusy,
    readAll: (heights, head, requester) =>
      readProbing(heights, {
        isUnknown: (height) => isUnknown(height, head),
        read: (height) => read(height, head, requester),
      }),
    isComplete: poolCounts.isWhole,
  };
}

/** From which nodes a state is read, and how. */
type ReadPlan = {
  /** A node that has shown one of these blocks, as the head's node has, has the state of the head's chain. */
  readonly isAccepted: (block: ShownBlock) => boolean;
  readonly inOrder: (sharing: readonly Node[]) => readonly Node[];
  /** Nodes that are called after these, if their tip then shows an accepted block. */
  readonly others: () => readonly Node[];
  /** The error of one whose tip does not. */
  readonly notSharing: (node: Node) => Error;
  /** How many calls a read makes, one after another. */
  readonly calls: number;
  readonly readFrom: (node: Node, signal: AbortSignal) => Promise<ExchangeState>;
  /** Reads it, or takes what another replica has read. */
  readonly readOnce: (read: () => Promise<ExchangeState>) => Promise<ExchangeState>;
};
