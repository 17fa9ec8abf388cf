/** The largest amount: the chain stores amounts as unsigned 64-bit integers. */
export const MAX_AMOUNT = 2n ** 64n - 1n;

/** The value as an amount; `undefined` unless it is a whole number from 0 to 2^64 - 1, as decimal digits or as an exact number. */
export function parseAmount(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined;
  if (typeof value !== 'string' || !/^(0|[1-9]\d{0,19})$/.test(value)) return undefined;
  const amount = BigInt(value);
  return amount <= MAX_AMOUNT ? amount : undefined;
}
