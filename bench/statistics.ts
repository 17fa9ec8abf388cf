/** The median; `NaN` without numbers. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * The bounds of the median of the distribution from which the values come: it is above the lower one with a confidence of
 * 95 %, and below the upper one too (order statistics, as in the sign test). With fewer than five values, they are the lowest
 * and the highest.
 */
export function medianBounds(values: readonly number[]): readonly [lower: number, upper: number] {
  const sorted = values.toSorted((one, other) => one - other);
  const count = sorted.length;
  // How many values on one side of the median are too few to be chance.
  let rank = 0;
  let chance = 0.5 ** count;
  for (let sum = chance; rank + 1 < count / 2; rank++) {
    chance *= (count - rank) / (rank + 1);
    sum += chance;
    if (sum > 0.05) break;
  }
  return [sorted[rank] ?? Number.NaN, sorted[count - 1 - rank] ?? Number.NaN];
}

/**
 * How a figure grows with a size: the exponent of the power law that fits best (least squares of the logarithms). 0 is
 * constant, 1 is linear.
 *
 * @returns `undefined` for less than three sizes, or a figure without a logarithm.
 */
export function growth(points: readonly { readonly size: number; readonly value: number }[]): number | undefined {
  if (points.length < 3 || points.some(({ value }) => !(value > 0))) return undefined;
  return slopeOf(
    points.map(({ size }) => Math.log(size)),
    points.map(({ value }) => Math.log(value)),
  );
}

/**
 * The slope of the straight line that fits best (least squares).
 *
 * @returns `undefined` for less than three sizes, or a missing figure.
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
