// Loaded into every process of the bench before its own code (`--import`), the gateway's among them, which knows nothing
// of it: answers what the bench asks about the process, and whatever else the process itself has to say.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a process answers with, given what it was asked. */
export type Answerer = (given: never) => unknown;

/** What the bench sends: a question by its name, with a number that the answer carries too. */
export type AskedMessage = { readonly ask: number; readonly name: string; readonly given: never };

/** What it gets back, once. */
export type ToldMessage = { readonly told: number; readonly value?: unknown; readonly failed?: string };

/** How long the event loop was held since it was watched, in milliseconds. */
export type LoopDelay = { readonly p99Ms: number; readonly maxMs: number };

/** What is in use a while after a collection of garbage, in bytes. */
export type Memory = { readonly heapUsed: number; readonly rss: number };

const answerers = new Map<string, Answerer>();
/** How often the event loop is looked at: each look that comes in time counts as a delay of so much. */
const LOOKS_EVERY_MS = 1;
const delay = monitorEventLoopDelay({ resolution: LOOKS_EVERY_MS });

/** Has a question of the bench answered. */
export function answerTo<Given>(name: string, answer: (given: Given) => unknown): void {
  answerers.set(name, answer as Answerer);
}

/** Says that this process is ready, and where. */
export function tellReady(url?: string): void {
  process.send?.({ ready: url ?? '' });
}

answerTo('memory', async (settlesMs: number | undefined): Promise<Memory> => {
  for (let times = 0; times < 3; times++) globalThis.gc?.();
  await sleep(settlesMs);
  const { heapUsed, rss } = process.memoryUsage();
  return { heapUsed, rss };
});
answerTo('peak bytes', () => process.resourceUsage().maxRSS * 1_024);
answerTo('resident bytes', () => process.memoryUsage.rss());
// Watching costs a little, so it is done only where it is told.
answerTo('watch loop', () => {
  delay.reset();
  delay.enable();
});
answerTo('loop delay', (): LoopDelay => {
  delay.disable();
  const heldMs = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - LOOKS_EVERY_MS);
  return { p99Ms: heldMs(delay.percentile(99)), maxMs: heldMs(delay.max) };
});
answerTo('cpu seconds', () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
});

process.on('message', async ({ ask, name, given }: AskedMessage) => {
  const tell = (message: ToldMessage) => process.send?.(message);
  try {
    const answer = answerers.get(name);
    if (!answer) throw new Error(`nobody here answers "${name}"`);
    tell({ told: ask, value: await answer(given) });
  } catch (error) {
    tell({ told: ask, failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
// A bench that is killed takes its processes with it.
process.once('disconnect', () => process.exit(1));
