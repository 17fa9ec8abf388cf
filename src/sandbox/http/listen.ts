import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** The address to listen on. With port 0, a free port is chosen that the same host can listen on again after a stop. */
export type Address = { readonly host: string; readonly port: number };

/**
 * Each process chooses its ports in a range of its own, and keeps the first one of it, so that the sandbox of another process is not
 * given the port of a host that is stopped. Operating systems take the ports of outgoing connections, and of servers that listen on
 * port 0, from 32768 (Linux) or 49152 upwards.
 */
const RANGES = { first: 20_000, count: 49, size: 256 };

/** The first port of the range of this process. */
let ownRange: Promise<number> | undefined;
/** The number of ports that were chosen in it. */
let chosen = 0;

/** A server on one port. */
export type Listener = {
  /** Without a trailing slash. It stays the same after a stop and a start. */
  readonly url: string;
  /** Listens again on the same port. Rejects if another program has it. */
  start(): Promise<void>;
  /** Closes all connections and refuses new ones. */
  stop(): Promise<void>;
};

/** Starts to listen. Rejects if the port is in use. @param closeAll closes all connections */
export async function startListener(server: Server, address: Address, closeAll: () => void): Promise<Listener> {
  const { host } = address;
  const port = await listen(server, address);

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    async start() {
      if (!server.listening) await listenOnce(server, host, port);
    },
    stop() {
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
  ownRange ??= claimRange(host).catch((error: unknown) => {
    ownRange = undefined;
    throw error;
  });
  const first = (await ownRange) + 1;
  return listenOnFreePort(server, host, () => first + (chosen++ % (RANGES.size - 1)));
}

function claimRange(host: string): Promise<number> {
  const keeper = createServer((socket) => socket.destroy()).unref();
  return listenOnFreePort(keeper, host, () => RANGES.first + randomInt(RANGES.count) * RANGES.size);
}

async function listenOnFreePort(server: Server, host: string, choose: () => number): Promise<number> {
  for (let tries = 1; ; tries++) {
    try {
      return await listenOnce(server, host, choose());
    } catch (error) {
      if (!isInUse(error) || tries === RANGES.size) throw error;
    }
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
