import type { Instant } from '../domain/instant.ts';
import type { Pair, Ticker } from '../domain/market.ts';
import type { Nodes } from '../live/chain/nodes.ts';
import type { PastStates } from '../live/chain/past-states.ts';
import { createHeadPolls } from './head-polls.ts';
import { createListPolls } from './list-polls.ts';
import { createMembers } from './members.ts';
import type { DirectoryOf } from './packed-states.ts';
import type { PollContext } from './poll-options.ts';
import { createOrderBookReads, createStateReads, createTradesReads } from './reads.ts';
import { createRedisClock, type Redis } from './redis.ts';
import type { FleetWatcher } from './values.ts';

/**
 * This gateway as a replica of a fleet. All replicas are equal: whichever gets the slot of an interval reads the upstream, and
 * publishes what is new to Redis before it serves it. A replica that cannot use Redis reads the upstreams alone.
 */
export type Fleet = ReturnType<typeof createFleet>;

/** How this gateway takes part in its fleet. */
export type FleetStatus = ReturnType<Fleet['status']>;

type FleetOptions = {
  readonly redis: Redis;
  readonly headsKept: number;
  /** How long one snapshot of an order book is returned to all clients. */
  readonly orderBookTtlMs: number;
  /** How long a read waits for another replica. */
  readonly maxWaitMs: number;
  readonly now: () => Instant;
  readonly watcher: FleetWatcher;
  /** Is called once if the fleet follows another chain. */
  readonly onOtherChain: (name: string) => void;
};

/** Joins the fleet of a gateway. */
export function createFleet(options: FleetOptions) {
  const { redis, headsKept, orderBookTtlMs, maxWaitMs, now, watcher, onOtherChain } = options;
  const members = createMembers(redis, onOtherChain);
  const context: PollContext = { redis, clock: createRedisClock(), members, watcher };
  let lagMs = 0;

  return {
    isRecorder: members.isRecorder,
    recordIf: members.recordIf,
    leave: members.leave,
    otherChain: members.otherChain,
    /** The polls of the two lists of the market. */
    market: {
      pairs: createListPolls<Pair>(context, 'pairs', now),
      tickers: createListPolls<Ticker>(context, 'tickers', now),
    },
    orderBooks: createOrderBookReads({ redis, ttlMs: orderBookTtlMs, maxWaitMs, now, watcher }),
    /** Creates what reads the nodes once for all replicas. */
    chain(nodes: Pick<Nodes, 'all' | 'poll'>, directoryOf: DirectoryOf) {
      const onLag = (ms: number) => {
        lagMs = ms;
      };
      return {
        states: createStateReads({ redis, directoryOf, maxWaitMs, watcher }),
        trades: createTradesReads({ redis, maxWaitMs, watcher }),
        heads: (pastStates: Pick<PastStates, 'read'>) =>
          createHeadPolls({ context, directoryOf, nodes, pastStates, headsKept, now, onLag }),
      };
    },
    status: () => ({
      /** How many replicas there are, with this one. */
      replicas: members.count(),
      /** Whether this gateway reads together with the others: Redis can be used, and the fleet follows the same chain. */
      isConnected: members.takesPart(),
      /** How long after another replica had read the newest head this one had it, in ms; 0 if this one has read it. */
      lagMs,
      redisErrors: redis.errors(),
    }),
  };
}
