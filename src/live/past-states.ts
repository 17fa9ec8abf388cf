import { LRUCache } from 'lru-cache';
import { type BeaconHeight, isFinal } from '../domain/beacon-height.ts';
import type { ExchangeState } from '../domain/exchange.ts';
import { HeightNotAvailableError, UpstreamBadShapeError } from '../errors.ts';
import type { Asker } from '../upstream/fair-queue.ts';
import type { NodeClient } from '../upstream/node/client.ts';
import { askUntilStateIsThere, isStateNotFound, stateNotFound } from '../upstream/node/state-not-found.ts';
import type { Turn, Turns } from '../upstream/turns.ts';
import { createDoubts } from './doubts.ts';
import type { Head } from './head.ts';
import type { Nodes } from './nodes.ts';

/** Reads the exchange as it was at a height below a head; reads of one state are shared by everyone. */
export type PastStates = {
  /**
   * @param asker whose turn it waits for where too much is asked for at once
   * @throws HeightNotAvailableError for a height that no node has any more, UpstreamError
   */
  read(height: BeaconHeight, head: Head, asker: Asker): Promise<ExchangeState>;
};

/** What past states are read from. */
export type PastStatesOptions = {
  readonly nodes: Pick<Nodes, 'all' | 'first' | 'standingWith'>;
  readonly turns: Turns;
  /** How long a node that could not give a state is asked after the others, at the most. */
  readonly maxPauseMs: number;
};

/** Final states are kept until room is needed: a page of history, a chart's points. */
const MAX_STATES_KEPT = 64;

/** Near the tip the state, and then the tip once more. */
const CALLS_NEAR_TIP = 2;

/** What is kept for one head: the few states above the final ones, and which heights are pruned. */
const MAX_KEPT_UNDER_A_HEAD = 1_000;

/**
 * Makes the keeper of past states.
 *
 * Final states never change and stay. The few blocks below the tip can still be replaced together with it, so a state of
 * one of them is kept only as long as the head that it was read under. A state is read from the head's own node, or from
 * one that has shown a block that this one has shown too: the head's, or for a final state any that it is final under. All
 * of these are asked before a height counts as pruned: one may keep more than another. Near the tip the others are asked
 * after them, because they may have come to the head's block since they were last looked at.
 */
export function createPastStates({ nodes, turns, maxPauseMs }: PastStatesOptions): PastStates {
  const doubts = createDoubts(maxPauseMs);
  const final: States = new LRUCache({ max: MAX_STATES_KEPT });
  const finalUnderWay: States = new Map();
  const underHead = new WeakMap<Head, States>();

  function statesUnder(head: Head): States {
    const states = underHead.get(head) ?? new LRUCache({ max: MAX_KEPT_UNDER_A_HEAD });
    underHead.set(head, states);
    return states;
  }

  function read(height: BeaconHeight, head: Head, asker: Asker): Promise<ExchangeState> {
    const known = final.get(height) ?? finalUnderWay.get(height) ?? statesUnder(head).get(height);
    const reading = known ?? (isFinal(height, head.beaconHeight) ? readFinal : readUnder)(height, head);
    return reading.wait(asker);
  }

  function readFinal(height: BeaconHeight, head: Head): Turn<ExchangeState> {
    // A block that both have shown can still have been replaced; what is final below it cannot.
    const nodesFor = () => nodes.standingWith(head.source, (block) => isFinal(height, block.height));
    const reading = ask(height, head, {
      nodesFor,
      calls: 1,
      readFrom: (node, signal) => node.earlierState(height, signal),
    });
    finalUnderWay.set(height, reading);
    reading.answer
      .then(
        () => final.set(height, reading),
        // That nobody has it any more is not asked again under the same head.
        (error) => error instanceof HeightNotAvailableError && statesUnder(head).set(height, reading),
      )
      .finally(() => finalUnderWay.delete(height));
    return reading;
  }

  function readUnder(height: BeaconHeight, head: Head): Turn<ExchangeState> {
    const states = statesUnder(head);
    const known = () => nodes.standingWith(head.source, (block) => block.hash === head.hash);
    const reading = ask(height, head, {
      nodesFor: () => [...new Set([...known(), ...nodes.all])],
      calls: CALLS_NEAR_TIP,
      async readFrom(node, signal) {
        if (!known().includes(node)) await requireTip(node, head, signal);
        return readNearTip(node, height, head, signal);
      },
    });
    states.set(height, reading);
    reading.answer.catch((error) => error instanceof HeightNotAvailableError || states.delete(height));
    return reading;
  }

  function ask(height: BeaconHeight, head: Head, { nodesFor, calls, readFrom }: Reading): Turn<ExchangeState> {
    return turns.for(async () => {
      const isBelieved = (node: NodeClient) => !doubts.has(node) || doubts.mayTry(node);
      const order = nodesFor().toSorted((a, b) => Number(isBelieved(b)) - Number(isBelieved(a)));
      const asked: NodeClient[] = [];
      try {
        return await nodes.first(async () => {
          const node = order[asked.length];
          if (node === undefined) return undefined;
          asked.push(node);
          return (signal) => readOrDoubt(node, asked, readFrom, signal);
        }, calls);
      } catch (error) {
        throw isStateNotFound(error) ? new HeightNotAvailableError(height, head.beaconHeight) : error;
      }
    });
  }

  /** A node that fails, or is overtaken by one that was asked after it, is asked after the others for a while. */
  async function readOrDoubt(
    node: NodeClient,
    asked: readonly NodeClient[],
    readFrom: ReadFrom,
    signal: AbortSignal,
  ): Promise<ExchangeState> {
    try {
      const state = await readFrom(node, signal);
      doubts.clear(node);
      for (const overtaken of asked.slice(0, asked.indexOf(node))) doubts.add(overtaken, undefined);
      return state;
    } catch (error) {
      if (!signal.aborted && !isStateNotFound(error)) doubts.add(node, error);
      throw error;
    }
  }

  return { read };
}

/** From which nodes a state is read, and how: with so many calls, one after another. */
type Reading = {
  readonly nodesFor: () => readonly NodeClient[];
  readonly calls: number;
  readonly readFrom: ReadFrom;
};

type ReadFrom = (node: NodeClient, signal: AbortSignal) => Promise<ExchangeState>;

/** @throws what a node without the state does, where its tip is not the head's block: what it has may stand on others */
async function requireTip(node: NodeClient, { hash }: Head, signal: AbortSignal): Promise<void> {
  const { beacon: tip } = await node.chainInfo(signal);
  if (tip.hash !== hash) throw stateNotFound({ host: node.name });
}

/** A state that can still be replaced: it stands under the head only if the head's block is still the node's after it was read. */
async function readNearTip(
  node: NodeClient,
  height: BeaconHeight,
  head: Head,
  signal: AbortSignal,
): Promise<ExchangeState> {
  const state = await askUntilStateIsThere(() => node.earlierState(height, signal), signal);
  const { beacon: tip } = await node.chainInfo(signal);
  if (tip.height === head.beaconHeight && tip.hash !== head.hash)
    throw new UpstreamBadShapeError('NODE', 'its newest blocks were replaced while they were read');
  return state;
}

/** States and readings of states under way, by height. */
type States = {
  get(height: BeaconHeight): Turn<ExchangeState> | undefined;
  set(height: BeaconHeight, reading: Turn<ExchangeState>): unknown;
  delete(height: BeaconHeight): unknown;
};
