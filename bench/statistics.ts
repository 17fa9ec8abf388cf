/** The middle of some numbers; `NaN` of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * How a figure grows with a size: the exponent of the power law that fits best (least squares of the logarithms). 0 does
 * not grow, 1 grows as the size does.
 *
 * @returns `undefined` for less than three sizes, or a figure that has no logarithm.
 */
export function growth(points: readonly { readonly size: number; readonly value: number }[]): number | undefined {
  if (points.length < 3 || points.some(({ value }) => !(value > 0))) return undefined;
  return slopeOf(
    points.map(({ size }) => Math.log(size)),
    points.map(({ value }) => Math.log(value)),
  );
}

/**
 * How much a figure grows with each one of a size: the straight line that fits best (least squares).
 *
 * @returns `undefined` for less than three sizes, or a figure that there is not.
 */
export function slope(points: readonly { readonly size: number; readonly value: number }[]): number | undefined {
  if (points.length < 3 || points.some(({ value }) => Number.isNaN(value))) return undefined;
  return slopeOf(
    points.map(({ size }) => size),
    points.map(({ value }) => value),
  );
}

function slopeOf(xs: readonly number[], ys: readonly number[]): number {
  const meanX = mean(xs);
  const meanY = mean(ys);
  const covariance = xs.reduce((sum, x, index) => sum + (x - meanX) * ((ys[index] ?? 0) - meanY), 0);
  return covariance / xs.reduce((sum, x) => sum + (x - meanX) ** 2, 0);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
