import { connect, createServer, type Server, type Socket } from 'node:net';
import { createRandom } from './chain/random.ts';
import { type Address, type Listener, startListener } from './http/listen.ts';

/** How a load balancer selects the node of a connection: round robin, or at random. */
export type BalancerOrder = 'alternate' | 'random';

/**
 * Starts a load balancer in front of nodes. It forwards bytes. Because a node closes the connection after each response, each
 * request has a connection of its own.
 */
export async function createBalancer(
  urls: readonly string[],
  order: BalancerOrder,
  address: Address,
): Promise<Listener> {
  const random = createRandom(urls.length, 'balancer');
  const sockets = new Set<Socket>();
  let calls = 0;

  function nextUrl(): URL {
    const place = order === 'alternate' ? calls++ % urls.length : random.below(urls.length);
    return new URL(urls[place] ?? '');
  }

  const server: Server = createServer((client) => {
    const { hostname, port } = nextUrl();
    const node = connect(Number(port), hostname.replace(/^\[|\]$/g, ''));
    for (const [socket, other] of [
      [client, node],
      [node, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.resetAndDestroy());
      socket.once('close', () => {
        sockets.delete(socket);
        other.destroySoon();
      });
      socket.pipe(other);
    }
  });
  return startListener(server, address, () => {
    for (const socket of sockets) socket.destroy();
  });
}
