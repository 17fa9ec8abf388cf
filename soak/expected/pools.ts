import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Chain } from '../../src/sandbox/chain/chain.ts';
import type { ChainPool } from '../../src/sandbox/chain/pools.ts';
import type { ChainToken } from '../../src/sandbox/chain/tokens.ts';
import { NO_QUOTES, quotesOf } from './price-formula.ts';

/** The fields of a pool that are requested, in the order of the response. */
export const POOL_FIELDS =
  'id key beaconHeight token1PoolValue token2PoolValue price exactPrice inversePrice spotPrice token1 { tokenId symbol decimals } token2 { tokenId symbol decimals }';

/** An expected pool. */
export type PoolResult = {
  readonly id: string;
  readonly beaconHeight: number;
  readonly token1PoolValue: string;
  readonly token2PoolValue: string;
};

const cache = new WeakMap<Block, ReadonlyMap<string, PoolResult>>();

/** The expected pools at a block, by the id that they have while the block is the newest, in the order of these ids. */
export function expectedPools(chain: Chain, block: Block): ReadonlyMap<string, PoolResult> {
  const known = cache.get(block);
  if (known) return known;

  const pools = chain.poolsAt(block.height).toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const expected = new Map(pools.map((pool) => [`PoolPair:${pool.id}`, poolAt(pool, block)]));
  cache.set(block, expected);
  return expected;
}

/** The pool with the id that it has with the argument `at`. */
export function pinned(pool: PoolResult): PoolResult {
  return { ...pool, id: `${pool.id}@${pool.beaconHeight}` };
}

/** An expected token. Tokens without a name are not in the tokens file of the gateway. */
export function expectedToken({ id, symbol, decimals }: ChainToken) {
  return symbol === undefined ? { tokenId: id, symbol: null, decimals: null } : { tokenId: id, symbol, decimals };
}

function poolAt(pool: ChainPool, { height, reserves }: Block): PoolResult {
  const [reserve1 = 0n, reserve2 = 0n] = reserves.subarray(pool.index * 2, pool.index * 2 + 2);
  const token1 = expectedToken(pool.token1);
  const token2 = expectedToken(pool.token2);
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
  } as PoolResult;
}
