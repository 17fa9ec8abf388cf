import { type ExchangeState, findPoolPair } from './exchange.ts';
import { hasSameReserves, type PoolPair, poolPairId } from './pool-pair.ts';
import type { TokenId } from './token-id.ts';

/** Whose prices a subscriber wants: of the pools named, of those that hold a token named; of all where neither is given. */
export type PriceSelection = {
  readonly poolPairs?: readonly { readonly token1Id: TokenId; readonly token2Id: TokenId }[] | undefined;
  readonly tokenIds?: readonly TokenId[] | undefined;
};

/**
 * The pools of a state that were selected, each once, in order of their ids.
 *
 * @param previous where it is given, pools with the same reserves in it are left out
 */
export function selectPrices(
  state: ExchangeState,
  { poolPairs, tokenIds }: PriceSelection,
  previous?: ExchangeState,
): PoolPair[] {
  const found = poolPairs?.map(({ token1Id, token2Id }) => findPoolPair(state, token1Id, token2Id));
  const named = new Set(found?.filter((pool) => pool !== undefined));
  const selected = tokenIds === undefined && poolPairs !== undefined ? inOrder(named) : select(state, named, tokenIds);
  return previous === undefined ? selected : selected.filter((pool) => !isUnchanged(pool, previous));
}

/** The few that are named need no look at all the others. */
function inOrder(pools: Iterable<PoolPair>): PoolPair[] {
  return [...pools].sort((a, b) => compareText(a.token1Id, b.token1Id) || compareText(a.token2Id, b.token2Id));
}

/** The pools that are named, and those of the tokens; all where no tokens are given. */
function select({ poolPairs }: ExchangeState, named: ReadonlySet<PoolPair>, tokenIds?: readonly TokenId[]): PoolPair[] {
  const pools = [...poolPairs.values()];
  if (tokenIds === undefined) return pools;
  const tokens = new Set(tokenIds);
  return pools.filter((pool) => named.has(pool) || tokens.has(pool.token1Id) || tokens.has(pool.token2Id));
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function isUnchanged(pool: PoolPair, previous: ExchangeState): boolean {
  const before = previous.poolPairs.get(poolPairId(pool));
  return before !== undefined && hasSameReserves(before, pool);
}
