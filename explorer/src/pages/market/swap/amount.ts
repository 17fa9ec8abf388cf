import { parseAmountInput } from '../../../format/amounts.ts';

/** What a person has typed: an amount in smallest units, nothing yet, or why it is none. */
export type TypedAmount =
  | { readonly kind: 'empty' }
  | { readonly kind: 'amount'; readonly units: string }
  | { readonly kind: 'invalid'; readonly problem: string };

/** The largest amount of the exchange. */
const MAX_UNITS = 2n ** 64n - 1n;

/** Thousands separators only where they belong: 1,5 is one and a half for many readers, and must not become 15. */
const AMOUNT = /^(\d+|\d{1,3}([,\s_']\d{3})+)?(\.(\d*))?$/;

type TokenOfAmount = { readonly name: string; readonly decimals: number | null };

/** Checks an amount in whole tokens exactly. If the decimals are not known, it is in smallest units. */
export function readAmount(text: string, { name, decimals }: TokenOfAmount): TypedAmount {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'empty' };
  if (/^-/.test(trimmed)) return invalid('Enter an amount above 0.');
  if (/^\d+,\d{1,2}$|^\d+,\d{4,}$/.test(trimmed)) return invalid('Write decimals with a point, such as 1.5.');
  const match = AMOUNT.exec(trimmed);
  if (match === null || trimmed === '.') return invalid('Enter a number, such as 1.5.');
  const fraction = match[4] ?? '';
  if (fraction.length > (decimals ?? 0)) {
    if (decimals === null) return invalid(`Enter whole smallest units: the decimals of ${name} are not known.`);
    return invalid(
      decimals === 0
        ? `${name} has no decimals.`
        : `${name} has at most ${decimals} decimals, this has ${fraction.length}.`,
    );
  }
  const units = parseAmountInput(trimmed, decimals ?? 0);
  if (units === undefined) return invalid('Enter a number, such as 1.5.');
  if (BigInt(units) === 0n) return invalid('Enter an amount above 0.');
  if (BigInt(units) > MAX_UNITS) return invalid('This is more than the exchange can count: 2^64 - 1 smallest units.');
  return { kind: 'amount', units };
}

function invalid(problem: string): TypedAmount {
  return { kind: 'invalid', problem };
}
