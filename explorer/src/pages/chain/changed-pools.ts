import { percentOf, priceOfBase } from '../../format/prices.ts';
import { keyOfPool, keyOfTokens, toNodePoolId } from '../market/pool-id.ts';
import type { BlockQuery, PoolAtHeightFragment } from './block.generated.ts';

type Token = PoolAtHeightFragment['token1'];

/** A pool whose reserves a block has changed. Its name, direction and page are those of its market if it has one. */
export type ChangedPool = {
  readonly key: string;
  /** Null in V1. */
  readonly poolId: string | null;
  readonly base: Token;
  readonly target: Token;
  /** The market of the pool; undefined for a pool alone. */
  readonly market: { readonly tickerId: string; readonly poolId: string } | undefined;
  /** Target tokens per base token. */
  readonly price: number | null;
  /** How much the price has changed, in percent. */
  readonly percent: number | null;
};

/** The pools that a block has changed, the largest change of a price first. A pool that is on one list only is left out. */
export function changedPools({ pools, poolsBefore, pairs }: BlockQuery): readonly ChangedPool[] {
  const before = new Map(poolsBefore?.nodes.map((pool) => [keyOfPool(pool), pool]));
  // The first pair of a pool is its market. In V3, each pair has a pool of its own, unless the host names one of other tokens.
  const markets = new Map(
    pairs?.toReversed().flatMap((pair) => {
      const tokens = keyOfTokens(pair.baseId, pair.targetId);
      return [[tokens, pair] as const, [`${tokens} ${toNodePoolId(pair.poolId)}`, pair] as const];
    }),
  );
  const changed = (pools?.nodes ?? []).flatMap((pool): ChangedPool[] => {
    const key = keyOfPool(pool);
    const old = before.get(key);
    if (old === undefined) return [];
    if (old.token1PoolValue === pool.token1PoolValue && old.token2PoolValue === pool.token2PoolValue) return [];
    const { poolId } = pool;
    const tokens = keyOfTokens(pool.token1.tokenId, pool.token2.tokenId);
    const market = markets.get(poolId === null ? tokens : `${tokens} ${poolId}`);
    const isInverse = market?.baseId === pool.token1.tokenId;
    const [base, target] = isInverse ? [pool.token1, pool.token2] : [pool.token2, pool.token1];
    const [from, price] = [priceOfBase(old, base.tokenId), priceOfBase(pool, base.tokenId)];
    return [{ key, poolId, base, target, market, price, percent: percentOf(price, from) }];
  });
  return changed.sort((a, b) => Math.abs(b.percent ?? 0) - Math.abs(a.percent ?? 0));
}
