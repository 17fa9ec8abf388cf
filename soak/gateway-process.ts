import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { SandboxHosts } from '../src/sandbox/sandbox.ts';
import { UPSTREAM_TIMEOUT_MS } from './outages.ts';
import { type MetricsReading, parseMetrics } from './prometheus.ts';

/** The gateway under test, in its own process. */
export type GatewayProcess = {
  readonly url: URL;
  metrics(): Promise<MetricsReading>;
  /** The memory usage after a garbage collection. */
  memory(): Promise<MemoryInUse>;
  isRunning(): boolean;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
  /** Stops the process, so that it neither runs nor answers, until {@link resume}. */
  pause(): void;
  resume(): void;
  /** Stops it with SIGTERM, as a supervisor does. @returns its exit code, or what went wrong */
  stop(): Promise<number | string>;
};

/** The result of `process.memoryUsage()`, in bytes. */
type MemoryInUse = {
  readonly heapUsed: number;
  readonly heapTotal: number;
  readonly external: number;
  readonly rss: number;
};

/** A line of the gateway's log. */
type LogLine = { readonly level: number; readonly msg: string };

/** Receives the output of the gateway. */
export type GatewayListener = {
  logged(line: LogLine): void;
  /** A line on stderr, or one on stdout that is not of the log. */
  unexpectedOutput(text: string): void;
  /** The gateway exited although it was not stopped. */
  crashed(how: string): void;
};

/**
 * glibc returns freed memory to the system from these sizes on. By default it raises them to megabytes, and retains more than 100 MB,
 * so that the resident memory says nothing about leaks.
 */
const RETURNED_MEMORY = { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' };

/** Short intervals and timeouts, so that much happens in a minute. */
const SETTINGS = {
  PORT: '0',
  HEAD_POLL_MS: '100',
  MARKET_POLL_MS: '300',
  ORDER_BOOK_TTL_MS: '300',
  UPSTREAM_TIMEOUT_MS: String(UPSTREAM_TIMEOUT_MS),
  UPSTREAM_MAX_PAUSE_MS: '1000',
  // So that volumes of an hour are complete within a minute.
  TRADES_BACKFILL_HOURS: '1',
  // Each client sends its own address.
  TRUSTED_PROXIES: 'loopback',
  LOG_LEVEL: 'info',
};

const STOP_TIMEOUT_MS = 15_000;

/** Starts a gateway in front of all hosts of a sandbox, and waits until it is serving. */
export async function startGatewayProcess(
  sandbox: SandboxHosts,
  listener: GatewayListener,
  settings: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> {
  // Its own folder, so that it reads no .env file. The folder also contains the tokens file.
  const folder = mkdtempSync(join(tmpdir(), 'pdex-soak-'));
  const child = spawn(
    process.execPath,
    [...flagsOfStart(), '--expose-gc', '--import', pathOf('./report-memory.ts'), pathOf('../src/start.js')],
    {
      cwd: folder,
      // A Ctrl-C in the terminal must reach only the soak test.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        ...SETTINGS,
        ...RETURNED_MEMORY,
        TOKENS_FILE: writeTokens(sandbox, folder),
        FULLNODE_URL: sandbox.nodeUrls.join(),
        FULLNODE_WS_URL: sandbox.pushUrls.join(),
        TOKENS_URL: sandbox.tokensUrl,
        MARKET_DATA_URL: sandbox.marketDataUrl,
        ...settings,
      },
    },
  );
  let isStopping = false;
  child.once('exit', (code, signal) => {
    rmSync(folder, { recursive: true, force: true });
    if (!isStopping) listener.crashed(`ended with ${code ?? signal}`);
  });
  const url = await untilServing(child, listener);

  return {
    url,
    metrics: async () => parseMetrics(await (await fetch(new URL('/metrics', url))).text()),
    async memory() {
      child.send('');
      const [memory] = await once(child, 'message', { signal: AbortSignal.timeout(10_000) });
      return memory;
    },
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async kill() {
      isStopping = true;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? String(child.signalCode);
      isStopping = true;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const timeout = sleep(STOP_TIMEOUT_MS, undefined, { ref: false }).then(() => undefined);
      const end = await Promise.race([ended, timeout]);
      if (end) return end[0] ?? String(end[1]);
      child.kill('SIGKILL');
      return `no exit within ${STOP_TIMEOUT_MS} ms after SIGTERM`;
    },
  };
}

function untilServing(child: ChildProcess, listener: GatewayListener): Promise<URL> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the gateway exited with ${code} before it was serving`)));
    if (!child.stdout || !child.stderr) return reject(new Error('the gateway has no output'));
    createInterface({ input: child.stderr }).on('line', (line) => listener.unexpectedOutput(line));
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = parseLine(text);
      if (line === undefined) return listener.unexpectedOutput(text);
      listener.logged(line);
      if (line.msg === 'serving' && line.graphql !== undefined) resolve(new URL(line.graphql));
    });
  });
}

function parseLine(text: string): (LogLine & { readonly graphql?: string }) | undefined {
  try {
    const line = JSON.parse(text);
    return typeof line.level === 'number' && typeof line.msg === 'string' ? line : undefined;
  } catch {
    return undefined;
  }
}

function writeTokens({ chain }: SandboxHosts, folder: string): string {
  const path = join(folder, 'tokens.json');
  const ofPools = chain.v3Pools.flatMap(({ token0, token1 }) => [token0, token1]);
  const named = [...new Set([...chain.tokens, ...ofPools])].filter(({ symbol }) => symbol !== undefined);
  writeFileSync(path, JSON.stringify(named.map(({ id, symbol, decimals }) => ({ id, symbol, decimals }))));
  return path;
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

/** The flags of Node in `npm start`: `exec node [flag ...] src/start.js`. */
function flagsOfStart(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(pathOf('../package.json'), 'utf8'));
  return scripts.start.split(' ').filter((word: string) => word.startsWith('-'));
}
