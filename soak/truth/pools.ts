import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Chain } from '../../src/sandbox/chain/chain.ts';
import type { ChainPool } from '../../src/sandbox/chain/pools.ts';
import type { ChainToken } from '../../src/sandbox/chain/tokens.ts';
import { NO_QUOTES, quotesOf } from './formula.ts';

/** What is asked of a pool, and in this order told. */
export const POOL_FIELDS =
  'id key beaconHeight token1PoolValue token2PoolValue price exactPrice inversePrice spotPrice token1 { tokenId symbol decimals } token2 { tokenId symbol decimals }';

/** A pool as the gateway is to tell it. */
export type PoolTold = {
  readonly id: string;
  readonly beaconHeight: number;
  readonly token1PoolValue: string;
  readonly token2PoolValue: string;
};

const told = new WeakMap<Block, ReadonlyMap<string, PoolTold>>();

/** Every pool at a block, by the readable id that it has as long as that block is the newest; in order of these ids. */
export function poolsAt(chain: Chain, block: Block): ReadonlyMap<string, PoolTold> {
  const known = told.get(block);
  if (known) return known;

  const pools = chain.poolsAt(block.height).toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const fresh = new Map(pools.map((pool) => [`PoolPair:${pool.id}`, poolAt(pool, block)]));
  told.set(block, fresh);
  return fresh;
}

/** The pool as one of its height for ever, as `at` gives it. */
export function pinned(pool: PoolTold): PoolTold {
  return { ...pool, id: `${pool.id}@${pool.beaconHeight}` };
}

/** What the tokens file of the gateway says of a token: nothing where nobody has named it. */
export function tokenTold({ id, symbol, decimals }: ChainToken) {
  return symbol === undefined ? { tokenId: id, symbol: null, decimals: null } : { tokenId: id, symbol, decimals };
}

function poolAt(pool: ChainPool, { height, reserves }: Block): PoolTold {
  const [reserve1 = 0n, reserve2 = 0n] = reserves.subarray(pool.index * 2, pool.index * 2 + 2);
  const token1 = tokenTold(pool.token1);
  const token2 = tokenTold(pool.token2);
  const quotes =
    token1.decimals === null || token2.decimals === null
      ? NO_QUOTES
      : quotesOf({ reserve1, reserve2, decimals1: token1.decimals, decimals2: token2.decimals });

  return {
    id: `PoolPair:${pool.id}`,
    key: `pdepool-${height}-${pool.id}`,
    beaconHeight: height,
    token1PoolValue: String(reserve1),
    token2PoolValue: String(reserve2),
    ...quotes,
    token1,
    token2,
  } as PoolTold;
}
