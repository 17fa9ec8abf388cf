import type { AddressInfo, Server } from 'node:net';

/** Where a host listens; port 0 takes a free one. */
export type Address = { readonly host: string; readonly port: number };

/** Has a server listen. @returns the port that it listens on. Rejects when it is taken */
export function listen(server: Server, { host, port }: Address): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** The URL of an address, without a slash at the end. */
export function urlOf({ host, port }: Address): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
