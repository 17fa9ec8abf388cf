import { connect, createServer, type Server, type Socket } from 'node:net';
import { createRandom } from './chain/random.ts';
import { type Address, listen, urlOf } from './http/listen.ts';

/** Which of its nodes a load balancer sends a connection to: one after another, or any. */
export type BalancerOrder = 'alternate' | 'random';

/** A load balancer: one URL, behind which each call is answered by another node. */
export type Balancer = {
  /** Without a slash at the end. */
  readonly url: string;
  /** Breaks all connections and refuses new ones. */
  stop(): Promise<void>;
};

/**
 * Starts a load balancer in front of nodes. It passes on bytes: a node closes the connection after each answer, so that each
 * call is a connection of its own.
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
