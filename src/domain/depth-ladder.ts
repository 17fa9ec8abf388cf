import type { OrderBook, OrderBookEntry } from './order-book.ts';
import type { PoolPair } from './pool-pair.ts';
import type { TokenId } from './token.ts';

/** A price, and what can be traded between the level before it and this price. */
export type LadderLevel = {
  /** In target tokens per base token. */
  readonly price: number;
  /** In whole base tokens, as all quantities. */
  readonly poolQuantity: number;
  readonly bookQuantity: number;
  /** The sum of the two. */
  readonly quantity: number;
  readonly cumulativeQuantity: number;
  /** What {@link cumulativeQuantity} costs or brings, in whole target tokens. */
  readonly cumulativeTotal: number;
};

/** Order book and pool of a pair as one list of price levels for each side, best first. */
export type DepthLadder = {
  /** The spot price of the pool, in target tokens per base token. */
  readonly midPrice: number;
  readonly bids: readonly LadderLevel[];
  readonly asks: readonly LadderLevel[];
};

/** How many levels a side has, and how far they are apart in percent of the mid price. */
export type LadderSteps = { readonly levels: number; readonly stepPercent: number };

/** The reserves of a pool, in whole tokens. */
type WholeReserves = { readonly base: number; readonly target: number };

/** The reserves of a pool in whole tokens; `undefined` if a side is empty. */
export function wholeReserves(
  pool: PoolPair,
  baseId: TokenId,
  decimals1: number,
  decimals2: number,
): WholeReserves | undefined {
  if (pool.reserve1 === 0n || pool.reserve2 === 0n) return undefined;
  const amount1 = Number(pool.reserve1) / Number(`1e${decimals1}`);
  const amount2 = Number(pool.reserve2) / Number(`1e${decimals2}`);
  return pool.token2Id === baseId ? { base: amount2, target: amount1 } : { base: amount1, target: amount2 };
}

/**
 * The ladder of a pool and an order book, with levels at `midPrice * (1 ± i * stepPercent / 100)`.
 *
 * The pool trades along its curve, on which the product of the reserves is constant. An entry of the book counts at the first
 * level that is not better than its price. An ask at or below the mid price, or a bid at or above it, counts at the first
 * level. Entries beyond the last level are left out. Totals use the prices of the entries.
 *
 * @param steps `levels * stepPercent` is below 100
 */
export function depthLadder(reserves: WholeReserves, book: OrderBook, steps: LadderSteps): DepthLadder {
  const midPrice = reserves.target / reserves.base;
  return {
    midPrice,
    bids: ladderSide(reserves, midPrice, book.bids, steps, -1),
    asks: ladderSide(reserves, midPrice, book.asks, steps, 1),
  };
}

/** @param direction 1 for asks, whose prices ascend, and -1 for bids @param entries best first */
function ladderSide(
  reserves: WholeReserves,
  midPrice: number,
  entries: readonly OrderBookEntry[],
  { levels, stepPercent }: LadderSteps,
  direction: 1 | -1,
): LadderLevel[] {
  const side: LadderLevel[] = [];
  let next = 0;
  let cumulativeQuantity = 0;
  let cumulativeTotal = 0;
  let rootBefore = 1;

  for (let level = 1; level <= levels; level++) {
    const factor = 1 + (direction * level * stepPercent) / 100;
    const price = midPrice * factor;
    const root = Math.sqrt(factor);
    // The differences of the roots and of their reciprocals, without subtracting numbers that are nearly equal.
    const rootDifference = stepPercent / 100 / (root + rootBefore);
    const poolQuantity = (reserves.base * rootDifference) / (root * rootBefore);
    let bookQuantity = 0;
    cumulativeTotal += reserves.target * rootDifference;
    for (
      let entry = entries[next];
      entry !== undefined && direction * (entry.price - price) <= 0;
      entry = entries[next]
    ) {
      bookQuantity += entry.quantity;
      cumulativeTotal += entry.price * entry.quantity;
      next += 1;
    }
    const quantity = poolQuantity + bookQuantity;
    cumulativeQuantity += quantity;
    side.push({ price, poolQuantity, bookQuantity, quantity, cumulativeQuantity, cumulativeTotal });
    rootBefore = root;
  }
  return side;
}
