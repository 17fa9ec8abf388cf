import type { TokenList } from '../domain/token.ts';
import type { HeadFollower } from '../live/chain/head-follower.ts';
import type { Nodes } from '../live/chain/nodes.ts';
import type { PastStates } from '../live/chain/past-states.ts';
import type { MarketFollower } from '../live/market/lists.ts';
import type { OrderBooks } from '../live/market/order-books.ts';
import type { PoolCache } from './pool-cache.ts';

/** What is read once for all clients. Loaders read from it. */
export type Sources = {
  readonly head: HeadFollower;
  /** The health of the nodes. */
  readonly nodes: Pick<Nodes, 'status'>;
  readonly pastStates: PastStates;
  /** The pools of states, sorted and filtered lists of them, and their JSON. */
  readonly pools: PoolCache;
  readonly market: MarketFollower;
  readonly orderBooks: OrderBooks;
  readonly tokens: TokenList;
};
