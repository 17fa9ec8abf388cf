import { UpstreamNotConfiguredError } from '../errors.ts';
import type { Follower } from './follower.ts';
import type { Head, HeadFollower } from './head.ts';
import { createLatest } from './latest.ts';
import type { MarketFollower } from './market.ts';
import type { Nodes } from './nodes.ts';
import type { OrderBooks } from './order-books.ts';
import type { PastStates } from './past-states.ts';

/** What is read of nodes where none is configured: nothing, and every attempt says so. */
export function absentNodes(): { head: HeadFollower; nodes: { status: Nodes['status'] }; pastStates: PastStates } {
  const error = new UpstreamNotConfiguredError('NODE');
  const head = absentFollower<Head>(error);
  return {
    head: { ...head, isStale: () => true, problems: () => [], nextAt: () => undefined, listenAfter: () => head.listen },
    nodes: { status: () => [] },
    pastStates: {
      read: () => Promise.reject(error),
      readAll: async (heights) => heights.map(() => error),
      prunedHeights: () => [],
    },
  };
}

/** What is read of a market-data host where none is configured: nothing, and every attempt says so. */
export function absentMarketData(): { market: MarketFollower; orderBooks: OrderBooks } {
  const error = new UpstreamNotConfiguredError('MARKET_DATA');
  return {
    market: { pairs: absentFollower(error), tickers: absentFollower(error), freshness: () => undefined },
    orderBooks: {
      read: () => Promise.reject(error),
      listen: () => createLatest<never>().listen,
      followed: () => 0,
      listeners: () => 0,
      skipped: () => 0,
    },
  };
}

function absentFollower<T>(error: UpstreamNotConfiguredError): Follower<T> {
  const latest = createLatest<T>();
  return {
    get: () => Promise.reject(error),
    current: latest.current,
    newest: latest.current,
    listen: latest.listen,
    listeners: latest.listeners,
    skipped: latest.skipped,
    isFailing: () => false,
    stop() {},
  };
}
