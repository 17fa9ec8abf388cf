// Loaded into every process of the bench before its own code (`--import`), also into the gateway, which does not know of it.
// It executes the commands of the bench: those below, and those that the process itself registers.
import { readFileSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** Executes a command. */
export type Handler = (argument: never) => unknown;

/** A command of the bench. The reply has the same id. */
export type CallMessage = { readonly call: number; readonly name: string; readonly argument: never };

/** The reply to a command. */
export type ReplyMessage = { readonly reply: number; readonly value?: unknown; readonly error?: string };

/** The event loop delay since the measurement began, in milliseconds. */
export type LoopDelay = { readonly p99Ms: number; readonly maxMs: number };

/** Memory in use some time after a garbage collection, in bytes. */
export type Memory = { readonly heapUsed: number; readonly rss: number };

const handlers = new Map<string, Handler>();
/** Time between two samples of the event loop delay. A sample that comes in time counts as a delay of as much. */
const SAMPLE_EVERY_MS = 1;
const delay = monitorEventLoopDelay({ resolution: SAMPLE_EVERY_MS });

/** Registers the handler of a command. */
export function handleCall<Argument>(name: string, handler: (argument: Argument) => unknown): void {
  handlers.set(name, handler as Handler);
}

/** Reports that this process is ready, with its URL if it is a server. */
export function reportReady(url?: string): void {
  process.send?.({ ready: url ?? '' });
}

handleCall('memory', async (settleMs: number | undefined): Promise<Memory> => {
  for (let times = 0; times < 3; times++) globalThis.gc?.();
  await sleep(settleMs);
  const { heapUsed, rss } = process.memoryUsage();
  return { heapUsed, rss };
});
// The id of a trace has four random numbers. The sampler combines them with XOR, and takes a trace if the result is small.
const { random } = Math;
handleCall('sample traces', (isOn: boolean) => {
  let drawn = 0;
  Math.random = isOn ? () => random() : () => (drawn++ % 4 === 0 ? 0.999 : 0);
});
// Linux: the peak begins again at the resident memory.
handleCall('reset peak bytes', () => {
  globalThis.gc?.();
  writeFileSync('/proc/self/clear_refs', '5');
  return peakBytes();
});
handleCall('peak bytes', peakBytes);
handleCall('resident bytes', () => process.memoryUsage.rss());
// The measurement costs a little, so it runs only on command.
handleCall('measure loop delay', () => {
  delay.reset();
  delay.enable();
});
handleCall('loop delay', (): LoopDelay => {
  delay.disable();
  const toMs = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - SAMPLE_EVERY_MS);
  return { p99Ms: toMs(delay.percentile(99)), maxMs: toMs(delay.max) };
});
handleCall('cpu seconds', () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
});

process.on('message', async ({ call, name, argument }: CallMessage) => {
  const reply = (message: ReplyMessage) => process.send?.(message);
  try {
    const handler = handlers.get(name);
    if (!handler) throw new Error(`there is no command "${name}"`);
    reply({ reply: call, value: await handler(argument) });
  } catch (error) {
    reply({ reply: call, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
// The processes end with the bench, also when it is killed.
process.once('disconnect', () => process.exit(1));

/** The highest resident memory of the process. */
function peakBytes(): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1_024;
}
