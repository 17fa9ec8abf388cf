/**
 * What a trader receives from a pool for an amount, in smallest units:
 * `reserveOut - ceil(reserveIn * reserveOut / (reserveIn + sent))`.
 *
 * The pool keeps the product of its reserves constant, and rounds in its own favour. The trading fee is not part of it.
 *
 * @param sent 0 or greater
 * @returns 0n for a pool with an empty side
 */
export function amountReceived(reserveIn: bigint, reserveOut: bigint, sent: bigint): bigint {
  if (reserveIn === 0n || reserveOut === 0n) return 0n;
  return reserveOut - divideUp(reserveIn * reserveOut, reserveIn + sent);
}

/** The quotient of two numbers, rounded up. @param divided 0 or greater @param divisor above 0 */
export function divideUp(divided: bigint, divisor: bigint): bigint {
  return (divided + divisor - 1n) / divisor;
}

/** The largest integer whose square is at most a value. @param value 0 or greater, of any size */
export function squareRoot(value: bigint): bigint {
  if (value < 2n ** 52n) return BigInt(Math.floor(Math.sqrt(Number(value))));
  // Newton's method from above. Its first step is from the root of the leading digits, so a few more are enough.
  let root = startAbove(value);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** A number that is at least the root, and nearly it. */
function startAbove(value: bigint): bigint {
  const double = Math.sqrt(Number(value));
  if (Number.isFinite(double)) return BigInt(Math.ceil(double * (1 + 2 ** -51)));
  return 1n << BigInt((value.toString(2).length + 1) >> 1);
}

/** The smallest integer whose square is at least a value. @param value 0 or greater, of any size */
export function squareRootUp(value: bigint): bigint {
  const root = squareRoot(value);
  return root * root === value ? root : root + 1n;
}

/**
 * From which end of a route the amounts are computed: `SELLING` goes forwards from the amount that is sold, and more is better.
 * `BUYING` goes backwards from the amount that is bought, and less is better.
 *
 * A step goes from the *known* amount of a token to the *other* amount, of the pool's other token.
 */
export type TradeDirection = 'SELLING' | 'BUYING';

/** Whether the first of two other amounts is better for the trader. */
export function isBetterAmount(direction: TradeDirection, amount: bigint | number, than: bigint | number): boolean {
  return direction === 'SELLING' ? amount > than : amount < than;
}

// Bounds of amounts in floating point. Whole numbers of 64 bits take several times as long.

/**
 * The relative error of an estimate. Each operation, and each conversion of a whole number to a double, adds at most 2^-53. An
 * estimate has at most eight of them. The rest is a reserve.
 */
const ERROR = 2 ** -49;

/** Above this, a double is not always the exact number. */
const EXACT_BELOW = 2 ** 53;

/** The first amount that does not fit 64 bits. It is a double, and `MAX_AMOUNT` is not. */
export const ABOVE_MAX_AMOUNT = 2 ** 64;

/** The bound of an amount that cannot be had. */
export function noBound(direction: TradeDirection): number {
  return direction === 'SELLING' ? 0 : Number.POSITIVE_INFINITY;
}

/** {@link isBetterAmount} for two bounds. A function that also compares `bigint` would be slower. */
export function isBetterBound(direction: TradeDirection, bound: number, than: number): boolean {
  return direction === 'SELLING' ? bound > than : bound < than;
}

/** A bound that is never worse for the trader than the exact other amount, from such a bound of the known amount. */
export function optimisticBound(
  direction: TradeDirection,
  known: number,
  reserveOfKnown: number,
  reserveOfOther: number,
): number {
  const product = reserveOfOther * known;
  if (direction === 'SELLING') return Math.floor((product / (reserveOfKnown + known)) * (1 + ERROR));

  // The error of this difference can be larger than the difference.
  const error = reserveOfKnown < EXACT_BELOW ? 0 : reserveOfKnown * ERROR;
  const remaining = reserveOfKnown - known + error;
  if (remaining <= 0) return Number.POSITIVE_INFINITY;
  const required = Math.ceil((product / remaining) * (1 - ERROR));
  return required < ABOVE_MAX_AMOUNT ? required : Number.POSITIVE_INFINITY;
}
