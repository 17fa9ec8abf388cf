import type { Pair, Ticker } from '../domain/market.ts';
import { UpstreamNotConfiguredError } from '../errors.ts';
import { createBroadcast } from './broadcast/broadcast.ts';
import type { Follower } from './broadcast/follower.ts';
import type { Head } from './chain/head.ts';
import type { MarketSnapshot } from './market/market-follower.ts';

/** The sources of the chain if no node is configured: every read fails with the error that says so. */
export function nodesNotConfigured() {
  const error = new UpstreamNotConfiguredError('NODE');
  const fail = (..._request: unknown[]) => Promise.reject(error);
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
    nodes: { all: [], poll: fail, status: () => [] },
    pastStates: {
      read: fail,
      readInBackground: fail,
      readAll: async (heights: readonly unknown[]) => heights.map(() => error),
      isBusy: () => false,
      isComplete: () => true,
    },
    poolOrders: { read: fail },
    pushes: [],
    trades: { of: fail, readPast: fail, mismatches: () => 0 },
  };
}

/** The sources of the market if no market-data host is configured: every read fails with the error that says so. */
export function marketDataNotConfigured() {
  const error = new UpstreamNotConfiguredError('MARKET_DATA');
  const pairs = emptyFollower<MarketSnapshot<Pair>>(error);
  const tickers = emptyFollower<MarketSnapshot<Ticker>>(error);
  return {
    market: { pairs, tickers, freshness: () => undefined },
    orderBooks: {
      read: (..._request: unknown[]) => Promise.reject(error),
      subscribe: (..._request: unknown[]) => createBroadcast<never>().subscribe,
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
