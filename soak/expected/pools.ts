import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Chain } from '../../src/sandbox/chain/chain.ts';
import type { ChainMarket } from '../../src/sandbox/chain/markets.ts';
import type { ChainToken } from '../../src/sandbox/chain/tokens.ts';
import { amountsAt, feeRateAt, idOfMarket, poolOfTokens, type TradingPool, tradingPools } from './exchange.ts';
import { NO_QUOTES, quotesOf } from './price-formula.ts';

/** The fields of a pool that are requested, in the order of the response. */
export const POOL_FIELDS =
  'id key version poolId beaconHeight token1PoolValue token2PoolValue token1VirtualValue token2VirtualValue amplifier feeRateBps shareAmount isTradable price exactPrice inversePrice spotPrice token1 { tokenId symbol decimals } token2 { tokenId symbol decimals }';

/** An expected pool. */
export type PoolResult = {
  readonly id: string;
  readonly beaconHeight: number;
  readonly token1PoolValue: string;
  readonly token2PoolValue: string;
  readonly token1VirtualValue: string;
  readonly token2VirtualValue: string;
  readonly feeRateBps: number | null;
  readonly price: number | null;
  readonly inversePrice: number | null;
};

const cache = new WeakMap<Block, ReadonlyMap<string, PoolResult>>();

/** The expected pools at a block, by the id that they have while the block is the newest, in the order of these ids. */
export function expectedPools(chain: Chain, block: Block): ReadonlyMap<string, PoolResult> {
  const known = cache.get(block);
  if (known) return known;

  const pools = tradingPools(chain, block.height);
  const expected = new Map(pools.map((pool) => [`PoolPair:${pool.id}`, poolAt(chain, pool, block)]));
  cache.set(block, expected);
  return expected;
}

/** The expected pool of two tokens at a block; `null` if there is none. */
export function expectedPoolOf(
  chain: Chain,
  block: Block,
  tokens: Pick<TradingPool, 'token1' | 'token2'>,
): PoolResult | null {
  const pool = poolOfTokens(chain, block, tokens);
  return (pool && expectedPools(chain, block).get(`PoolPair:${pool.id}`)) ?? null;
}

/** The price of one base token of a market in target tokens, from its pool at a block; null without one. */
export function expectedPoolPrice(chain: Chain, block: Block, market: ChainMarket): number | null {
  const pool = expectedPools(chain, block).get(`PoolPair:${idOfMarket(chain, market)}`);
  return (market.base.id === market.token2.id ? pool?.price : pool?.inversePrice) ?? null;
}

/** The pool with the id that it has with the argument `at`. */
export function pinned(pool: PoolResult): PoolResult {
  return { ...pool, id: `${pool.id}@${pool.beaconHeight}` };
}

/** An expected token. Tokens without a name are not in the tokens file of the gateway. */
export function expectedToken({ id, symbol, decimals }: ChainToken) {
  return symbol === undefined ? { tokenId: id, symbol: null, decimals: null } : { tokenId: id, symbol, decimals };
}

function poolAt(chain: Chain, pool: TradingPool, block: Block): PoolResult {
  const { height } = block;
  const { real, virtual, shares } = amountsAt(pool, block);
  const token1 = expectedToken(pool.token1);
  const token2 = expectedToken(pool.token2);
  const [reserve1, reserve2] = virtual;
  const quotes =
    token1.decimals === null || token2.decimals === null
      ? NO_QUOTES
      : quotesOf({ reserve1, reserve2, decimals1: token1.decimals, decimals2: token2.decimals });
  const ofVersion =
    pool.v3 === undefined
      ? { version: 'V1', poolId: null, key: `pdepool-${height}-${pool.id}`, amplifier: 10_000, feeRateBps: null }
      : { version: 'V3', poolId: pool.id, key: pool.id, ...pool.v3, feeRateBps: feeRateAt(chain, pool, height) };

  const result = {
    id: `PoolPair:${pool.id}`,
    ...ofVersion,
    beaconHeight: height,
    token1PoolValue: String(real[0]),
    token2PoolValue: String(real[1]),
    token1VirtualValue: String(reserve1),
    token2VirtualValue: String(reserve2),
    shareAmount: shares === undefined ? null : String(shares),
    isTradable: real[0] > 0n && real[1] > 0n,
    ...quotes,
    token1,
    token2,
  };
  return result;
}
