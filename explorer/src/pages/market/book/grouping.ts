/** The steps to which prices of this size can be rounded, as exact decimals: each ten times the one before. */
export function groupingsOf(price: number | null | undefined): readonly string[] {
  if (price == null || !(price > 0) || !Number.isFinite(price)) return [];
  const magnitude = Math.floor(Math.log10(price));
  return [-4, -3, -2, -1].map((below) => powerOfTen(magnitude + below)).filter((step) => step.length <= 31);
}

/** 10^exponent in digits. A number would be written with an exponent, or with float dust. */
export function powerOfTen(exponent: number): string {
  return exponent >= 0 ? `1${'0'.repeat(exponent)}` : `0.${'0'.repeat(-exponent - 1)}1`;
}

/** Reads the grouping of a URL. @returns undefined if it is none that the gateway takes */
export function parseGrouping(text: string | null): string | undefined {
  if (text === null || !/^\d{1,30}(\.\d{1,30})?$/.test(text)) return undefined;
  return /[1-9]/.test(text) ? text : undefined;
}
