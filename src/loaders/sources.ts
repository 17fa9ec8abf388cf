import type { TokenList } from '../domain/token.ts';
import type { HeadFollower } from '../live/chain/head.ts';
import type { Nodes } from '../live/chain/nodes.ts';
import type { PastStates } from '../live/chain/past-states.ts';
import type { MarketFollower } from '../live/market/lists.ts';
import type { OrderBooks } from '../live/market/order-books.ts';
import type { PoolCache } from './pool-cache.ts';

/** What is read once for everyone, and what loaders take their answers from. */
export type Sources = {
  readonly head: HeadFollower;
  /** How the nodes are that the head is read from. */
  readonly nodes: Pick<Nodes, 'status'>;
  readonly pastStates: PastStates;
  readonly pools: PoolCache;
  readonly market: MarketFollower;
  readonly orderBooks: OrderBooks;
  readonly tokens: TokenList;
};
