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

/** A server on one port. */
export type Listener = {
  /** Without a trailing slash. It stays the same after a stop and a start. */
  readonly url: string;
  /** Listens again on the same port. While another program has it, this waits, for half a minute at most. */
  start(): Promise<void>;
  /** Closes all connections and refuses new ones. */
  stop(): Promise<void>;
};

/** Starts to listen. Rejects if the port is in use. @param closeAll closes all connections */
export async function startListener(server: Server, address: Address, closeAll: () => void): Promise<Listener> {
  const { host } = address;
  const port = await listen(server, address);
  /** Ends the wait for the port. */
  let stopping = new AbortController();

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    start: () => (server.listening ? Promise.resolve() : listenAgain(server, { host, port }, stopping.signal)),
    stop() {
      stopping.abort();
      stopping = new AbortController();
      if (!server.listening) return Promise.resolve();
      return new Promise((resolve) => {
        server.close(() => resolve());
        closeAll();
      });
    },
  };
}

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
