/** The largest amount: the chain stores amounts as unsigned 64-bit integers. */
export const MAX_AMOUNT = 2n ** 64n - 1n;

/** The value as an amount; `undefined` unless it is a whole number from 0 to 2^64 - 1, as decimal digits or as an exact number. */
export function parseAmount(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined;
  if (typeof value !== 'string' || !/^(0|[1-9]\d{0,19})$/.test(value)) return undefined;
  const amount = BigInt(value);
  return amount <= MAX_AMOUNT ? amount : undefined;
}

/** The maximum number of decimals of a token: 10^30 exceeds every 64-bit amount by far. */
export const MAX_DECIMALS = 30;

/**
 * Writes `units / 10^decimals` exactly, with all its decimals: `toDecimal(11054802602110n, 9)` is `11054.802602110`.
 *
 * @param units a whole number of smallest units, of either sign
 */
export function toDecimal(units: bigint, decimals: number): string {
  const sign = units < 0n ? '-' : '';
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  if (decimals === 0) return sign + digits;

  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/**
 * Writes `numerator / denominator` as a decimal with a number of significant digits, rounded half up, without an exponent and without
 * zeros at the end of its fraction: `toSignificantDecimal(2n, 3n, 4)` is `0.6667`.
 *
 * @param numerator above 0
 * @param denominator above 0
 */
export function toSignificantDecimal(numerator: bigint, denominator: bigint, digits: number): string {
  // The quotient has as many digits before its point as the difference of the lengths, or one more.
  const decimals = digits - (numerator.toString().length - denominator.toString().length);
  const limit = 10n ** BigInt(digits);
  const rounded = roundedQuotient(numerator, denominator, decimals);
  if (rounded < limit) return toShortestDecimal(rounded, decimals);
  return toShortestDecimal(roundedQuotient(numerator, denominator, decimals - 1), decimals - 1);
}

/** `numerator * 10^decimals / denominator`, rounded half up. */
function roundedQuotient(numerator: bigint, denominator: bigint, decimals: number): bigint {
  const scaled = numerator * 10n ** BigInt(Math.max(0, decimals));
  const divisor = denominator * 10n ** BigInt(Math.max(0, -decimals));
  return (2n * scaled + divisor) / (2n * divisor);
}

/** Writes `units / 10^decimals` without zeros at the end of its fraction. @param units 0 or more */
export function toShortestDecimal(units: bigint, decimals: number): string {
  if (decimals <= 0) return (units * 10n ** BigInt(-decimals)).toString();
  return toDecimal(units, decimals).replace(/\.?0+$/, '');
}
