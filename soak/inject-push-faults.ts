import type { Random } from '../src/sandbox/chain/random.ts';
import type { FaultTarget, PushCall, PushFault } from '../src/sandbox/faults.ts';
import type { SandboxHosts } from '../src/sandbox/sandbox.ts';
import { pause, pick } from './context.ts';
import type { Judge } from './judge.ts';

/** The faults of websockets of nodes. They explain nothing: without frames, the gateway polls. */
const FAULTS: readonly (PushFault & FaultTarget<PushCall>)[] = [
  { kind: 'duplicates' },
  { kind: 'out-of-order' },
  { kind: 'side-branches' },
  { kind: 'burst', blocks: 50 },
  { kind: 'lost' },
  { kind: 'garbage-frame', times: 1 },
  { kind: 'dropped', on: 'block', times: 1 },
  { kind: 'refused', status: 503, times: 2 },
  { kind: 'rpc-error', code: '-1002', times: 1 },
];

/** Durations of phases, in milliseconds. */
const FAULTY_MS = [500, 4_000] as const;
const FAULT_FREE_MS = [500, 3_000] as const;

/** Injects a random fault into one websocket after another until the signal aborts. */
export async function injectPushFaults(
  { pushes }: SandboxHosts,
  judge: Judge,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await pause(random, ...FAULT_FREE_MS, signal);
    const fault = pick(random, FAULTS);
    const clear = pick(random, pushes).faults.set(fault);
    judge.count(`faults of websockets of nodes, ${fault.kind}`);
    await pause(random, ...FAULTY_MS, signal);
    clear();
  }
}

/** Checks that the gateway, which has stopped, never left a websocket without unsubscribing. */
export function checkUnsubscribed({ pushes }: SandboxHosts, judge: Judge): void {
  const leaked = pushes.reduce((sum, push) => sum + push.leaked(), 0);
  if (leaked > 0) judge.fail(`the gateway left ${leaked} websockets of nodes without unsubscribing`);
}
