import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { afterAll, test as base, beforeAll } from 'vitest';
import { freePort } from './ports.ts';

/** Where Debian has the programs of PostgreSQL. */
const BIN = globSync('/usr/lib/postgresql/*/bin').at(-1);

/** Whether tests with PostgreSQL can run on this machine. CI installs it. */
export const hasPostgres = BIN !== undefined;

/** PostgreSQL in a folder of its own. */
export type PostgresServer = {
  /** The URL of its only database. */
  readonly url: URL;
  /** Stops it at once, as a crash does. The database stays. */
  kill(): Promise<void>;
  /** Starts it again on the same port. */
  restart(): Promise<void>;
  /** Stops it, and deletes its files. */
  close(): Promise<void>;
};

/** Starts PostgreSQL. It refuses to run as root, so that root starts it as Debian's user. */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'pdex-postgres-'));
  const isRoot = process.getuid?.() === 0;
  const asUser = (program: string, args: readonly string[]): [string, string[]] =>
    isRoot
      ? ['runuser', ['-u', 'postgres', '--', join(BIN ?? '', program), ...args]]
      : [join(BIN ?? '', program), [...args]];
  if (isRoot) {
    const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
    chownSync(folder, idOf('-u'), idOf('-g'));
  }
  const data = join(folder, 'data');
  const [initdb, initArgs] = asUser('initdb', [
    '-D',
    data,
    '-U',
    'gateway',
    '-A',
    'trust',
    '-N',
    '-E',
    'UTF8',
    '--locale=C',
  ]);
  execFileSync(initdb, initArgs, { cwd: '/', stdio: 'ignore' });

  const port = await freePort();
  const settings = [
    // Only the server is killed, never the machine.
    'fsync=off',
    'full_page_writes=off',
    'autovacuum=off',
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'max_connections=20',
  ];
  const [postgres, args] = asUser('postgres', [
    '-D',
    data,
    '-p',
    String(port),
    ...settings.flatMap((text) => ['-c', text]),
  ]);

  async function start() {
    const child = spawn(postgres, args, { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
    for await (const line of createInterface(child.stderr)) {
      if (!line.includes('ready to accept connections')) continue;
      child.stderr.resume();
      return child;
    }
    throw new Error('PostgreSQL has ended');
  }

  let server = await start();
  const stop = async (signal: NodeJS.Signals) => {
    const exited = once(server, 'exit');
    // With runuser in between, the signal has to reach the server itself.
    const pid = execFileSync('head', ['-n', '1', join(data, 'postmaster.pid')], { encoding: 'utf8' }).trim();
    process.kill(Number(pid), signal);
    await exited;
  };
  let isRunning = true;
  return {
    url: new URL(`postgres://gateway@127.0.0.1:${port}/postgres`),
    async kill() {
      isRunning = false;
      await stop('SIGQUIT');
    },
    async restart() {
      server = await start();
      isRunning = true;
    },
    async close() {
      if (isRunning) await stop('SIGQUIT');
      rmSync(folder, { recursive: true });
    },
  };
}

/**
 * Starts PostgreSQL for the tests of one file. Where it is not installed, they say that they are skipped, but not in CI.
 *
 * @returns `test`, and what the tests use
 */
export function usePostgres() {
  let started: PostgresServer | undefined;
  beforeAll(async () => {
    if (hasPostgres) started = await startPostgres();
  });
  afterAll(() => started?.close());

  const test = base.extend('isHere', { auto: true }, ({ skip }) => {
    if (!hasPostgres && process.env['CI'] === undefined) skip('PostgreSQL is not installed');
  });
  function server(): PostgresServer {
    if (started === undefined) throw new Error('PostgreSQL is not installed');
    return started;
  }

  /** Runs SQL on a connection of its own. @returns the rows */
  async function query(text: string): Promise<readonly unknown[]> {
    const client = new pg.Client(server().url.href);
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }
  return { test, server, query };
}
