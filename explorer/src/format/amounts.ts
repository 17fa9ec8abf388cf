import { formatCompact, formatInteger, UNKNOWN } from './numbers.ts';

/** Smallest units of a token: an integer, as the gateway sends it, or added up. */
export type Amount = string | bigint | null | undefined;

/** Exact amounts are integers of the smallest unit. They become numbers only to be shown in short. */
function parseAmount(amount: Amount): bigint | undefined {
  if (typeof amount === 'bigint') return amount;
  return amount != null && /^-?\d+$/.test(amount) ? BigInt(amount) : undefined;
}

/**
 * An amount of the smallest unit in whole tokens, exactly, without zeros at the end: 1,976.118305078141. If the decimals of
 * the token are not known, the smallest units with separators.
 */
export function formatExactAmount(amount: Amount, decimals: number | null | undefined): string {
  const units = parseAmount(amount);
  if (units === undefined) return UNKNOWN;
  const sign = units < 0n ? '-' : '';
  const digits = String(units < 0n ? -units : units).padStart((decimals ?? 0) + 1, '0');
  const whole = decimals ? digits.slice(0, -decimals) : digits;
  const fraction = decimals ? digits.slice(-decimals).replace(/0+$/, '') : '';
  return `${sign}${groupThousands(whole)}${fraction && `.${fraction}`}`;
}

/** An amount in whole tokens, cut to six significant digits, never rounded up: 1,976.11, 0.00123456, 12.34M. */
export function formatAmount(amount: Amount, decimals: number | null | undefined): string {
  const exact = formatExactAmount(amount, decimals);
  if (exact === UNKNOWN) return exact;
  const [whole = '', fraction = ''] = exact.split('.');
  const wholeDigits = whole.replace(/\D/g, '').replace(/^0+/, '').length;
  if (wholeDigits > 6) return formatCompact(Number(whole.replaceAll(',', '')));
  const leadingZeros = wholeDigits > 0 ? 0 : (/^0*/.exec(fraction)?.[0].length ?? 0);
  const shown = fraction.slice(0, leadingZeros + 6 - wholeDigits).replace(/0+$/, '');
  return shown === '' ? whole : `${whole}.${shown}`;
}

/** An exact decimal string of the gateway, with separators, all of its digits: 12,235.303569178. */
export function formatDecimal(decimal: string | null | undefined): string {
  if (decimal == null) return UNKNOWN;
  const match = /^(-?)(\d+)(\.\d+)?$/.exec(decimal);
  if (match === null) return decimal;
  const [, sign = '', whole = '', fraction = ''] = match;
  return `${sign}${groupThousands(whole)}${fraction}`;
}

/** A number with its unit: 12.5 PRV. No line ends between them. */
export function withUnit(number: string, unit: string): string {
  return `${number}\u00a0${unit}`;
}

/** An integer of any size with separators. */
export function formatBigInt(value: Amount): string {
  return formatExactAmount(value, 0);
}

function groupThousands(digits: string): string {
  return digits.length <= 15 ? formatInteger(Number(digits)) : digits.replace(/\B(?=(\d{3})+$)/g, ',');
}
