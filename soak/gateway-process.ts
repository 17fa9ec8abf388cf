import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Sandbox } from '../src/sandbox/sandbox.ts';
import { type MetricsReading, parseMetrics } from './prometheus.ts';

/** The gateway under soak, in a process of its own. */
export type GatewayProcess = {
  readonly url: URL;
  metrics(): Promise<MetricsReading>;
  /** What is in use after a collection of garbage, in bytes. */
  memory(): Promise<MemoryInUse>;
  /** `false` once it has ended, for whatever reason. */
  isRunning(): boolean;
  /** Asks it to end as a supervisor does. @returns what it ended with: 0, or what is wrong */
  stop(): Promise<number | string>;
};

/** What a process has of memory, in bytes. */
type MemoryInUse = {
  /** What lives in V8's heap. */
  readonly heapUsed: number;
  /** What V8's heap takes, free pages among it. */
  readonly heapTotal: number;
  /** What buffers hold. */
  readonly external: number;
  /** All that is resident. */
  readonly rss: number;
};

/** A line of the gateway's log. */
type LogLine = { readonly level: number; readonly msg: string };

/** Told what the gateway says. */
export type GatewayListener = {
  logged(line: LogLine): void;
  /** A line that is not of its log: on stderr, or of another form. */
  muttered(text: string): void;
  /** It has ended though nobody stopped it. */
  crashed(how: string): void;
};

/** How often it looks for what is new, and how long it waits: all short, so that a minute holds much. */
const SETTINGS = {
  PORT: '0',
  HEAD_POLL_MS: '100',
  MARKET_POLL_MS: '300',
  ORDER_BOOK_TTL_MS: '300',
  UPSTREAM_TIMEOUT_MS: '1500',
  UPSTREAM_MAX_PAUSE_MS: '1000',
  // Each client says which address is its own.
  TRUSTED_PROXIES: 'loopback',
  LOG_LEVEL: 'info',
};

const STOPS_WITHIN_MS = 15_000;

/** Starts a gateway in front of all hosts of a sandbox, and waits until it serves. */
export async function startGatewayProcess(sandbox: Sandbox, listener: GatewayListener): Promise<GatewayProcess> {
  // A folder of its own: no .env of whoever runs the soak is read, and the tokens file lies there.
  const folder = mkdtempSync(join(tmpdir(), 'pdex-soak-'));
  const child = spawn(
    process.execPath,
    [...flagsOfStart(), '--expose-gc', '--import', pathOf('./tell-memory.ts'), pathOf('../src/start.js')],
    {
      cwd: folder,
      // A Ctrl-C in the terminal is for the soak alone.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        ...SETTINGS,
        TOKENS_FILE: writeTokens(sandbox, folder),
        FULLNODE_URL: sandbox.nodeUrls.join(),
        MARKET_DATA_URL: sandbox.marketDataUrl,
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
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? String(child.signalCode);
      isStopping = true;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const late = sleep(STOPS_WITHIN_MS, undefined, { ref: false }).then(() => undefined);
      const end = await Promise.race([ended, late]);
      if (end) return end[0] ?? String(end[1]);
      child.kill('SIGKILL');
      return `nothing within ${STOPS_WITHIN_MS} ms of SIGTERM`;
    },
  };
}

function untilServing(child: ChildProcess, listener: GatewayListener): Promise<URL> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code} before it served`)));
    if (!child.stdout || !child.stderr) return reject(new Error('the gateway has no output'));
    createInterface({ input: child.stderr }).on('line', (line) => listener.muttered(line));
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = parseLine(text);
      if (line === undefined) return listener.muttered(text);
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

function writeTokens({ chain }: Sandbox, folder: string): string {
  const path = join(folder, 'tokens.json');
  const named = chain.tokens.filter(({ symbol }) => symbol !== undefined);
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
