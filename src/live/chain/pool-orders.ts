import { LRUCache } from 'lru-cache';
import { BYTES_OF_ORDER, type PoolOrder } from '../../domain/pool-order.ts';
import { type PoolPair, poolPairId } from '../../domain/pool-pair.ts';
import { HeightNotAvailableError } from '../../errors.ts';
import type { Bulkhead, QueuedCall } from '../../turns/bulkhead.ts';
import type { Requester } from '../../turns/fair-queue.ts';
import { whyStateIsMissing } from '../../upstream/node/state-not-found.ts';
import { type Head, nameOfState } from './head.ts';
import type { Nodes } from './nodes.ts';

/** Reads the orders of pools of V3 whose state has none, because it is that of an old node. */
export type PoolOrders = ReturnType<typeof createPoolOrders>;

type PoolOrdersOptions = {
  readonly nodes: Pick<Nodes, 'readFrom' | 'ofChain'>;
  readonly bulkhead: Bulkhead;
  /** The newest heads that were served. */
  readonly served: () => readonly Head[];
};

/** The books that clients look at. A large one has thousands of orders: then fewer stay in memory. */
const MAX_BOOKS = 64;
const MAX_BYTES = 64 * 2 ** 20;

/** The time for one book, in upstream timeouts: behind a load balancer, it is read again if it is that of another block. */
const TIMEOUTS_FOR_A_BOOK = 2;

/** Creates the reader, with no orders read yet. Those of a height that can be replaced are used only under the same head. */
export function createPoolOrders({ nodes, bulkhead, served }: PoolOrdersOptions) {
  const books = new LRUCache<string, QueuedCall<readonly PoolOrder[]>>({ max: MAX_BOOKS, maxSize: MAX_BYTES });
  const currentReads = new Map<string, QueuedCall<readonly PoolOrder[]>>();

  async function readFromAny(pool: PoolPair, head: Head): Promise<readonly PoolOrder[]> {
    const sharing = nodes.ofChain(head, pool.beaconHeight, served());
    const order = sharing.toSorted((a, b) => Number(a.isPaused('pastStates')) - Number(b.isPaused('pastStates')));
    try {
      return await nodes.readFrom(order, (node, signal) => node.readPoolOrders(pool, signal), TIMEOUTS_FOR_A_BOOK);
    } catch (error) {
      const isPruned = whyStateIsMissing(error) === 'pruned';
      throw isPruned ? new HeightNotAvailableError(pool.beaconHeight, head.beaconHeight) : error;
    }
  }

  return {
    /**
     * The orders of a pool at its height, in the order of the node. All requests for them share one read.
     *
     * @param pool a pool of a state of V3: a node responds without orders for a pool that it does not have
     * @param head the head of the response, at the height of the pool or above it
     * @param requester the client and operation that wait for it in the queue
     * @throws HeightNotAvailableError if every node has pruned the height, UpstreamError
     */
    async read(pool: PoolPair, head: Head, requester: Requester): Promise<readonly PoolOrder[]> {
      const name = `${poolPairId(pool)} at ${nameOfState(pool.beaconHeight, head)}`;
      const known = books.get(name) ?? currentReads.get(name);
      if (known !== undefined) return known.wait(requester);

      const book = bulkhead.queue(() => readFromAny(pool, head));
      currentReads.set(name, book);
      book.response
        .then(
          ({ length }) => books.set(name, book, { size: 1 + length * BYTES_OF_ORDER }),
          () => undefined,
        )
        .finally(() => currentReads.delete(name));
      return book.wait(requester);
    },
  };
}
