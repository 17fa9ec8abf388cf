/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number;

/** The unit that a Unix timestamp of unstated unit is in. */
export type TimestampUnit = 'SECONDS' | 'MILLISECONDS';

/** 1e11 seconds lie in the year 5138, 1e11 milliseconds in 1973: nothing that trades is on the wrong side of either. */
const FIRST_MILLISECONDS = 1e11;

/** Decides by magnitude whether a Unix timestamp counts seconds or milliseconds. */
export function timestampUnit(timestamp: number): TimestampUnit {
  return Math.abs(timestamp) < FIRST_MILLISECONDS ? 'SECONDS' : 'MILLISECONDS';
}

/** The instant that a Unix timestamp of either unit names. */
export function toInstant(timestamp: number): Instant {
  return timestampUnit(timestamp) === 'SECONDS' ? timestamp * 1000 : timestamp;
}
