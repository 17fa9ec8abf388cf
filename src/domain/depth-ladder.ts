import type { Offer, Sides } from './order-book.ts';
import { hasPrice, isTradable, type PoolPair, poolValues } from './pool-pair.ts';
import { powerOf10 } from './price.ts';
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

/** Amounts of the two tokens of a pair, in whole tokens. */
type WholeAmounts = { readonly base: number; readonly target: number };

/** The reserves of a pool, and what it holds if that can be less: the curve gives no more than that. */
type WholeReserves = WholeAmounts & { readonly held?: WholeAmounts };

/** The reserves of a pool in whole tokens; `undefined` if a side is empty, so that it refuses every trade. */
export function wholeReserves(
  pool: PoolPair,
  baseId: TokenId,
  decimals1: number,
  decimals2: number,
): WholeReserves | undefined {
  if (!hasPrice(pool) || !isTradable(pool)) return undefined;
  const toWhole = (units1: bigint, units2: bigint): WholeAmounts => {
    const amount1 = Number(units1) / powerOf10(decimals1);
    const amount2 = Number(units2) / powerOf10(decimals2);
    return pool.token2Id === baseId ? { base: amount2, target: amount1 } : { base: amount1, target: amount2 };
  };
  const { value1, value2 } = poolValues(pool);
  return { ...toWhole(pool.reserve1, pool.reserve2), ...(pool.v3 && { held: toWhole(value1, value2) }) };
}

/**
 * The ladder of a pool and an order book, with levels at `midPrice * (1 ± i * stepPercent / 100)`.
 *
 * The pool trades along its curve, on which the product of the reserves is constant, until it has given what it holds. An entry of
 * the book counts at the first level that is not better than its price. An ask at or below the mid price, or a bid at or above it,
 * counts at the first level. Entries beyond the last level are left out. Totals use the prices of the entries.
 *
 * @param steps `levels * stepPercent` is below 100
 */
export function depthLadder(reserves: WholeReserves, book: Sides, steps: LadderSteps): DepthLadder {
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
  entries: readonly Offer[],
  { levels, stepPercent }: LadderSteps,
  direction: 1 | -1,
): LadderLevel[] {
  const side: LadderLevel[] = [];
  let next = 0;
  let cumulativeQuantity = 0;
  let cumulativeTotal = 0;
  let rootBefore = 1;
  const lastRoot = rootWhereEmpty(reserves, direction);

  for (let level = 1; level <= levels; level++) {
    const factor = 1 + (direction * level * stepPercent) / 100;
    const price = midPrice * factor;
    const rootOfLevel = Math.sqrt(factor);
    const isBeyond = direction * (rootOfLevel - lastRoot) > 0;
    const root = isBeyond ? lastRoot : rootOfLevel;
    // The differences of the roots and of their reciprocals, without subtracting numbers that are nearly equal.
    const rootDifference = isBeyond ? Math.abs(root - rootBefore) : stepPercent / 100 / (root + rootBefore);
    const poolQuantity = (reserves.base * rootDifference) / (root * rootBefore);
    let bookQuantity = 0;
    cumulativeTotal += reserves.target * rootDifference;
    let entry = entries[next];
    while (entry !== undefined && direction * (entry.price - price) <= 0) {
      bookQuantity += entry.quantity;
      cumulativeTotal += entry.price * entry.quantity;
      entry = entries[++next];
    }
    const quantity = poolQuantity + bookQuantity;
    cumulativeQuantity += quantity;
    side.push({ price, poolQuantity, bookQuantity, quantity, cumulativeQuantity, cumulativeTotal });
    rootBefore = root;
  }
  return side;
}

/** The root of the factor of the price at which the pool has given all that it holds of the token that it sells. */
function rootWhereEmpty({ base, target, held }: WholeReserves, direction: 1 | -1): number {
  if (held === undefined) return direction === 1 ? Number.POSITIVE_INFINITY : 0;
  return direction === 1 ? 1 / Math.max(0, 1 - held.base / base) : Math.max(0, 1 - held.target / target);
}
