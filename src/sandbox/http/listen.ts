import type { AddressInfo, Server } from 'node:net';

/** The address to listen on. With port 0, the system chooses a free port. */
export type Address = { readonly host: string; readonly port: number };

/** Starts to listen. @returns the port. Rejects if it is in use */
export function listen(server: Server, { host, port }: Address): Promise<number> {
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
