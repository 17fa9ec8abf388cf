import type { Block } from './block.ts';
import type { Chain } from './chain.ts';
import type { ChainMarket } from './markets.ts';
import type { ChainToken } from './tokens.ts';

/** The figures of a market over the last 24 hours, in whole tokens. Prices are target tokens per base token. */
export type Figures = {
  /** The price of the last trade; the price of the reserves if no retained block contains a trade. */
  readonly lastPrice: number;
  readonly baseVolume: number;
  readonly targetVolume: number;
};

const WINDOW_SECONDS = 24 * 60 * 60;

/** The figures of all markets at the tip, in the order of the markets, computed from the trades of the retained blocks. */
export function figuresOf(chain: Chain): readonly Figures[] {
  const { markets, pools, tip } = chain;
  const sums = markets.map(() => ({ base: 0n, target: 0n, last: undefined as readonly [bigint, bigint] | undefined }));

  for (const block of chain.blocks()) {
    for (const { venue, sideIn, amountIn, amountOut } of block.trades) {
      const market = markets[venue - pools.length];
      const sum = sums[venue - pools.length];
      if (!market || !sum) continue;

      const baseWentIn = (sideIn === 0) === (market.token1 === market.base);
      const [base, target] = baseWentIn ? [amountIn, amountOut] : [amountOut, amountIn];
      sum.last = [base, target];
      if (tip.time - block.time >= WINDOW_SECONDS) continue;
      sum.base += base;
      sum.target += target;
    }
  }

  return markets.map((market, i) => {
    const { base = 0n, target = 0n, last } = sums[i] ?? {};
    return {
      lastPrice: last ? whole(last[1], market.target) / whole(last[0], market.base) : priceOf(market, tip),
      baseVolume: whole(base, market.base),
      targetVolume: whole(target, market.target),
    };
  });
}

/** The price of a market at a block, by the amounts of its pool: target tokens per base token. */
export function priceOf({ index, token1, token2, base, poolId }: ChainMarket, block: Block): number {
  const ofMarket = block.reserves.subarray(index * 2, index * 2 + 2);
  const [reserve1 = 0n, reserve2 = 0n] = block.v3?.states.get(poolId)?.virtual ?? ofMarket;
  const price = whole(reserve2, token2) / whole(reserve1, token1);
  return base === token1 ? price : 1 / price;
}

function whole(amount: bigint, token: ChainToken): number {
  return Number(amount) / 10 ** token.decimals;
}
