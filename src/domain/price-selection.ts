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
  const named = new Set(poolPairs?.map(({ token1Id, token2Id }) => findPoolPair(state, token1Id, token2Id)));
  const tokens = new Set(tokenIds);
  const isAll = poolPairs === undefined && tokenIds === undefined;

  return [...state.poolPairs.values()].filter(
    (pool) =>
      (isAll || named.has(pool) || tokens.has(pool.token1Id) || tokens.has(pool.token2Id)) &&
      !isUnchanged(pool, previous),
  );
}

function isUnchanged(pool: PoolPair, previous: ExchangeState | undefined): boolean {
  const before = previous?.poolPairs.get(poolPairId(pool));
  return before !== undefined && hasSameReserves(before, pool);
}
