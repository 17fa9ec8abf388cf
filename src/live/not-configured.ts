import { UpstreamNotConfiguredError } from '../errors.ts';
import { createBroadcast } from './broadcast/broadcast.ts';
import type { Follower } from './broadcast/follower.ts';
import type { Head } from './chain/head.ts';
import type { HeadFollower } from './chain/head-follower.ts';
import type { HeadTrades } from './chain/head-trades.ts';
import type { Nodes } from './chain/nodes.ts';
import type { PastStates } from './chain/past-states.ts';
import type { PoolOrders } from './chain/pool-orders.ts';
import type { MarketFollower } from './market/lists.ts';
import type { OrderBooks } from './market/order-books.ts';

/** The sources of the chain if no node is configured: every read fails with the error that says so. */
export function nodesNotConfigured(): {
  head: HeadFollower;
  nodes: Pick<Nodes, 'all' | 'poll' | 'status'>;
  pastStates: PastStates;
  poolOrders: PoolOrders;
  pushes: readonly [];
  trades: Pick<HeadTrades, 'of' | 'readPast' | 'mismatches'>;
} {
  const error = new UpstreamNotConfiguredError('NODE');
  const head = emptyFollower<Head>(error);
  return {
    head: {
      ...head,
      isStale: () => true,
      problems: () => [],
      nextAt: () => undefined,
      subscribeAfter: async () => head.subscribe,
      recent: () => [],
      canFillIn: false,
      push: { received() {}, changed() {} },
    },
    nodes: { all: [], poll: () => Promise.reject(error), status: () => [] },
    pastStates: {
      read: () => Promise.reject(error),
      readInBackground: () => Promise.reject(error),
      isBusy: () => false,
      readAll: async (heights) => heights.map(() => error),
      isComplete: () => true,
    },
    poolOrders: { read: () => Promise.reject(error) },
    pushes: [],
    trades: { of: () => Promise.reject(error), readPast: () => Promise.reject(error), mismatches: () => 0 },
  };
}

/** The sources of the market if no market-data host is configured: every read fails with the error that says so. */
export function marketDataNotConfigured(): { market: MarketFollower; orderBooks: OrderBooks } {
  const error = new UpstreamNotConfiguredError('MARKET_DATA');
  return {
    market: { pairs: emptyFollower(error), tickers: emptyFollower(error), freshness: () => undefined },
    orderBooks: {
      read: () => Promise.reject(error),
      subscribe: () => createBroadcast<never>().subscribe,
      newest: () => undefined,
      reads: () => 0,
      unreadableEntries: () => 0,
      followedBooks: () => ({ books: new Map(), freshUntil: Number.POSITIVE_INFINITY }),
      followed: () => 0,
      subscribers: () => 0,
      skippedValues: () => 0,
    },
  };
}

function emptyFollower<T>(error: UpstreamNotConfiguredError): Follower<T> {
  const latest = createBroadcast<T>();
  return {
    ...latest,
    newest: latest.current,
    get: () => Promise.reject(error),
    isFailing: () => false,
    failure: () => undefined,
    readNow: () => false,
    stop() {},
  };
}
