/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number;

/** The unit of a Unix timestamp. */
export type TimestampUnit = 'SECONDS' | 'MILLISECONDS';

/** 1e11 seconds are in the year 5138, 1e11 milliseconds in 1973. No timestamp of a market is on the wrong side. */
const FIRST_MILLISECONDS = 1e11;

/** The unit of a Unix timestamp, by its magnitude. */
export function timestampUnit(timestamp: number): TimestampUnit {
  return Math.abs(timestamp) < FIRST_MILLISECONDS ? 'SECONDS' : 'MILLISECONDS';
}

/** The instant of a Unix timestamp in seconds or milliseconds. */
export function toInstant(timestamp: number): Instant {
  return timestampUnit(timestamp) === 'SECONDS' ? timestamp * 1000 : timestamp;
}
