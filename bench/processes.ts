import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { coreOf, type Place } from './machine.ts';
import type { AskedMessage, ToldMessage } from './tell.ts';

/** A process of the bench, with a core to itself where the machine lets it. */
export type BenchProcess = {
  /** Where it serves; the empty text for one that does not. */
  readonly url: string;
  /** Asks the process something that tell.ts or its own code answers. */
  ask<Value>(name: string, given?: unknown): Promise<Value>;
  /** Breaks it off. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** What a process is started from. */
export type ProcessOptions = {
  readonly place: Place;
  /** A file, named from the folder of the bench. */
  readonly file: string;
  readonly args?: readonly string[];
  /** What Node itself is told. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Nothing of the bench is loaded into it: it is what its user would start, and can be asked nothing. */
  readonly isAsItIs?: boolean;
  /** Finds where it serves in a line of its output; without it the process says so itself, over its channel. */
  readonly servesAt?: (line: string) => string | undefined;
};

const STARTS_WITHIN_MS = 60_000;
const ANSWERS_WITHIN_MS = 300_000;
/** A quarter of a core that others want whole. */
const UPSTREAM_PRIORITY = 5;
const STOPS_WITHIN_MS = 10_000;
const PRELOAD = pathOf('tell.ts');

/** Starts a process and waits until it is ready. Rejects when it ends before. */
export async function startProcess(options: ProcessOptions): Promise<BenchProcess> {
  const { place, file, args = [], flags = [], env = {}, cwd, isAsItIs = false } = options;
  const core = coreOf(place);
  const pinned = core === undefined ? [] : ['taskset', '-c', String(core)];
  const ours = isAsItIs ? [] : ['--expose-gc', '--import', PRELOAD];
  const node = [process.execPath, ...ours, ...flags, pathOf(file), ...args];
  const [command = '', ...rest] = [...pinned, ...node];
  const child = spawn(command, rest, {
    cwd,
    // Nothing of the machine's environment may differ between one server and another.
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit', isAsItIs ? 'ignore' : 'ipc'],
    serialization: 'advanced',
  });
  running.add(child);
  // Where the upstreams share a core with the load, the load goes first; but a quarter is theirs, or no new height would come.
  if (place === 'upstream' && child.pid !== undefined) setPriority(child.pid, UPSTREAM_PRIORITY);
  child.once('exit', () => running.delete(child));

  const url = await untilReady(child, options).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  const stop = () => end(child);
  return { url, ask: createAsker(child, file), stop, [Symbol.asyncDispose]: stop };
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

function untilReady(child: ChildProcess, { file, servesAt }: ProcessOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${file} was not ready in time`)), STARTS_WITHIN_MS);
    const ready = (url: string) => {
      clearTimeout(late);
      resolve(url);
    };
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`${file} ended with ${code ?? signal}`)));
    child.on('message', (message: { readonly ready?: string }) => {
      if (message.ready !== undefined) ready(message.ready);
    });
    if (!child.stdout) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const url = servesAt?.(line);
      if (url !== undefined) ready(url);
    });
  });
}

function createAsker(child: ChildProcess, file: string): BenchProcess['ask'] {
  const asked = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  let lastAsk = 0;
  const failAll = (reason: string) => {
    for (const { reject } of asked.values()) reject(new Error(`${file} ${reason}`));
    asked.clear();
  };
  child.once('exit', () => failAll('ended before it answered'));
  child.on('message', ({ told, value, failed }: ToldMessage) => {
    const waiting = asked.get(told);
    asked.delete(told);
    if (failed === undefined) waiting?.resolve(value as never);
    else waiting?.reject(new Error(`${file}: ${failed}`));
  });

  return (name, given) =>
    new Promise((resolve, reject) => {
      lastAsk += 1;
      const late = setTimeout(() => failAll(`did not answer "${name}"`), ANSWERS_WITHIN_MS);
      const settled = <Value>(settle: (value: Value) => void) => {
        return (value: Value) => {
          clearTimeout(late);
          settle(value);
        };
      };
      asked.set(lastAsk, { resolve: settled(resolve), reject: settled(reject) });
      child.send({ ask: lastAsk, name, given } as AskedMessage);
    });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  // What a process does at its end is not measured.
  child.kill('SIGKILL');
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, STOPS_WITHIN_MS).unref())]);
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
