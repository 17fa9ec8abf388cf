import type { Random } from '../../src/sandbox/chain/random.ts';
import { pause, pick } from '../context.ts';
import type { Outages } from '../outages.ts';
import type { Fleet, Replica } from './fleet.ts';

/** What a fault acts on. */
type Faulty = {
  readonly fleet: Fleet;
  readonly random: Random;
  readonly signal: AbortSignal;
};

/** Begins and ends a fault. */
type FleetFault = (faulty: Faulty) => Promise<void>;

/** Longer than the lock of a read: the other gateways go on meanwhile. */
const PAUSE_MS = [4_000, 9_000] as const;
const OUTAGE_MS = [1_000, 7_000] as const;

/** Phases without a fault: long enough for the fleet to settle, and to be judged strictly then. */
const FAULT_FREE_MS = [9_000, 14_000] as const;

/** The delay of replies of a slow Redis. Above 500 ms it counts as gone. */
const SLOW_MS = [100, 900] as const;

const FAULTS: Readonly<Record<string, FleetFault>> = {
  'gateway killed': async (faulty) => {
    const gateway = oneOf(faulty);
    await gateway.kill();
    await pause(faulty.random, ...OUTAGE_MS, faulty.signal);
    await gateway.restart();
  },
  'gateway paused': async (faulty) => {
    const gateway = oneOf(faulty);
    gateway.pause();
    await pause(faulty.random, ...PAUSE_MS, faulty.signal);
    gateway.resume();
  },
  'Redis killed': async ({ fleet, random, signal }) => {
    await fleet.redis().kill();
    await pause(random, ...OUTAGE_MS, signal);
    await fleet.restartRedis();
  },
  'Redis restarted': ({ fleet }) => fleet.restartRedis(),
  'Redis wiped': async ({ fleet }) => fleet.redis().flush(),
  'Redis does not reply': async ({ fleet, random, signal }) => {
    fleet.redis().pause();
    await pause(random, ...OUTAGE_MS, signal);
    fleet.redis().resume();
  },
  'Redis slow': async ({ fleet: { replicas }, random, signal }) => {
    const delayMs = random.between(...SLOW_MS);
    for (const { redisLink } of replicas) redisLink.delay(delayMs);
    await pause(random, ...OUTAGE_MS, signal);
    for (const { redisLink } of replicas) redisLink.delay(0);
  },
  'gateway cut off from Redis': async (faulty) => {
    await cutOff([oneOf(faulty).redisLink], faulty.random, faulty.signal);
  },
  'gateway cut off from the nodes': async (faulty) => {
    await cutOff(oneOf(faulty).nodeLinks, faulty.random, faulty.signal);
  },
};

/** Injects faults into a fleet until the signal aborts: each kind once, in a random order, then again. */
export async function injectFleetFaults(
  faulty: Faulty,
  outages: Outages,
  print: (text: string) => void,
): Promise<void> {
  const { random, signal } = faulty;
  let left: string[] = [];
  while (!signal.aborted) {
    await pause(random, ...FAULT_FREE_MS, signal);
    if (signal.aborted) return;
    if (left.length === 0) left = Object.keys(FAULTS);
    const kind = pick(random, left);
    left = left.filter((each) => each !== kind);
    const end = outages.beginOfFleet(kind);
    const from = seconds();
    await FAULTS[kind]?.(faulty);
    end();
    // The findings have seconds of the same clock.
    print(`${kind}, from second ${from} to ${seconds()}`);
  }
}

const seconds = () => Math.round(performance.now() / 1_000);

function oneOf({ fleet: { replicas }, random }: Faulty): Replica {
  return pick(random, replicas);
}

async function cutOff(links: readonly Replica['redisLink'][], random: Random, signal: AbortSignal): Promise<void> {
  for (const link of links) link.cut();
  await pause(random, ...OUTAGE_MS, signal);
  for (const link of links) link.restore();
}
