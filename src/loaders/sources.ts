import type { PoolLists } from '../domain/pool-list.ts';
import type { TokenList } from '../domain/token.ts';
import type { HeadFollower } from '../live/head.ts';
import type { MarketFollower } from '../live/market.ts';
import type { Nodes } from '../live/nodes.ts';
import type { OrderBooks } from '../live/order-books.ts';
import type { PastStates } from '../live/past-states.ts';

/** What is read once for everyone, and what loaders take their answers from. */
export type Sources = {
  readonly head: HeadFollower;
  /** How the nodes are that the head is read from. */
  readonly nodes: Pick<Nodes, 'status'>;
  readonly pastStates: PastStates;
  /** Pools in the orders that clients ask for. */
  readonly poolLists: PoolLists;
  readonly market: MarketFollower;
  readonly orderBooks: OrderBooks;
  readonly tokens: TokenList;
};
