import { LRUCache } from 'lru-cache';
import { type BeaconHeight, isFinal, newestFinal } from '../../domain/beacon-height.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { HeightNotAvailableError, UpstreamBusyError } from '../../errors.ts';
import type { Bulkhead, QueuedCall } from '../../upstream/bulkhead.ts';
import type { Requester } from '../../upstream/fair-queue.ts';
import type { NodeClient } from '../../upstream/node/client.ts';
import { isStateError, whyStateIsMissing } from '../../upstream/node/state-not-found.ts';
import type { Watcher } from '../broadcast/follower.ts';
import { createDoubts } from './doubts.ts';
import type { Head } from './head.ts';
import { createNodeStates, requireTip } from './node-states.ts';
import type { Nodes } from './nodes.ts';
import type { PoolCounts } from './pool-counts.ts';
import { readProbing } from './probing.ts';
import type { Standing } from './retained-heights.ts';

/** Reads the exchange as it was at a height below a head; reads of one state are shared by everyone. */
export type PastStates = {
  /**
   * @param requester whose turn it waits for where too much is asked for at once
   * @throws HeightNotAvailableError for a height that no node has any more, UpstreamError
   */
  read(height: BeaconHeight, head: Head, requester: Requester): Promise<ExchangeState>;
  /**
   * Reads several heights for one answer, with few calls where no node has them any more.
   *
   * @returns the state of each height, or why it cannot be read
   */
  readAll(heights: readonly BeaconHeight[], head: Head, requester: Requester): Promise<(ExchangeState | Error)[]>;
  /** For each node the highest height that it is known to have pruned; `undefined` where none is known. */
  prunedHeights(): readonly { readonly name: string; readonly height: BeaconHeight | undefined }[];
};

/** What past states are read from. */
export type PastStatesOptions = {
  readonly nodes: Pick<Nodes, 'all' | 'first' | 'standingWith' | 'blockAt'>;
  readonly turns: Bulkhead;
  readonly poolCounts: PoolCounts;
  /** How long a node that could not give a state is asked after the others, at the most. */
  readonly maxPauseMs: number;
  /** Makes the watcher of a node that fails to read states: that it has no such state is no failure. */
  readonly watch: (node: NodeClient) => Watcher;
};

/** Final states are kept until room is needed: a page of history, a chart's points. */
const MAX_STATES_KEPT = 64;

/** Near the tip the state, and then the tip once more. */
const CALLS_NEAR_TIP = 2;

/** Of a final height: calls that are waited for because they may decide about it, a probe, and the state. */
const CALLS_FOR_FINAL = 3;

/** In this order nodes are called for a final state. */
const STANDINGS: readonly Standing[] = ['retained', 'unknown', 'behind', 'pruned'];

/** What is kept for one head: the few states above the final ones. */
const MAX_KEPT_UNDER_A_HEAD = 1_000;

/**
 * Makes the keeper of past states.
 *
 * Final states never change and stay. The few blocks below the tip can still be replaced together with it, so a state of
 * one of them is kept only as long as the head that it was read under. A state is read from the head's own node, or from
 * one that has shown a block that this one has shown too: the head's, or for a final state any that it is final under. All
 * of these are asked before a height counts as pruned: one may keep more than another. A node is not called for what it is
 * known to have pruned. Near the tip the others are asked
 * after them, because they may have come to the head's block since they were last looked at.
 */
