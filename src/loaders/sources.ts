import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { BlockTimes } from '../history/block-times.ts';
import type { History } from '../history/history.ts';
import type { HeadFollower } from '../live/chain/head-follower.ts';
import type { HeadTrades } from '../live/chain/head-trades.ts';
import type { Nodes } from '../live/chain/nodes.ts';
import type { PastStates } from '../live/chain/past-states.ts';
import type { PoolOrders } from '../live/chain/pool-orders.ts';
import type { MarketFollower } from '../live/market/market-follower.ts';
import type { OrderBooks } from '../live/market/order-books.ts';
import type { TokenSource } from '../live/tokens.ts';
import type { Bulkhead } from '../turns/bulkhead.ts';
import type { Requester } from '../turns/fair-queue.ts';
import type { BlockPush } from '../upstream/node/block-push.ts';
import type { ClosedIntervals } from './closed-intervals.ts';
import type { DivergenceRankings } from './divergence-ranking.ts';
import type { HistoryCache } from './history-cache.ts';
import type { PoolCache, UsdPricesOf } from './pool-cache.ts';

/** What is read once for all clients. Loaders read from it. */
export type Sources = {
  readonly head: HeadFollower;
  readonly nodes: Pick<Nodes, 'status'>;
  /** The websockets on which nodes push new blocks. */
  readonly pushes: readonly Pick<BlockPush, 'name' | 'status'>[];
  readonly pastStates: PastStates;
  /** The orders of pools whose state has none, because it is that of an old node. */
  readonly poolOrders: PoolOrders;
  /** The trades of the blocks of the newest heads. */
  readonly trades: Pick<HeadTrades, 'of' | 'readPast' | 'mismatches'>;
  readonly history: History;
  /** The queue of the reads of the history that clients cause. */
  readonly historyQueue: Bulkhead;
  readonly blockTimes: BlockTimes;
  readonly pools: PoolCache;
  readonly usdPrices: UsdPricesOf;
  readonly market: MarketFollower;
  readonly orderBooks: OrderBooks;
  readonly divergences: DivergenceRankings;
  readonly tokens: TokenSource;
  readonly historyCache: HistoryCache;
  readonly closedIntervals: ClosedIntervals;
};

/** What the loaders of one response, and the source streams of subscriptions, are created with. */
export type LoaderInputs = { readonly sources: Sources; readonly options: LoaderOptions };

/** The limits of what loaders return, whose requests they are, and after which event streams resume. */
type LoaderOptions = {
  readonly maxCandles: number;
  readonly maxHistoryHours: number;
  readonly maxPageSize: number;
  readonly requester: Requester;
  /**
   * The height in the header `Last-Event-ID`. It takes precedence over `afterHeight`, which an event source repeats each time
   * that it reconnects.
   */
  readonly afterEvent: BeaconHeight | undefined;
};
