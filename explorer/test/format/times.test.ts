import { describe, expect, test } from 'vitest';
import { formatAge, formatDuration, formatExactTime, formatSince, parseTime } from '../../src/format/times.ts';

test.each([
  [0, 'now'],
  [999, 'now'],
  [1_000, '1 s ago'],
  [59_999, '59 s ago'],
  [60_000, '1 min ago'],
  [3_600_000, '1 h ago'],
  [47 * 3_600_000, '47 h ago'],
  [48 * 3_600_000, '2 d ago'],
  [-1_000, 'now'],
  [-61_000, 'in 1 min'],
  [Number.NaN, '–'],
])('%s ms ago is “%s”', (ms, text) => {
  expect(formatAge(ms)).toBe(text);
});

test.each([
  [0, '0 s'],
  [450, '0.4 s'],
  [40_000, '40 s'],
  [-1, '–'],
  [Number.POSITIVE_INFINITY, '–'],
])('%s ms last “%s”', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

describe('a time', () => {
  const time = Date.UTC(2026, 0, 1, 12, 30, 15);

  test('that is not one is not known', () => {
    expect([parseTime(null), parseTime(undefined), parseTime('soon')]).toEqual([undefined, undefined, undefined]);
    expect(parseTime('2026-01-01T12:30:15.000Z')).toBe(time);
  });

  test('is exact in a tooltip, here and, unless that is the same, in UTC', () => {
    expect(formatExactTime(time)).toMatch(/^Jan 1, 2026, \d\d:\d\d:15 \S+( \(2026-01-01 12:30:15 UTC\))?$/);
  });

  test('has the date unless it was today', () => {
    expect(formatSince(time, time + 1_000)).toMatch(/^\d\d:\d\d:15$/);
    expect(formatSince(time, time + 72 * 3_600_000)).toMatch(/^Jan 1, \d\d:\d\d$/);
  });
});
