/** What stands where a number is not known. */
export const UNKNOWN = '–';

const LOCALE = 'en-US';

type MaybeNumber = number | null | undefined;

/** One formatter per shape: creating one takes as long as formatting thousands of numbers. */
const formatters = new Map<string, Intl.NumberFormat>();

function format(value: number, options: Intl.NumberFormatOptions): string {
  const key = JSON.stringify(options);
  let formatter = formatters.get(key);
  if (formatter === undefined) {
    formatter = new Intl.NumberFormat(LOCALE, options);
    formatters.set(key, formatter);
  }
  // A negative number that is rounded to 0 has no sign.
  return formatter.format(value).replace(/^-(?=0(\.0*)?$)/, '');
}

/** Below this, a price is written with an exponent. */
const SMALLEST_PLAIN = 1e-12;

/**
 * A price, to at least five significant digits: 12,301.96, 12.3457, 0.0012346, 4.1000E-15. Prices of one magnitude have as
 * many decimals, so that they are aligned.
 */
export function formatPrice(value: MaybeNumber): string {
  return formatFinePrice(value, 0);
}

function formatFinePrice(value: MaybeNumber, addedDigits: number): string {
  if (value == null || !Number.isFinite(value)) return UNKNOWN;
  const size = Math.abs(value);
  if (size === 0) return '0';
  const isTiny = size < SMALLEST_PLAIN;
  const digits = addedDigits + (isTiny ? 4 : priceDecimals(size));
  const notation = isTiny ? 'scientific' : 'standard';
  return format(value, { notation, minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Prices that are still the same with so many more digits stay so: a column has no room for all digits. */
const MAX_ADDED_DIGITS = 4;

/**
 * How to write the prices of a column, in any order: as `formatPrice` does, all with as many more digits as make different prices
 * look different, at most four.
 */
export function priceFormatOf(prices: readonly number[]): (price: number) => string {
  const sorted = prices.toSorted((a, b) => a - b);
  let addedDigits = 0;
  while (addedDigits < MAX_ADDED_DIGITS && !areToldApart()) addedDigits += 1;
  return (price) => formatFinePrice(price, addedDigits);

  function areToldApart(): boolean {
    const texts = sorted.map((price) => formatFinePrice(price, addedDigits));
    return sorted.every((price, index) => price === sorted[index - 1] || texts[index] !== texts[index - 1]);
  }
}

/** How many decimals a price of this size has, also for the axes of charts. */
export function priceDecimals(size: number): number {
  if (size === 0) return 2;
  const magnitude = Math.floor(Math.log10(Math.abs(size)));
  return magnitude >= 3 ? 2 : Math.min(16, 4 - Math.min(magnitude, 0));
}

/** A quantity or a volume: 1,234.5, 0.0012346, 12.3M. It has up to five significant digits, and no zeros at the end. */
export function formatQuantity(value: MaybeNumber): string {
  if (value == null || !Number.isFinite(value)) return UNKNOWN;
  const size = Math.abs(value);
  if (size >= 1e6) return formatCompact(value);
  if (size !== 0 && size < SMALLEST_PLAIN) return format(value, { notation: 'scientific', maximumFractionDigits: 4 });
  return size >= 1e5 ? format(value, { maximumFractionDigits: 0 }) : format(value, { maximumSignificantDigits: 5 });
}

/** From here on, the quantities of a column are written in short. */
const LONG_COLUMN = 1e7;

/**
 * A quantity in a column whose largest one is `largest`: all have as many decimals as six significant digits of that one need,
 * so that they are aligned (0.00154, 1.03890). One that is smaller than its last digit is written with its own digits (0.0000012),
 * never as 0. Where the largest is very large, all are short (591.14M).
 */
export function formatInColumn(value: MaybeNumber, largest: number): string {
  if (value == null || !Number.isFinite(value)) return UNKNOWN;
  if (largest >= LONG_COLUMN) return formatQuantity(value);
  const digits = largest > 0 ? Math.min(12, Math.max(0, 5 - Math.floor(Math.log10(largest)))) : 2;
  if (Math.abs(value) < 10 ** -digits) return format(value, { maximumSignificantDigits: 2 });
  return format(value, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A large number in short: 12.3K, 4.57M, 1.2B. */
export function formatCompact(value: MaybeNumber): string {
  if (value == null || !Number.isFinite(value)) return UNKNOWN;
  if (Math.abs(value) >= 1e15) return format(value, { notation: 'scientific', maximumFractionDigits: 2 });
  return format(value, { notation: 'compact', maximumSignificantDigits: 4 });
}

/** A price in US dollars, with as many digits as any other: $12,301.96, $0.0012346. */
export function formatUsdPrice(value: MaybeNumber): string {
  return inUsd(formatPrice(value));
}

/** An amount of US dollars in short: $456.7, $12.3K, $4.57M. */
export function formatUsd(value: MaybeNumber): string {
  return inUsd(formatCompact(value));
}

function inUsd(text: string): string {
  return text === UNKNOWN ? text : `$${text}`;
}

/** A percentage with its sign and two decimals: +1.23%, -0.40%, 0.00%. Above 10,000 it is short: +12.3K%. */
export function formatPercent(value: MaybeNumber, { sign = true }: { readonly sign?: boolean } = {}): string {
  if (value == null || !Number.isFinite(value)) return UNKNOWN;
  const plus = sign && value >= 0.005 ? '+' : '';
  if (Math.abs(value) >= 10_000) return `${plus}${formatCompact(value)}%`;
  return `${plus}${format(value, { minimumFractionDigits: 2, maximumFractionDigits: 2 })}%`;
}

/** A whole number with separators: 1,640,000. */
export function formatInteger(value: MaybeNumber): string {
  if (value == null || !Number.isFinite(value)) return UNKNOWN;
  return format(value, { maximumFractionDigits: 0 });
}

/** Bytes in units of 1,024: 512 B, 1 KiB, 1.5 MiB. */
export function formatBytes(bytes: MaybeNumber): string {
  if (bytes == null || !Number.isFinite(bytes)) return UNKNOWN;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  return `${format(value, { maximumSignificantDigits: 3 })} ${units[unit]}`;
}
