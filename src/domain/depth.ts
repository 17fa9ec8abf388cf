import { toExactDecimal } from './exact-decimal.ts';
import type { OrderBook, OrderBookEntry } from './order-book.ts';
import { isNonEmpty, type PoolPair } from './pool-pair.ts';
import { amountReceived, divideUp } from './swap.ts';
import type { TokenId } from './token.ts';

/** The amounts that move the spot price of a pool by some percent, in smallest units. */
export type PoolDepth = {
  readonly percent: number;
  /** To raise the price of token 2: what a trader pays of token 1, and receives of token 2. */
  readonly upToken1: bigint;
  readonly upToken2: bigint;
  /** To lower it: what a trader pays of token 2, and receives of token 1. */
  readonly downToken2: bigint;
  readonly downToken1: bigint;
};

/**
 * What it takes to move the spot price of a pool, `reserve1 / reserve2`, by each of these percentages, up and down.
 *
 * The product of the reserves stays constant, so a price that is `f` times the old one needs `sqrt(f)` times the reserve of
 * the token that is paid. The payment is the smallest whole number that reaches it, in integers of any size. The amount
 * received is that of the exchange's formula.
 *
 * @param percents each above 0 and below 100; their shortest decimal texts count, so 0.1 is exactly a thousandth
 * @returns nothing for a pool with an empty side
 */
export function poolDepths(pool: PoolPair, percents: readonly number[]): readonly PoolDepth[] {
  return isNonEmpty(pool) ? percents.map((percent) => poolDepth(pool, percent)) : [];
}

function poolDepth({ reserve1, reserve2 }: PoolPair, percent: number): PoolDepth {
  const { units, scale } = toExactDecimal(percent);
  const whole = 100n * 10n ** BigInt(scale);
  const upToken1 = paymentFor(reserve1, whole + units, whole);
  const downToken2 = paymentFor(reserve2, whole, whole - units);
  return {
    percent,
    upToken1,
    upToken2: amountReceived(reserve1, reserve2, upToken1),
    downToken2,
    downToken1: amountReceived(reserve2, reserve1, downToken2),
  };
}

/** The smallest amount that makes a reserve at least the square root of a fraction times as large. */
function paymentFor(reserve: bigint, numerator: bigint, denominator: bigint): bigint {
  return rootUp(divideUp(reserve * reserve * numerator, denominator)) - reserve;
}

/** The square root of a whole number, rounded up. */
function rootUp(square: bigint): bigint {
  const root = rootDown(square);
  return root * root === square ? root : root + 1n;
}

/** The square root of a whole number, rounded down, by Newton's method from above. */
function rootDown(square: bigint): bigint {
  if (square === 0n) return 0n;
  let root = 1n << BigInt(square.toString(16).length * 2);
  for (;;) {
    const next = (root + square / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

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
