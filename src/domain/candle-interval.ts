import type { Instant } from './instant.ts';

/** The length of each candle interval in milliseconds. Intervals are aligned to UTC: they begin at multiples of it. */
export const INTERVAL_MS = {
  ONE_MINUTE: 60_000,
  FIVE_MINUTES: 300_000,
  FIFTEEN_MINUTES: 900_000,
  ONE_HOUR: 3_600_000,
  FOUR_HOURS: 14_400_000,
  ONE_DAY: 86_400_000,
} as const;

/** How long the time is for which a candle shows the prices. */
export type CandleInterval = keyof typeof INTERVAL_MS;

/** When the interval began that contains an instant. */
export function openTimeOf(time: Instant, interval: CandleInterval): Instant {
  return Math.floor(time / INTERVAL_MS[interval]) * INTERVAL_MS[interval];
}
