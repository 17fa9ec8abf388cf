import { LRUCache } from 'lru-cache';
import { type BeaconHeight, isFinal } from '../domain/beacon-height.ts';
import type { ExchangeState } from '../domain/exchange.ts';
import { HeightNotAvailableError } from '../errors.ts';
import { askUntilStateIsThere, isStateNotFound } from '../upstream/node/state-not-found.ts';
import type { Turns } from '../upstream/turns.ts';
import type { Head } from './head.ts';
import type { Nodes } from './nodes.ts';

/** Reads the exchange as it was at a height below a head; reads of one state are shared by everyone. */
export type PastStates = {
  /** @throws HeightNotAvailableError for a height that no node has any more, UpstreamError */
  read(height: BeaconHeight, head: Head): Promise<ExchangeState>;
};

/** Final states are kept until room is needed: a page of history, a chart's points. */
const MAX_STATES_KEPT = 64;

/** What is kept for one head: the few states above the final ones, and which heights are pruned. */
const MAX_KEPT_UNDER_A_HEAD = 1_000;

/**
 * Makes the keeper of past states. Every node is asked before a final one counts as pruned: one may keep more than another.
 *
 * Final states never change and stay. The few blocks below the tip can still be replaced together with it, so a state of
 * one of them is kept only as long as the head that it was read under, and read only where the same tip is shown.
 */
export function createPastStates(nodes: Nodes, turns: Turns): PastStates {
  const final: States = new LRUCache<BeaconHeight, Promise<ExchangeState>>({ max: MAX_STATES_KEPT });
  const underHead = new WeakMap<Head, States>();

  function statesUnder(head: Head): States {
    const states = underHead.get(head) ?? new LRUCache({ max: MAX_KEPT_UNDER_A_HEAD });
    underHead.set(head, states);
    return states;
  }

  function read(height: BeaconHeight, head: Head): Promise<ExchangeState> {
    const states = isFinal(height, head.beaconHeight) ? final : statesUnder(head);
    const known = states.get(height) ?? statesUnder(head).get(height);
    if (known !== undefined) return known;

    const reading = turns.take(() => ask(height, head));
    states.set(height, reading);
    reading.catch((error) => {
      if (states.get(height) === reading) states.delete(height);
      if (error instanceof HeightNotAvailableError) statesUnder(head).set(height, reading);
    });
    return reading;
  }

  async function ask(height: BeaconHeight, head: Head): Promise<ExchangeState> {
    const { source, hash, beaconHeight } = head;
    try {
      if (isFinal(height, beaconHeight))
        return await nodes.first(nodes.allFrom(source).map((node) => (signal) => node.exchangeState(height, signal)));

      return await nodes.first(
        nodes
          .agreeingWith(source, hash)
          .map((node) => (signal) => askUntilStateIsThere(() => node.exchangeState(height, signal), signal)),
      );
    } catch (error) {
      throw isStateNotFound(error) ? new HeightNotAvailableError(height, beaconHeight) : error;
    }
  }

  return { read };
}

/** States and readings of states under way, by height. */
type States = LRUCache<BeaconHeight, Promise<ExchangeState>>;