export function createPastStates({ nodes, turns, poolCounts, maxPauseMs, watch }: PastStatesOptions): PastStates {
  const doubts = createDoubts(maxPauseMs);
  const states = createNodeStates();
  const final: States = new LRUCache({ max: MAX_STATES_KEPT });
  const finalUnderWay: States = new Map();
  const underHead = new WeakMap<Head, States>();
  const watchers = new Map<NodeClient, Watcher>();

  function watcherOf(node: NodeClient): Watcher {
    const watcher = watchers.get(node) ?? watch(node);
    watchers.set(node, watcher);
    return watcher;
  }

  function statesUnder(head: Head): States {
    const readings = underHead.get(head) ?? new LRUCache({ max: MAX_KEPT_UNDER_A_HEAD });
    underHead.set(head, readings);
    return readings;
  }

  /** A block that two nodes have shown can still be replaced. What is final below it cannot. */
  function nodesForFinal(height: BeaconHeight, head: Head): readonly NodeClient[] {
    return nodes.standingWith(head.source, (block) => isFinal(height, block.height));
  }

  function readingOf(height: BeaconHeight, head: Head): QueuedCall<ExchangeState> | undefined {
    return final.get(height) ?? finalUnderWay.get(height) ?? statesUnder(head).get(height);
  }

  function standings(height: BeaconHeight, head: Head): readonly Standing[] {
    return nodesForFinal(height, head).map((node) => states.standing(node, height));
  }

  async function read(height: BeaconHeight, head: Head, requester: Requester): Promise<ExchangeState> {
    const known = readingOf(height, head);
    if (known !== undefined) return known.wait(requester);
    if (!isFinal(height, head.beaconHeight)) return readUnder(height, head).wait(requester);
    // What no node has needs no call, so it waits for no turn.
    if (standings(height, head).every((standing) => standing === 'pruned'))
      throw new HeightNotAvailableError(height, head.beaconHeight);
    return readFinal(height, head).wait(requester);
  }

  function isUnknown(height: BeaconHeight, head: Head): boolean {
    if (!isFinal(height, head.beaconHeight) || readingOf(height, head) !== undefined) return false;
    const known = standings(height, head);
    return known.includes('unknown') && !known.includes('retained');
  }

  function readFinal(height: BeaconHeight, head: Head): QueuedCall<ExchangeState> {
    const rank = (node: NodeClient) => STANDINGS.indexOf(states.standing(node, height));
    const reading = ask(height, head, {
      nodesFor: () => nodesForFinal(height, head).toSorted((a, b) => rank(a) - rank(b)),
      calls: CALLS_FOR_FINAL,
      readFrom: (node, signal) => states.readFinal(node, height, newestFinal(head.beaconHeight), signal),
    });
    finalUnderWay.set(height, reading);
    reading.answer
      .then(
        // A state that is not whole is read again when it is next requested.
        (state) => poolCounts.isWhole(state) && final.set(height, reading),
        () => undefined,
      )
      .finally(() => finalUnderWay.delete(height));
    return reading;
  }

  function readUnder(height: BeaconHeight, head: Head): QueuedCall<ExchangeState> {
    const readings = statesUnder(head);
    const known = () => nodes.standingWith(head.source, (block) => block.hash === head.hash);
    const reading = ask(height, head, {
      nodesFor: () => [...new Set([...known(), ...nodes.all])],
      calls: CALLS_NEAR_TIP,
      async readFrom(node, signal) {
        if (!known().includes(node)) await requireTip(node, head, signal);
        return states.readNearTip(node, height, { head, blockBelow: () => nodes.blockAt(node, height) }, signal);
      },
    });
    readings.set(height, reading);
    reading.answer.catch((error) => error instanceof HeightNotAvailableError || readings.delete(height));
    return reading;
  }

  function ask(height: BeaconHeight, head: Head, { nodesFor, calls, readFrom }: Reading): QueuedCall<ExchangeState> {
    return turns.queue(async () => {
      const isBelieved = (node: NodeClient) => !doubts.has(node) || doubts.mayTry(node);
      const order = nodesFor().toSorted((a, b) => Number(isBelieved(b)) - Number(isBelieved(a)));
      const asked: NodeClient[] = [];
      try {
        return await nodes.first(async () => {
          const node = order[asked.length];
          if (node === undefined) return undefined;
          asked.push(node);
          return (signal) => readOrDoubt({ node, asked, height }, readFrom, signal);
        }, calls);
      } catch (error) {
        throw whyStateIsMissing(error) === 'pruned' ? new HeightNotAvailableError(height, head.beaconHeight) : error;
      }
    });
  }

  /** A node that fails, or is overtaken by one that was asked after it, is asked after the others for a while. */
  async function readOrDoubt(
    { node, asked, height }: { node: NodeClient; asked: readonly NodeClient[]; height: BeaconHeight },
    readFrom: ReadFrom,
    signal: AbortSignal,
  ): Promise<ExchangeState> {
    try {
      const state = await readFrom(node, signal);
      doubts.clear(node);
      watcherOf(node).recovered();
      const overtaken = asked.slice(0, asked.indexOf(node));
      for (const each of overtaken) if (states.standing(each, height) !== 'pruned') doubts.add(each, undefined);
      return state;
    } catch (error) {
      const isAnswer = whyStateIsMissing(error) !== undefined || error instanceof UpstreamBusyError;
      const isFailure = !signal.aborted && !isAnswer;
      if (isFailure) doubts.add(node, error);
      if (isFailure && isStateError(error)) watcherOf(node).failed(error);
      throw error;
    }
  }

  return {
    read,
    readAll: (heights, head, requester) =>
      readProbing(heights, {
        isUnknown: (height) => isUnknown(height, head),
        read: (height) => read(height, head, requester),
      }),
    prunedHeights: () => nodes.all.map((node) => ({ name: node.name, height: states.prunedUpTo(node) })),
  };
}

/** From which nodes a state is read, and how: with so many calls, one after another. */
type Reading = {
  readonly nodesFor: () => readonly NodeClient[];
  readonly calls: number;
  readonly readFrom: ReadFrom;
};

type ReadFrom = (node: NodeClient, signal: AbortSignal) => Promise<ExchangeState>;

/** States and readings of states under way, by height. */
type States = {
  get(height: BeaconHeight): QueuedCall<ExchangeState> | undefined;
  set(height: BeaconHeight, reading: QueuedCall<ExchangeState>): unknown;
  delete(height: BeaconHeight): unknown;
};
