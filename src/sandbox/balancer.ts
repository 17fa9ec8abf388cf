import { connect, createServer, type Server, type Socket } from 'node:net';
import { createRandom } from './chain/random.ts';
import { type Address, listen, urlOf } from './http/listen.ts';

/** How a load balancer selects the node of a connection: round robin, or at random. */
export type BalancerOrder = 'alternate' | 'random';

/** A load balancer: one URL, behind which each request goes to another node. */
export type Balancer = {
  /** Without a trailing slash. */
  readonly url: string;
  /** Closes all connections and refuses new ones. */
  stop(): Promise<void>;
};

/**
 * Starts a load balancer in front of nodes. It forwards bytes. Because a node closes the connection after each response, each
 * request has a connection of its own.
 */
export async function createBalancer(
  urls: readonly string[],
  order: BalancerOrder,
  address: Address,
): Promise<Balancer> {
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
  const port = await listen(server, address);

  return {
    url: urlOf({ host: address.host, port }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
