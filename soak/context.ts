import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../src/sandbox/chain/random.ts';
import type { Judge } from './judge.ts';
import type { Outages } from './outages.ts';
import type { Routes } from './routes.ts';
import type { ServedBlocks } from './served-blocks.ts';
import type { ShownBlocks } from './shown-blocks.ts';

/** The parts of a run that every client and every check uses. */
export type SoakContext = {
  /** The GraphQL endpoint of the gateway. */
  readonly url: URL;
  readonly routes: Routes;
  /** The number of gateways. */
  readonly replicas: number;
  readonly shown: ShownBlocks;
  readonly served: ServedBlocks;
  readonly outages: Outages;
  readonly judge: Judge;
  /** The load as a multiple of the default. */
  readonly load: number;
  /** Aborted when the clients must stop. */
  readonly signal: AbortSignal;
};

/** A client: it sends requests until the signal of the context aborts. */
export type Client = (context: SoakContext, name: string, random: Random) => Promise<void>;

/** Waits for a random time between `low` and `high` milliseconds, or until the signal aborts. */
export async function pause(random: Random, low: number, high: number, signal: AbortSignal): Promise<void> {
  await sleep(random.between(low, high), undefined, { signal }).catch(() => {});
}

/** A random element of a list. @throws Error if it is empty */
export function pick<T>(random: Random, elements: readonly T[]): T {
  const element = elements[random.below(elements.length)];
  if (element === undefined) throw new Error('the list is empty');
  return element;
}
