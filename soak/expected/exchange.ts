import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Chain } from '../../src/sandbox/chain/chain.ts';
import type { ChainToken } from '../../src/sandbox/chain/tokens.ts';
import { paramsAt } from '../../src/sandbox/v3/params.ts';
import type { Order } from '../../src/sandbox/v3/pool.ts';

/** A pool of the version of the exchange that trades. Its token 1 has the smaller id. */
export type TradingPool = {
  /** `<token 1>-<token 2>` in V1, the pool id in V3. */
  readonly id: string;
  readonly token1: ChainToken;
  readonly token2: ChainToken;
  /** Its place among the reserves of a block; `undefined` in V3. */
  readonly index: number | undefined;
  /** `undefined` in V1. */
  readonly v3: { readonly amplifier: number } | undefined;
};

/** The amounts of a pool after a block, in smallest units. */
export type PoolAmounts = {
  /** What prices and swaps are computed with. */
  readonly virtual: readonly [bigint, bigint];
  /** What the pool holds. */
  readonly real: readonly [bigint, bigint];
  readonly shares: bigint | undefined;
  readonly orders: readonly Order[];
};

const NO_AMOUNTS: PoolAmounts = { virtual: [0n, 0n], real: [0n, 0n], shares: undefined, orders: [] };

/** Whether V3 of the exchange trades on a chain. */
export function isV3(chain: Chain): boolean {
  return chain.v3Pools.length > 0;
}

/** The pools that trade at a height, by default all that there ever are, in the order of their ids. */
export function tradingPools(chain: Chain, height = Number.POSITIVE_INFINITY): readonly TradingPool[] {
  const pools = isV3(chain)
    ? chain.v3Pools.map(({ id, token0, token1, amplifier }) => ({
        id,
        token1: token0,
        token2: token1,
        index: undefined,
        v3: { amplifier },
      }))
    : chain.poolsAt(height).map(({ id, token1, token2, index }) => ({ id, token1, token2, index, v3: undefined }));
  return pools.sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** The amounts of a pool after a block. */
export function amountsAt({ id, index }: TradingPool, { reserves, v3 }: Block): PoolAmounts {
  if (index === undefined) return v3?.states.get(id) ?? NO_AMOUNTS;
  const real = [reserves[index * 2] ?? 0n, reserves[index * 2 + 1] ?? 0n] as const;
  return { ...NO_AMOUNTS, virtual: real, real };
}

/** The fee rate of a pool of V3 at a height, in hundredths of a percent. */
export function feeRateAt(chain: Chain, { id }: TradingPool, height: number): number {
  const ids = chain.v3Pools.map((pool) => pool.id);
  const { feeRateBps, defaultFeeRateBps } = paramsAt(height, ids);
  return feeRateBps.get(id) ?? defaultFeeRateBps;
}

/** The pool of two tokens after a block: of several, the one with the greatest product of what it holds, then the smallest id. */
export function poolOfTokens(
  chain: Chain,
  block: Block,
  { token1, token2 }: Pick<TradingPool, 'token1' | 'token2'>,
): TradingPool | undefined {
  const liquidity = (pool: TradingPool) => {
    const [one, two] = amountsAt(pool, block).real;
    return one * two;
  };
  return tradingPools(chain, block.height)
    .filter((pool) => pool.token1.id === token1.id && pool.token2.id === token2.id)
    .reduce<TradingPool | undefined>(
      (best, pool) => (best === undefined || liquidity(pool) > liquidity(best) ? pool : best),
      undefined,
    );
}

/** The pool of a market: the one that it names in V3, and that of its two tokens in V1. */
export function idOfMarket(
  chain: Chain,
  { poolId, token1, token2 }: { readonly poolId: string; readonly token1: ChainToken; readonly token2: ChainToken },
): string {
  return isV3(chain) ? poolId : `${token1.id}-${token2.id}`;
}
