import { describe, expect, test } from 'vitest';
import { timestampUnit, toInstant } from '../../src/domain/instant.ts';

describe('the unit of a timestamp', () => {
  test.each([
    ['of 2022 in seconds', 1_668_769_564, 'SECONDS', Date.UTC(2022, 10, 18, 11, 6, 4)],
    ['of 2022 in milliseconds', 1_668_769_564_123, 'MILLISECONDS', Date.UTC(2022, 10, 18, 11, 6, 4, 123)],
    ['of the beginning', 0, 'SECONDS', 0],
    ['with a fraction of a second', 1.5, 'SECONDS', 1_500],
    ['of the last second', 99_999_999_999, 'SECONDS', 99_999_999_999_000],
    ['of the first millisecond', 100_000_000_000, 'MILLISECONDS', Date.UTC(1973, 2, 3, 9, 46, 40)],
    ['of the last millisecond', 99_999_999_999_999, 'MILLISECONDS', Date.UTC(5138, 10, 16, 9, 46, 39, 999)],
    ['of the first microsecond', 1e14, 'MILLISECONDS', Date.UTC(1973, 2, 3, 9, 46, 40)],
    ['of 2022 in microseconds', 1_668_769_564_123_999, 'MILLISECONDS', Date.UTC(2022, 10, 18, 11, 6, 4, 123)],
    ['of the first nanosecond', 1e17, 'MILLISECONDS', Date.UTC(1973, 2, 3, 9, 46, 40)],
    ['of 2022 in nanoseconds', 1_668_769_564_123_000_000, 'MILLISECONDS', Date.UTC(2022, 10, 18, 11, 6, 4, 123)],
    ['before 1970 in seconds', -1_000, 'SECONDS', -1_000_000],
    ['before 1970 in milliseconds', -200_000_000_000, 'MILLISECONDS', -200_000_000_000],
  ] as const)('a timestamp %s', (_, timestamp, unit, instant) => {
    expect({ unit: timestampUnit(timestamp), instant: toInstant(timestamp) }).toEqual({ unit, instant });
  });
});
