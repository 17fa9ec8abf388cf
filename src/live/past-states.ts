import { LRUCache } from 'lru-cache';
import { type BeaconHeight, isFinal } from '../domain/beacon-height.ts';
import type { ExchangeState } from '../domain/exchange.ts';
import { HeightNotAvailableError } from '../errors.ts';
import type { NodeClient } from '../upstream/node/client.ts';
import { askUntilStateIsThere, isStateNotFound } from '../upstream/node/state-not-found.ts';
import type { Head } from './head.ts';

/** Reads the exchange as it was at a height below a head; reads of one state are shared by everyone. */
export type PastStates = {
  /** @throws HeightNotAvailableError for a height that the node has pruned, UpstreamError */
  read(height: BeaconHeight, head: Head): Promise<ExchangeState>;
};

/** Final states are kept until room is needed: a page of history, a chart's points. */
const MAX_STATES_KEPT = 64;

/**
 * Makes the keeper of past states.
 *
 * Final states never change and stay. The few blocks below the tip can still be replaced together with it, so a state of
 * one of them is kept only as long as the head that it was read under.
 */
export function createPastStates(node: NodeClient): PastStates {
  const final: States = new LRUCache<BeaconHeight, Promise<ExchangeState>>({ max: MAX_STATES_KEPT });
  const recent = new WeakMap<Head, States>();

  function recentUnder(head: Head): States {
    const states = recent.get(head) ?? new Map<BeaconHeight, Promise<ExchangeState>>();
    recent.set(head, states);
    return states;
  }

  function read(height: BeaconHeight, head: Head): Promise<ExchangeState> {
    const states = isFinal(height, head.beaconHeight) ? final : recentUnder(head);
    const known = states.get(height);
    if (known !== undefined) return known;

    const reading = ask(height, head);
    states.set(height, reading);
    reading.catch(() => {
      if (states.get(height) === reading) states.delete(height);
    });
    return reading;
  }

  async function ask(height: BeaconHeight, head: Head): Promise<ExchangeState> {
    const askNode = () => node.exchangeState(height);
    try {
      return await (isFinal(height, head.beaconHeight) ? askNode() : askUntilStateIsThere(askNode));
    } catch (error) {
      throw isStateNotFound(error) ? new HeightNotAvailableError(height, head.beaconHeight) : error;
    }
  }

  return { read };
}

/** States and readings of states under way, by height. */
type States = {
  get(height: BeaconHeight): Promise<ExchangeState> | undefined;
  set(height: BeaconHeight, reading: Promise<ExchangeState>): unknown;
  delete(height: BeaconHeight): unknown;
};
