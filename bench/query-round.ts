import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from './ask.ts';
import type { Load } from './load.ts';
import type { Subject, World } from './servers.ts';

/** One server that is asked in a round. */
export type Asked = Subject & {
  readonly world: World;
  readonly load: Load;
  readonly requests: readonly Buffer[];
  readonly seconds: number;
};

/** How a round went; `busy` is how much of its core the load took, 0 to 1. */
export type Round = { readonly perSecond: number; readonly busy: number; readonly heights: number };

/** How often all requests are sent in one round at the most, where none may be answered with what was kept. */
const MAX_PASSES = 10;

/** Asks the same again and again, while the gateway's chain has a new block each time so many milliseconds have passed. */
export async function askAgain(asked: Asked, blockMs: number): Promise<Round> {
  const { server, world, load, transport, requests, seconds } = asked;
  if (server !== world.gateway)
    return { ...(await load.queries(server, { transport, requests, seconds })), heights: 0 };

  // From the first new height on they come regularly; before, there would be none for as long as two take.
  await world.sandbox.ask('advance every', blockMs);
  const before = await untilHeight(world, (await heightOf(world)) + 1);
  const round = await load.queries(server, { transport, requests, seconds });
  const heights = (await heightOf(world)) - before;
  await world.sandbox.ask('advance every', 0);
  await untilSettled(world);
  return { ...round, heights };
}

/**
 * Asks each thing once, and all of them again when the gateway has another height: of what it answered before, it may have
 * kept nothing that is true then.
 */
export async function askOnceEach(asked: Asked): Promise<Round> {
  const { server, world, load, transport, requests, seconds } = asked;
  const atMost = requests.length;
  let [answers, elapsed, busy, passes] = [0, 0, 0, 0];
  for (; elapsed < seconds && passes < MAX_PASSES; passes++) {
    if (server === world.gateway) {
      await world.sandbox.ask('advance');
      await untilSettled(world);
    }
    const told = await load.queries(server, { transport, requests, seconds: seconds - elapsed, atMost });
    const took = told.answers / told.perSecond;
    answers += told.answers;
    elapsed += took;
    busy += told.busy * took;
  }
  return { perSecond: answers / elapsed, busy: busy / elapsed, heights: passes };
}

/** The height that the gateway tells. */
export async function heightOf({ gateway }: World): Promise<number> {
  const { beaconHeight } = await ask<{ readonly beaconHeight: number }>(gateway.url, { query: '{ beaconHeight }' });
  return beaconHeight;
}

/** Waits until the gateway tells the newest height: what it still has to read would fall into what is measured next. */
export async function untilSettled(world: World): Promise<void> {
  await untilHeight(world, await world.sandbox.ask<number>('tip height'));
}

/** @returns the height that it tells then */
async function untilHeight(world: World, wanted: number): Promise<number> {
  const late = AbortSignal.timeout(60_000);
  for (;;) {
    const height = await heightOf(world);
    if (height >= wanted) return height;
    await sleep(5, undefined, { signal: late });
  }
}
