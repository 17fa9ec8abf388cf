import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../src/sandbox/chain/random.ts';
import type { Judge } from './judge.ts';
import type { Outages } from './outages.ts';
import type { Served } from './served.ts';
import type { ShownBlocks } from './truth/shown-blocks.ts';

/** What every client and every check of a run has at hand. */
export type Stage = {
  /** Where the gateway answers GraphQL. */
  readonly url: URL;
  readonly shown: ShownBlocks;
  readonly served: Served;
  readonly outages: Outages;
  readonly judge: Judge;
  /** How much is asked, as a multiple of the usual. */
  readonly load: number;
  /** Aborted when clients are to leave. */
  readonly signal: AbortSignal;
};

/** One client: comes, asks and goes on until the stage's signal. */
export type Client = (stage: Stage, name: string, random: Random) => Promise<void>;

/** Waits between two bounds; shorter where the signal aborts. */
export async function pause(random: Random, low: number, high: number, signal: AbortSignal): Promise<void> {
  await sleep(random.between(low, high), undefined, { signal }).catch(() => {});
}

/** One of several things. */
export function pick<T>(random: Random, things: readonly T[]): T {
  const thing = things[random.below(things.length)];
  if (thing === undefined) throw new Error('nothing to pick from');
  return thing;
}
