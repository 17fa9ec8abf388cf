import { randomInt } from 'node:crypto';
import type { AddressInfo, Server } from 'node:net';

/** The address to listen on. With port 0, a free port is chosen that the same host can listen on again after a stop. */
export type Address = { readonly host: string; readonly port: number };

// Operating systems take the ports of outgoing connections, and of servers that listen on port 0, from 32768 (Linux) or
// 49152 upwards. They never give a port below that to another program while the host is stopped.
const PORTS = { first: 20_000, end: 32_768 };
const MAX_TRIES = 50;

/** Starts to listen. @returns the port. Rejects if it is in use */
export async function listen(server: Server, { host, port }: Address): Promise<number> {
  if (port !== 0) return listenOnce(server, host, port);

  for (let tries = 1; ; tries++) {
    try {
      return await listenOnce(server, host, randomInt(PORTS.first, PORTS.end));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || tries === MAX_TRIES) throw error;
    }
  }
}

function listenOnce(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** The URL of an address, without a trailing slash. */
export function urlOf({ host, port }: Address): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
