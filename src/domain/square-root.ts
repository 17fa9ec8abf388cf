/** The square root of a whole number of any size, rounded down, by Newton's method from above. @param square 0 or greater */
export function squareRoot(square: bigint): bigint {
  if (square === 0n) return 0n;
  let root = 1n << BigInt(square.toString(16).length * 2);
  for (;;) {
    const next = (root + square / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** The square root of a whole number of any size, rounded up. @param square 0 or greater */
export function squareRootUp(square: bigint): bigint {
  const root = squareRoot(square);
  return root * root === square ? root : root + 1n;
}
