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

/**
 * The smallest amount that must be sent to a pool to receive at least `wanted` from it: the inverse of {@link amountReceived}.
 *
 * @param wanted above 0
 * @returns `undefined` if the pool cannot give that much: it never gives its whole reserve
 */
export function amountRequired(reserveIn: bigint, reserveOut: bigint, wanted: bigint): bigint | undefined {
  if (reserveIn === 0n || wanted >= reserveOut) return undefined;
  return divideUp(reserveIn * wanted, reserveOut - wanted);
}

/** The quotient of two numbers, rounded up. @param divided 0 or greater @param divisor above 0 */
export function divideUp(divided: bigint, divisor: bigint): bigint {
  return (divided + divisor - 1n) / divisor;
}
