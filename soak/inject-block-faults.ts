import type { Random } from '../src/sandbox/chain/random.ts';
import type { NodeFault } from '../src/sandbox/faults.ts';
import type { SandboxHosts } from '../src/sandbox/sandbox.ts';
import { pause, pick } from './context.ts';
import { isV3 } from './expected/exchange.ts';
import { nodesBehind } from './inject-faults.ts';
import { DAMAGED_TRADE, type Outages } from './outages.ts';

/** Faults of the call for a block. They explain that trades are not known, and nothing else. */
const FAULTS: readonly NodeFault[] = [
  // A node that does not know the method, or that refuses it.
  { kind: 'status', status: 500, body: '' },
  { kind: 'status', status: 403, body: 'this method is not allowed' },
  { kind: 'pruned-blocks', blocks: 0 },
  { kind: 'hang' },
  { kind: 'drip' },
  { kind: 'reset' },
  { kind: 'truncated' },
  { kind: 'garbage' },
  { kind: 'shape', path: ['Result', 0, 'Instructions'], value: 'none' },
  { kind: 'shape', path: ['Result', 0, 'Hash'], value: 7 },
  { kind: 'shape', path: ['Result'], value: [] },
];

/** Only in half of the runs: the trades of such a block stay unknown, so that volumes of an hour are never complete. */
const DAMAGE: NodeFault = { kind: DAMAGED_TRADE };

/** Durations of phases, in milliseconds. */
const FAULTY_MS = [1_000, 4_000] as const;
const FAULT_FREE_MS = [2_000, 6_000] as const;

/** Durations in which nodes push blocks without their instructions, so that the gateway has to request them, and with them. */
const WITHOUT_INSTRUCTIONS_MS = [5_000, 12_000] as const;
const WITH_INSTRUCTIONS_MS = [2_000, 5_000] as const;

/** Injects faults into the calls for blocks, of all nodes or of those behind one URL, until the signal aborts. None in V1. */
export async function injectBlockFaults(
  { nodes, nodeUrls, pushes, chain }: SandboxHosts,
  outages: Pick<Outages, 'beginOfTrades'>,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  if (!isV3(chain)) return;
  const kinds = random.chance(0.5) ? FAULTS : [...FAULTS, DAMAGE];

  async function failCalls(): Promise<void> {
    const urls = [...nodeUrls.keys()];
    const faulty = random.chance(0.6) ? urls : [pick(random, urls)];
    const fault = pick(random, kinds);
    const ends = faulty.map((url) => outages.beginOfTrades(url, fault.kind));
    const clears = faulty
      .flatMap((url) => nodesBehind(nodes, url))
      .map((node) => node.faults.set({ ...fault, on: 'retrievebeaconblockbyheight' }));
    const ofPushes = pushes.map((push) => (fault === DAMAGE ? push.faults.set({ kind: DAMAGED_TRADE }) : () => {}));
    await pause(random, ...FAULTY_MS, signal);
    for (const clear of [...clears, ...ofPushes, ...ends]) clear();
  }

  async function omitInstructions(): Promise<void> {
    while (!signal.aborted) {
      const clears = pushes.map((push) => push.faults.set({ kind: 'without-instructions' }));
      await pause(random, ...WITHOUT_INSTRUCTIONS_MS, signal);
      for (const clear of clears) clear();
      await pause(random, ...WITH_INSTRUCTIONS_MS, signal);
    }
  }

  const omitting = omitInstructions();
  while (!signal.aborted) {
    await pause(random, ...FAULT_FREE_MS, signal);
    if (!signal.aborted) await failCalls();
  }
  await omitting;
}
