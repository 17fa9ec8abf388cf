import type { BestBlock, ChainInfo } from '../domain/chain.ts';
import type { Pair, Ticker } from '../domain/market.ts';
import type { PoolPair } from '../domain/pool-pair.ts';
import type { Token } from '../domain/token.ts';
import type { TradeOfBlock } from '../loaders/pool-trades.ts';

/** For each type that `Query.node` finds, a field that its objects always have. A ticker also has the fields of a pair. */
const FIELDS = [
  ['PoolPair', 'reserve1' satisfies keyof PoolPair],
  ['Ticker', 'lastPrice' satisfies keyof Ticker],
  ['Pair', 'tickerId' satisfies keyof Pair],
  ['ChainInfo', 'activeShards' satisfies keyof ChainInfo],
  ['BestBlock', 'blockProducer' satisfies keyof BestBlock],
  ['Token', 'decimals' satisfies keyof Token],
  ['Trade', 'trade' satisfies keyof TradeOfBlock],
] as const;

/** The name of the GraphQL type of an object of the domain that has an id; `undefined` for another value. */
export function typeOfNode(node: unknown): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  return FIELDS.find(([, field]) => field in node)?.[0];
}
