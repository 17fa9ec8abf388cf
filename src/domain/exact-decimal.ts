import { toDecimal } from './amount.ts';

/** An exact decimal number, `units / 10^scale`. It has no trailing zeros: equal numbers have equal fields. */
export type ExactDecimal = { readonly units: bigint; readonly scale: number };

/** Longer texts, and larger exponents, are in no number that means something. They would take long to compute with. */
const MAX_CHARACTERS = 100;
const MAX_EXPONENT = 400;

const DECIMAL = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The number in a text such as `-12.50` or `4e-9`, exactly.
 *
 * @returns `undefined` for another text, for more than 100 characters, and for an exponent beyond ±400
 */
export function parseExactDecimal(text: string): ExactDecimal | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const [, whole, fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (whole === undefined || Math.abs(Number(exponent)) > MAX_EXPONENT) return undefined;
  const digits = BigInt(whole + fraction);
  const scale = fraction.length - Number(exponent);
  return scale < 0 ? { units: digits * 10n ** BigInt(-scale), scale: 0 } : withoutTrailingZeros(digits, scale);
}

/** A finite double as the exact decimal number of its shortest text: 0.1 is one tenth. */
export function toExactDecimal(number: number): ExactDecimal {
  return parseExactDecimal(String(number)) ?? ZERO;
}

/** The number 0. */
export const ZERO: ExactDecimal = { units: 0n, scale: 0 };

/** Writes a number without exponent and without trailing zeros. */
export function formatExactDecimal({ units, scale }: ExactDecimal): string {
  return toDecimal(units, scale);
}

/** The sum of two numbers. */
export function addExact(a: ExactDecimal, b: ExactDecimal): ExactDecimal {
  const scale = Math.max(a.scale, b.scale);
  return withoutTrailingZeros(unitsAt(a, scale) + unitsAt(b, scale), scale);
}

/** Negative if `a` is less than `b`, positive if it is greater, 0 if they are equal. */
export function compareExact(a: ExactDecimal, b: ExactDecimal): number {
  const scale = Math.max(a.scale, b.scale);
  const difference = unitsAt(a, scale) - unitsAt(b, scale);
  return difference < 0n ? -1 : Number(difference > 0n);
}

/** The nearest multiple of a step that is not above a number (`DOWN`) or not below it (`UP`). @param step above 0 */
export function roundToMultiple(number: ExactDecimal, step: ExactDecimal, direction: 'DOWN' | 'UP'): ExactDecimal {
  const scale = Math.max(number.scale, step.scale);
  const units = unitsAt(number, scale);
  const stepUnits = unitsAt(step, scale);
  // The remainder of a division has the sign of the dividend.
  const remainder = units % stepUnits;
  const below = units - (remainder < 0n ? remainder + stepUnits : remainder);
  return withoutTrailingZeros(direction === 'UP' && remainder !== 0n ? below + stepUnits : below, scale);
}

function unitsAt({ units, scale }: ExactDecimal, wantedScale: number): bigint {
  return scale === wantedScale ? units : units * 10n ** BigInt(wantedScale - scale);
}

function withoutTrailingZeros(digits: bigint, places: number): ExactDecimal {
  let units = digits;
  let scale = places;
  while (scale > 0 && units % 10n === 0n) {
    units /= 10n;
    scale -= 1;
  }
  return { units, scale };
}
