import { LRUCache } from 'lru-cache';
import { type BeaconHeight, isFinal } from '../../domain/beacon-height.ts';
import { ancestors } from '../../domain/chain.ts';
import { bytesOf, type ExchangeState } from '../../domain/exchange.ts';
import { HeightNotAvailableError, UpstreamError } from '../../errors.ts';
import type { Bulkhead, QueuedCall } from '../../turns/bulkhead.ts';
import type { Requester } from '../../turns/fair-queue.ts';
import { stateMissing, whyStateIsMissing } from '../../upstream/node/state-not-found.ts';
import { type ReadOnce, readAlone } from '../fleet-port.ts';
import type { ExchangeVersions } from './exchange-versions.ts';
import { type Head, nameOfState } from './head.ts';
import type { Node } from './node.ts';
import type { Nodes } from './nodes.ts';
import type { PoolCounts } from './pool-counts.ts';
import type { Standing } from './retained-heights.ts';

/** Reads the exchange as it was at a height below a head. All requests for one state share one read. */
export type PastStates = ReturnType<typeof createPastStates>;

/** A final height of a chain, and which of its states is read. */
export type FinalHeight = {
  readonly chainName: string;
  readonly height: BeaconHeight;
  readonly isV1: boolean;
  /** Whether a state of it has all pools. Only such a state is for all replicas. */
  readonly isComplete: (state: ExchangeState) => boolean;
};

type PastStatesOptions = {
  readonly nodes: Pick<Nodes, 'all' | 'readFrom' | 'ofChain'>;
  readonly versions: Pick<ExchangeVersions, 'versionAt'>;
  readonly bulkhead: Bulkhead;
  readonly poolCounts: PoolCounts;
  /** The newest heads that were served. */
  readonly served: () => readonly Head[];
  /** Reads a final state for a client; alone by default. */
  readonly readOnce?: ReadFinalState | undefined;
};

type ReadFinalState = ReadOnce<FinalHeight, ExchangeState>;

type QueuedState = QueuedCall<ExchangeState>;

/** Enough for a page of history, or for the points of a chart. */
const MAX_STATES = 64;

/** Fewer states stay in memory if they are large: one of V3 has all open orders. */
const MAX_BYTES = 128 * 2 ** 20;

/** The time for one state, in upstream timeouts: a probe or the tip, the state, and the tip again or calls of others. */
const TIMEOUTS_FOR_A_STATE = 3;

/** In this order nodes are called for a final state. */
const STANDINGS: readonly Standing[] = ['retained', 'unknown', 'behind', 'pruned'];

/** All reads in the background have one share of the queue. */
const BACKGROUND: Requester = { client: Symbol('background') };

/**
 * Creates the past states.
 *
 * Final states never change and stay in an LRU cache. The few blocks below the tip can still be replaced together with it,
 * so their states are used only under the head under which they were read.
 *
 * A state is read from a node that has the chain of the head; see `Nodes.ofChain`. A height is pruned when all of these nodes
 * have pruned it. Nodes that have shown no block of this chain are called last, after a poll of their tip: they may have changed
 * to it since the last poll. A node that is paused is called after the others.
 */
