import { toExactDecimal } from './exact-decimal.ts';
import { isNonEmpty, type PoolPair } from './pool-pair.ts';
import { amountReceived, divideUp } from './swap.ts';

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
