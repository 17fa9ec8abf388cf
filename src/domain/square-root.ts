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
