import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { coreOf, type Role } from './machine.ts';
import type { CallMessage, ReplyMessage } from './process-control.ts';

/** A process of the bench, on a core of its own if there are enough. */
export type BenchProcess = {
  /** The URL of a server; otherwise empty. */
  readonly url: string;
  /** Executes a command in the process, see process-control.ts. */
  call<Value>(name: string, argument?: unknown): Promise<Value>;
  /** Stops its execution until `resume`, so that it does not disturb a measurement on the same core. */
  pause(): void;
  resume(): void;
  /** Kills it. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** How a process is started. */
export type ProcessOptions = {
  readonly role: Role;
  /** The file that Node runs: a path from the folder of the bench, or an absolute path. */
  readonly file: string;
  readonly args?: readonly string[];
  /** The flags of Node. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Nothing of the bench is loaded into the process. It executes no commands. */
  readonly isPlain?: boolean;
  /** Finds the URL of the server in a line of its output. Without it, the process reports the URL itself. */
  readonly urlIn?: (line: string) => string | undefined;
};

const START_TIMEOUT_MS = 60_000;
const CALL_TIMEOUT_MS = 300_000;
/** With this niceness, a process gets a quarter of a core that another process uses fully. */
const UPSTREAM_NICENESS = 5;
const STOP_TIMEOUT_MS = 10_000;
const PRELOAD = pathOf('process-control.ts');

/** Starts a process and waits until it is ready. Rejects if it ends before. */
export async function startProcess(options: ProcessOptions): Promise<BenchProcess> {
  const { role, file, args = [], flags = [], env = {}, cwd, isPlain = false } = options;
  const core = coreOf(role);
  const pinned = core === undefined ? [] : ['taskset', '-c', String(core)];
  const control = isPlain ? [] : ['--expose-gc', '--import', PRELOAD];
  const node = [process.execPath, ...control, ...flags, pathOf(file), ...args];
  const [command = '', ...rest] = [...pinned, ...node];
  const child = spawn(command, rest, {
    cwd,
    // All servers have the same environment.
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit', isPlain ? 'ignore' : 'ipc'],
    serialization: 'advanced',
  });
  running.add(child);
  // On a shared core, the load generator comes before the sandbox. The sandbox still gets enough to create new heights.
  if (role === 'upstream' && child.pid !== undefined) setPriority(child.pid, UPSTREAM_NICENESS);
  child.once('exit', () => running.delete(child));

  const url = await untilReady(child, options).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  const stop = () => kill(child);
  return {
    url,
    call: createCaller(child, file),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

function untilReady(child: ChildProcess, { file, urlIn }: ProcessOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const timeout = setTimeout(() => reject(new Error(`${file} was not ready in time`)), START_TIMEOUT_MS);
    const ready = (url: string) => {
      clearTimeout(timeout);
      resolve(url);
    };
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`${file} ended with ${code ?? signal}`)));
    child.on('message', (message: { readonly ready?: string }) => {
      if (message.ready !== undefined) ready(message.ready);
    });
    if (!child.stdout) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const url = urlIn?.(line);
      if (url !== undefined) ready(url);
    });
  });
}

function createCaller(child: ChildProcess, file: string): BenchProcess['call'] {
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let lastId = 0;
  const failAll = (reason: string) => {
    for (const { reject } of pending.values()) reject(new Error(`${file} ${reason}`));
    pending.clear();
  };
  child.once('exit', () => failAll('ended before it replied'));
  child.on('message', ({ reply, value, error }: ReplyMessage) => {
    const caller = pending.get(reply);
    pending.delete(reply);
    if (error === undefined) caller?.resolve(value);
    else caller?.reject(new Error(`${file}: ${error}`));
  });

  return (name, argument) =>
    new Promise((resolve, reject) => {
      lastId += 1;
      const timeout = setTimeout(() => failAll(`did not reply to "${name}"`), CALL_TIMEOUT_MS);
      const settled = <Value>(settle: (value: Value) => void) => {
        return (value: Value) => {
          clearTimeout(timeout);
          settle(value);
        };
      };
      pending.set(lastId, { resolve: settled(resolve), reject: settled(reject) });
      child.send({ call: lastId, name, argument } as CallMessage);
    });
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  // How a process ends is not measured.
  child.kill('SIGKILL');
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, STOP_TIMEOUT_MS).unref())]);
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
