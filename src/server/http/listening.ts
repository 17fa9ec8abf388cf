import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Starts to listen. With port 0, the system chooses a free port.
 *
 * @returns the origin of the server
 * @throws Error that names the address and the problem, with the `code` of the system
 */
export async function listenOn(server: Server, port: number, host: string): Promise<string> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const problem = LISTEN_ERRORS.get(code) ?? message;
    throw Object.assign(new Error(`cannot listen on ${bracketed(host)}:${port}: ${problem}`, { cause: error }), {
      code,
    });
  }
  const { address, port: taken } = server.address() as AddressInfo;
  return `http://${bracketed(address)}:${taken}`;
}

/** An address as in a URL. */
function bracketed(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}

const LISTEN_ERRORS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'the port is in use'],
  ['EACCES', 'this user has no permission to use the port'],
  ['EADDRNOTAVAIL', 'this machine does not have that address'],
  ['ENOTFOUND', 'the host is unknown'],
  ['EAI_AGAIN', 'the host is unknown'],
]);
