import type { MarketDepthQuery, PoolDepthQuery } from './depth.generated.ts';

/** What can be traded between the middle price and a price. */
export type DepthPoint = {
  /** In target tokens per base token. */
  readonly price: number;
  /** In whole base tokens, in pool and book together. */
  readonly quantity: number;
  /** In the pool alone. */
  readonly poolQuantity: number;
  /** What it costs or brings, in whole target tokens. Null where it is not known. */
  readonly total: number | null;
};

/** Both sides of a market, the point next to the middle first. */
export type DepthCurve = {
  readonly midPrice: number;
  readonly bids: readonly DepthPoint[];
  readonly asks: readonly DepthPoint[];
};

type Ladder = NonNullable<NonNullable<MarketDepthQuery['pair']>['depthLadder']>;
type PoolDepths = NonNullable<PoolDepthQuery['poolPair']>;

/** The curve of pool and book. */
export function curveOfLadder({ midPrice, bids, asks }: Ladder): DepthCurve {
  return { midPrice, bids: cumulate(bids), asks: cumulate(asks) };
}

function cumulate(levels: Ladder['bids']): DepthPoint[] {
  let poolQuantity = 0;
  return levels.map((level) => {
    poolQuantity += level.poolQuantity;
    return { price: level.price, quantity: level.cumulativeQuantity, poolQuantity, total: level.cumulativeTotal };
  });
}

type Direction = {
  readonly isInverse: boolean;
  readonly baseDecimals: number | null;
  readonly targetDecimals: number | null;
};

/**
 * The curve of a pool alone. Its own price is token 1 per token 2. If the base is token 1, that price rises where the price of
 * the base falls.
 *
 * @returns undefined if the pool has an empty side, or if decimals are not known
 */
export function curveOfPool(
  { spotPrice, depth }: PoolDepths,
  { isInverse, baseDecimals, targetDecimals }: Direction,
): DepthCurve | undefined {
  if (spotPrice === null || depth === null || depth.length === 0) return undefined;
  if (baseDecimals === null || targetDecimals === null) return undefined;
  const midPrice = isInverse ? 1 / spotPrice : spotPrice;
  const point = (factor: number, base: string, target: string): DepthPoint => {
    const quantity = Number(base) / 10 ** baseDecimals;
    return { price: midPrice * factor, quantity, poolQuantity: quantity, total: Number(target) / 10 ** targetDecimals };
  };
  const up = depth.map(({ percent, upToken1, upToken2 }) =>
    isInverse ? point(1 / (1 + percent / 100), upToken1, upToken2) : point(1 + percent / 100, upToken2, upToken1),
  );
  const down = depth.map(({ percent, downToken1, downToken2 }) =>
    isInverse
      ? point(1 / (1 - percent / 100), downToken1, downToken2)
      : point(1 - percent / 100, downToken2, downToken1),
  );
  return isInverse ? { midPrice, bids: up, asks: down } : { midPrice, bids: down, asks: up };
}