export function createPastStates(options: PastStatesOptions) {
  const { nodes, versions, bulkhead, poolCounts, served, readOnce = readAlone } = options;
  const kept = new LRUCache<string, QueuedState>({ max: MAX_STATES, maxSize: MAX_BYTES });
  const currentReads = new Map<string, QueuedState>();

  /** Whether a read is one of V1. Before V3 was seen, each is. Afterwards, `keyOf` does not find these states at heights of V3. */
  function isV1At(height: BeaconHeight, version?: 'V1'): boolean {
    return (version ?? versions.versionAt(height)) === 'V1';
  }

  function keyOf(height: BeaconHeight, head: Head, isV1: boolean): string {
    return `${nameOfState(height, head)}${isV1 ? ' in V1' : ''}`;
  }

  function standings(height: BeaconHeight, head: Head): readonly Standing[] {
    return nodes.ofChain(head, height, served()).map((node) => node.standing(height));
  }

  /**
   * @param requester the client and operation that wait for it in the queue
   * @param version by default, the one that trades at the height
   * @throws HeightNotAvailableError for a height that every node has pruned, UpstreamError
   */
  async function read(height: BeaconHeight, head: Head, requester: Requester, version?: 'V1'): Promise<ExchangeState> {
    const isV1 = isV1At(height, version);
    const key = keyOf(height, head, isV1);
    const known = kept.get(key) ?? currentReads.get(key);
    if (known !== undefined) return known.wait(requester);
    refuseIfPruned(height, head);
    const queued = queueRead(height, head, readOnce, isV1);
    currentReads.set(key, queued);
    queued.response
      .then(
        // A state with lost pools is read again when it is next requested.
        (state) => poolCounts.check(state) && kept.set(key, queued, { size: 1 + bytesOf(state) }),
        () => undefined,
      )
      .finally(() => currentReads.delete(key));
    return queued.wait(requester);
  }

  /**
   * Reads a final state that no client waits for. It takes no place in the cache of states.
   *
   * @throws as `read`
   */
  async function readInBackground(height: BeaconHeight, head: Head): Promise<ExchangeState> {
    const isV1 = isV1At(height);
    const key = keyOf(height, head, isV1);
    const known = kept.peek(key) ?? currentReads.get(key);
    if (known !== undefined) return known.wait(BACKGROUND);
    refuseIfPruned(height, head);
    return queueRead(height, head, readAlone, isV1).wait(BACKGROUND);
  }

  /** A height that every node has pruned needs no call, so it does not wait in the queue. */
  function refuseIfPruned(height: BeaconHeight, head: Head): void {
    if (standings(height, head).every((standing) => standing === 'pruned'))
      throw new HeightNotAvailableError(height, head.beaconHeight);
  }

  function queueRead(height: BeaconHeight, head: Head, readFor: ReadFinalState, isV1: boolean): QueuedState {
    const { beaconHeight, chainInfo } = head;
    const nodesOfChain = () => nodes.ofChain(head, height, served());
    const sharesChain = (node: Node) => nodesOfChain().includes(node);

    async function readFrom(node: Node, signal: AbortSignal): Promise<ExchangeState> {
      if (!sharesChain(node)) await node.pollTip().catch(() => {});
      const block = ancestors(head, served()).find(({ beaconHeight }) => beaconHeight === height);
      const past = { height, isV1, headBlock: chainInfo.beacon, block };
      if (sharesChain(node)) return node.readPastState(past, signal);
      // A node of another chain has nothing to say about whether the height is pruned.
      throw stateMissing(isFinal(height, beaconHeight) ? 'pruned' : 'future', { host: node.name });
    }

    /** All nodes, in the order in which they are called. */
    function inOrder(): readonly Node[] {
      const rank = (node: Node) => STANDINGS.indexOf(node.standing(height));
      const sharing = nodesOfChain();
      const first = isFinal(height, beaconHeight) ? sharing.toSorted((a, b) => rank(a) - rank(b)) : sharing;
      const all = [...new Set([...first, ...nodes.all.filter((node) => node.isResponding())])];
      return all.toSorted((a, b) => Number(a.isPaused('pastStates')) - Number(b.isPaused('pastStates')));
    }

    async function readFromAny(): Promise<ExchangeState> {
      const order = inOrder();
      async function readInOrder(node: Node, signal: AbortSignal): Promise<ExchangeState> {
        const state = await readFrom(node, signal);
        for (const slower of order.slice(0, order.indexOf(node)))
          if (slower.standing(height) !== 'pruned') slower.overtaken('pastStates');
        return state;
      }
      try {
        return await nodes.readFrom(order, readInOrder, TIMEOUTS_FOR_A_STATE);
      } catch (error) {
        throw whyStateIsMissing(error) === 'pruned' ? new HeightNotAvailableError(height, beaconHeight) : error;
      }
    }

    const final = { chainName: chainInfo.chainName, height, isV1, isComplete: poolCounts.check };
    // The replicas of a fleet may disagree about a state that is not final.
    return bulkhead.queue(() => (isFinal(height, beaconHeight) ? readFor(final, readFromAny) : readFromAny()));
  }

  /** Whether the response for one height can decide about others: no node is known to have it, and not all have pruned it. */
  function isUnknown(height: BeaconHeight, head: Head, isV1: boolean): boolean {
    const key = keyOf(height, head, isV1);
    if (!isFinal(height, head.beaconHeight) || kept.has(key) || currentReads.has(key)) return false;
    const known = standings(height, head);
    return known.includes('unknown') && !known.includes('retained');
  }

  /**
   * Reads several heights for one operation, with few calls if every node has pruned them.
   *
   * It reads the lowest and the highest unknown height first: a node that has the lowest one has all. If it does not, the others are
   * read from the highest down: a node reads a few of them at a time, and the first that is pruned decides about all below it.
   *
   * @returns the state of each height, or why it cannot be read
   */
  async function readAll(
    heights: readonly BeaconHeight[],
    head: Head,
    requester: Requester,
    version?: 'V1',
  ): Promise<(ExchangeState | Error)[]> {
    const readOne = (height: BeaconHeight) => read(height, head, requester, version).catch((error: Error) => error);
    const descending = [...new Set(heights)].sort((a, b) => b - a);
    const unknown = descending.filter((height) => isUnknown(height, head, isV1At(height, version)));
    const probes = new Set([...unknown.slice(0, 1), ...unknown.slice(-1)]);
    const first = descending.filter((height) => probes.has(height) || !unknown.includes(height));
    const reads = new Map(first.map((height) => [height, readOne(height)]));

    const results = await Promise.all([...probes].map((height) => reads.get(height)));
    const failure = results.find((result) => result instanceof UpstreamError);
    // The nodes could not be read: they are not called for the other heights too.
    const isFailing = failure !== undefined && results.every((result) => result instanceof Error);
    for (const height of descending.filter((height) => !reads.has(height)))
      reads.set(height, isFailing ? Promise.resolve(failure) : readOne(height));
    return Promise.all(heights.map((height) => reads.get(height) as Promise<ExchangeState | Error>));
  }

  return {
    read,
    readInBackground,
    readAll,
    /** Whether reads in the background should wait, because clients are waiting for many states. */
    isBusy: bulkhead.isBusy,
    /** Whether a state has lost no pools, as far as other heights show. An incomplete one is read again when it is next requested. */
    isComplete: poolCounts.check,
  };
}
