import type { ExchangeState, PoolDirectory } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import type { Pair, Ticker } from '../domain/market.ts';
import type { RawOrderBook } from '../domain/order-book.ts';
import type { BlockTrades } from '../domain/trade.ts';
import type { Head } from '../live/chain/head.ts';
import type { BlockName } from '../live/chain/head-trades.ts';
import type { Nodes } from '../live/chain/nodes.ts';
import type { FinalHeight, PastStates } from '../live/chain/past-states.ts';
import type { FleetPoll, Observed, ReadOnce } from '../live/fleet-port.ts';
import type { MarketPolls } from '../live/market/lists.ts';
import { createFleetChain } from './fleet-chain.ts';
import { createHeadPolls } from './heads.ts';
import { createListPolls } from './lists.ts';
import { createMembers, type Members } from './members.ts';
import { createPackedStates } from './packed-states.ts';
import { createRedisClock, type PollContext } from './poll-options.ts';
import { createOrderBookReads, createStateReads, createTradesReads } from './reads.ts';
import type { Redis } from './redis.ts';
import type { FleetWatcher } from './watcher.ts';

/**
 * This gateway as a replica of a fleet. All replicas are equal: whichever gets the slot of an interval reads the upstream, and
 * publishes what is new to Redis before it serves it. A replica that cannot use Redis reads the upstreams alone.
 */
export type Fleet = Pick<Members, 'isRecorder' | 'leave'> & {
  /** The polls of the two lists of the market. */
  readonly market: MarketPolls;
  readonly orderBooks: ReadOnce<string, Observed<RawOrderBook | undefined>>;
  /** Creates what reads the nodes once for all replicas. */
  chain(nodes: ChainOfNodes): FleetNodes;
  /** The name of the other chain that the fleet follows; `undefined` if it is the same, or if that cannot be known now. */
  otherChain(nodes: Pick<Nodes, 'poll'>): Promise<string | undefined>;
  status(): FleetStatus;
};

/** What the fleet needs to know of the nodes. @param directoryOf the directory of pools with these ids */
type ChainOfNodes = {
  readonly nodes: Pick<Nodes, 'all'>;
  readonly directoryOf: (ids: readonly string[]) => PoolDirectory;
};

/** What the fleet reads of the nodes once. */
type FleetNodes = {
  readonly states: ReadOnce<FinalHeight, ExchangeState>;
  readonly trades: ReadOnce<BlockName, BlockTrades>;
  heads(pastStates: Pick<PastStates, 'read'>): FleetPoll<Head>;
};

/** How this gateway takes part in its fleet. */
export type FleetStatus = {
  /** How many replicas there are, with this one. */
  readonly replicas: number;
  /** Whether this gateway reads together with the others: Redis can be used, and the fleet follows the same chain. */
  readonly isConnected: boolean;
  /** How long after another replica had read the newest head this one had it, in ms; 0 if this one has read it. */
  readonly lagMs: number;
  readonly redisErrors: number;
};

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
export function createFleet(options: FleetOptions): Fleet {
  const { redis, headsKept, orderBookTtlMs, maxWaitMs, now, watcher, onOtherChain } = options;
  const chain = createFleetChain(redis, onOtherChain);
  const members = createMembers(redis, chain.isOurs);
  const { isOurs: isMember } = chain;
  const context: PollContext = { redis, clock: createRedisClock(), isMember, replicas: members.count, watcher };
  let lagMs = 0;

  return {
    isRecorder: members.isRecorder,
    leave: members.leave,
    market: {
      pairs: createListPolls<Pair>(context, 'pairs', now),
      tickers: createListPolls<Ticker>(context, 'tickers', now),
    },
    orderBooks: createOrderBookReads({ redis, ttlMs: orderBookTtlMs, maxWaitMs, now, watcher }),
    chain({ nodes, directoryOf }) {
      const packedStates = createPackedStates(redis, directoryOf);
      const onLag = (ms: number) => {
        lagMs = ms;
      };
      return {
        states: createStateReads({ redis, packedStates, maxWaitMs, watcher }),
        trades: createTradesReads({ redis, maxWaitMs, watcher }),
        heads: (pastStates) =>
          createHeadPolls({ context, chain, packedStates, nodes, pastStates, headsKept, now, onLag }),
      };
    },
    otherChain: chain.otherChain,
    status: () => ({
      replicas: members.count(),
      isConnected: redis.isAvailable() && chain.isOurs(),
      lagMs,
      redisErrors: redis.errors(),
    }),
  };
}
