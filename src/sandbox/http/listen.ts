import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The address to listen on. With port 0, a free port is chosen that the same host can listen on again after a stop. */
export type Address = { readonly host: string; readonly port: number };

// Operating systems take the ports of outgoing connections, and of servers that listen on port 0, from 32768 (Linux) or
// 49152 upwards. They never give a port below that to another program while the host is stopped.
const PORTS = { first: 20_000, end: 32_768 };
const MAX_TRIES = 50;

/** How long a host that was stopped waits for its port: another sandbox may have chosen it meanwhile. */
const MAX_WAIT_MS = 30_000;
const PAUSE_MS = 100;

/** Starts to listen. @returns the port. Rejects if it is in use */
export async function listen(server: Server, { host, port }: Address): Promise<number> {
  if (port !== 0) return listenOnce(server, host, port);

  for (let tries = 1; ; tries++) {
    try {
      return await listenOnce(server, host, randomInt(PORTS.first, PORTS.end));
    } catch (error) {
      if (!isInUse(error) || tries === MAX_TRIES) throw error;
    }
  }
}

/** Starts to listen again after a stop. While the port is in use, this waits. Rejects if that takes too long, or is aborted */
export async function listenAgain(server: Server, { host, port }: Address, signal?: AbortSignal): Promise<void> {
  const end = performance.now() + MAX_WAIT_MS;
  for (;;) {
    try {
      await listenOnce(server, host, port);
      return;
    } catch (error) {
      if (!isInUse(error) || performance.now() > end) throw error;
    }
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

function isInUse(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
}

async function listenOnce(server: Server, host: string, port: number): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  return port;
}

/** The URL of an address, without a trailing slash. */
export function urlOf({ host, port }: Address): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
