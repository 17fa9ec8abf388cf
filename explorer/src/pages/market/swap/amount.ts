/** What a person has typed: an amount in smallest units, nothing yet, or why it is none. */
export type TypedAmount =
  | { readonly kind: 'empty' }
  | { readonly kind: 'amount'; readonly units: string }
  | { readonly kind: 'invalid'; readonly problem: string };

/** The largest amount of the exchange. */
const MAX_UNITS = 2n ** 64n - 1n;

/** Thousands separators only where they belong. Commas separate thousands if they all can: 1,500 is not 1.5. */
const WITH_COMMAS = /^[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/;
const WITH_POINT = /^(\d*|[1-9]\d{0,2}([\s_']\d{3})+)(\.\d*)?$/;
/** Any other comma is that of the decimals: phones of many regions have no point on their keyboard. */
const WITH_DECIMAL_COMMA = /^((0|[1-9]\d*)?|[1-9]\d{0,2}([\s_']\d{3})+),\d*$/;

const NO_NUMBER = 'Enter a number, such as 1.5 or 1,500.25.';

type TokenOfAmount = { readonly name: string; readonly decimals: number | null };

/** Checks an amount in whole tokens exactly. If the decimals are not known, it is in smallest units. */
export function readAmount(text: string, { name, decimals }: TokenOfAmount): TypedAmount {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'empty' };
  if (/^-/.test(trimmed)) return invalid('Enter an amount above 0.');
  const number = withPoint(trimmed);
  if (number === undefined || number === '.') return invalid(NO_NUMBER);
  const [whole = '', fraction = ''] = number.replace(/[\s,_']/g, '').split('.');
  if (fraction.length > (decimals ?? 0)) {
    if (decimals === null) return invalid(`Enter whole smallest units: the decimals of ${name} are not known.`);
    return invalid(
      decimals === 0
        ? `${name} has no decimals.`
        : `${name} has at most ${decimals} decimals, this has ${fraction.length}.`,
    );
  }
  const units = BigInt(whole + fraction.padEnd(decimals ?? 0, '0'));
  if (units === 0n) return invalid('Enter an amount above 0.');
  if (units > MAX_UNITS) return invalid('This is more than the exchange can count: 2^64 - 1 smallest units.');
  return { kind: 'amount', units: String(units) };
}

/** The number with a point before its decimals; undefined if it is none. */
function withPoint(text: string): string | undefined {
  if (WITH_COMMAS.test(text) || WITH_POINT.test(text)) return text;
  return WITH_DECIMAL_COMMA.test(text) ? text.replace(',', '.') : undefined;
}

function invalid(problem: string): TypedAmount {
  return { kind: 'invalid', problem };
}
