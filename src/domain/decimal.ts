/** The maximum number of decimals of a token: 10^30 exceeds every 64-bit amount by far. */
export const MAX_DECIMALS = 30;

/** Whether a price can be computed with that number of decimals: a whole number from 0 to 30. */
export function areDecimals(decimals: number): boolean {
  return Number.isInteger(decimals) && decimals >= 0 && decimals <= MAX_DECIMALS;
}

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
