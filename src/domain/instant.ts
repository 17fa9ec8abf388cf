/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number;

/** The unit of a Unix timestamp. */
export type TimestampUnit = 'SECONDS' | 'MILLISECONDS';

/** 1e11 seconds are in the year 5138, 1e11 milliseconds in 1973. No timestamp of a market is on the wrong side. */
const FIRST_MILLISECONDS = 1e11;

/** The same limits between milliseconds and microseconds, and between microseconds and nanoseconds. */
const FIRST_MICROSECONDS = 1e14;
const FIRST_NANOSECONDS = 1e17;

/** No timestamp is that large: 1e20 nanoseconds are in the year 5138. */
export const TIMESTAMPS_END = 1e20;

/** The unit of a Unix timestamp, by its magnitude. A finer unit counts as milliseconds. */
export function timestampUnit(timestamp: number): TimestampUnit {
  return Math.abs(timestamp) < FIRST_MILLISECONDS ? 'SECONDS' : 'MILLISECONDS';
}

/** Whether a timestamp counts as milliseconds, and no finer unit. */
export function isMilliseconds(timestamp: number): boolean {
  return timestamp >= FIRST_MILLISECONDS && timestamp < FIRST_MICROSECONDS;
}

/** The instant of a Unix timestamp below {@link TIMESTAMPS_END}: in seconds, milliseconds, microseconds or nanoseconds. */
export function toInstant(timestamp: number): Instant {
  const magnitude = Math.abs(timestamp);
  if (magnitude < FIRST_MILLISECONDS) return timestamp * 1000;
  if (magnitude < FIRST_MICROSECONDS) return timestamp;
  // A double holds nanoseconds of today only to 256 of them.
  return Math.trunc((magnitude < FIRST_NANOSECONDS ? timestamp : Math.round(timestamp / 1000)) / 1000);
}
