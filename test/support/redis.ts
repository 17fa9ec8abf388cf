import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './ports.ts';

/** Whether tests with Redis run: where it is installed, and in CI, which must have it. */
export const hasRedis =
  process.env['CI'] !== undefined ||
  ['/usr/bin', '/usr/local/bin'].some((folder) => isProgram(join(folder, 'redis-server')));

/** A redis-server that stores nothing on disk. */
export type RedisServer = {
  readonly url: URL;
  readonly port: number;
  /** Runs a command with redis-cli. @returns its reply, a line for each value */
  cli(...args: readonly string[]): string;
  /** Deletes all keys. */
  flush(): void;
  /** Stops the process without closing its connections, until {@link resume}. */
  pause(): void;
  resume(): void;
  /** Stops it at once, as a crash does. All keys are lost. */
  kill(): Promise<void>;
  /** Starts it again on the same port, without keys. */
  restart(): Promise<void>;
  /** Stops it. */
  close(): Promise<void>;
};

/** Starts a Sentinel that watches a server, and takes it for down after half a second. A failover that fails is tried again. */
export function startSentinel(
  name: string,
  { port }: Pick<RedisServer, 'port'>,
  args: readonly string[] = [],
): Promise<RedisServer> {
  const lines = [
    `monitor ${name} 127.0.0.1 ${port} 1`,
    `down-after-milliseconds ${name} 500`,
    // By default, the next attempt is six minutes later.
    `failover-timeout ${name} 5000`,
  ];
  return startRedis(['--sentinel', ...args], lines.map((line) => `sentinel ${line}\n`).join(''));
}

/**
 * Starts redis-server on a free port.
 *
 * @param args further options, such as `--requirepass`
 * @param config the text of a configuration file
 */
export async function startRedis(args: readonly string[] = [], config = ''): Promise<RedisServer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'pdex-redis-'));
  const file = join(folder, 'redis.conf');
  writeFileSync(file, config);
  const isSentinel = args.includes('--sentinel');
  const stored = isSentinel ? [] : ['--save', '', '--appendonly', 'no'];
  // By default, a server waits for five seconds whether another replica comes.
  const copied = isSentinel ? [] : ['--repl-diskless-sync-delay', '0'];
  const options = [file, '--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...stored, ...copied];
  let server: ChildProcess | undefined = await start();

  async function start(): Promise<ChildProcess> {
    const child = spawn('redis-server', [...options, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface(child.stdout)) {
      if (!/Ready to accept connections|Sentinel ID is/.test(line)) continue;
      child.stdout.resume();
      return child;
    }
    throw new Error('Redis has ended');
  }

  async function kill(): Promise<void> {
    if (server === undefined) return;
    const exited = once(server, 'exit');
    server.kill('SIGKILL');
    server = undefined;
    await exited;
  }

  const cli = (...command: readonly string[]) =>
    execFileSync('redis-cli', ['-p', String(port), ...command], { encoding: 'utf8' }).trim();
  return {
    url: new URL(`redis://127.0.0.1:${port}`),
    port,
    cli,
    flush: () => void cli('FLUSHALL'),
    pause: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
    kill,
    async restart() {
      await kill();
      server = await start();
    },
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A connection between a gateway and a server, such as Redis, that can be slow or cut. */
export type ServerLink = {
  readonly url: URL;
  /** Delays each reply by so long. */
  delay(ms: number): void;
  /** Closes all connections, and refuses new ones until {@link restore}. */
  cut(): void;
  restore(): void;
  /** Leads to another server from now on, as after a failover. */
  lead(to: Pick<RedisServer, 'port'>): void;
  close(): Promise<void>;
};

/** Opens a link to a server of this machine. */
export async function linkServer(to: Pick<RedisServer, 'port'>): Promise<ServerLink> {
  let target = to.port;
  const port = await freePort();
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let isCut = false;

  const server: Server = createServer((client) => {
    if (isCut) return void client.destroy();
    const redis = connect(target, '127.0.0.1');
    for (const socket of [client, redis]) {
      sockets.add(socket);
      socket.setNoDelay();
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        (socket === client ? redis : client).destroy();
      });
    }
    client.on('data', (bytes) => redis.write(bytes));
    // As in TCP, no reply overtakes an earlier one, also when the delay becomes shorter.
    let written = Promise.resolve();
    redis.on('data', (bytes) => {
      const dueAt = performance.now() + delayMs;
      written = written.then(async () => {
        if (dueAt > performance.now()) await sleep(dueAt - performance.now());
        client.write(bytes);
      });
    });
  });
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: new URL(`redis://127.0.0.1:${port}`),
    delay(ms) {
      delayMs = ms;
    },
    cut,
    restore() {
      isCut = false;
    },
    lead({ port }) {
      target = port;
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

function isProgram(path: string): boolean {
  try {
    execFileSync(path, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
