/** How far the chart reaches from the middle price, in percent. */
export const RANGES = [
  { value: '1', label: '±1%', levels: 40, stepPercent: 0.025 },
  { value: '5', label: '±5%', levels: 50, stepPercent: 0.1 },
  { value: '20', label: '±20%', levels: 50, stepPercent: 0.4 },
  { value: '50', label: '±50%', levels: 50, stepPercent: 1 },
] as const;

/** One of them. */
export type Range = (typeof RANGES)[number];

/** The range that a URL names; ±5% if it names none. */
export function rangeOf(value: string | null): Range {
  return RANGES.find((range) => range.value === value) ?? RANGES[1];
}

/** The percentages of the levels of a range, without float dust. */
export function percentsOf({ levels, stepPercent }: Range): readonly number[] {
  return Array.from({ length: levels }, (_, index) => Number(((index + 1) * stepPercent).toFixed(3)));
}
