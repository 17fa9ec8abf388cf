import { UNKNOWN } from './numbers.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Reads a time of the gateway. @returns milliseconds since 1970; `undefined` if it is no time */
export function parseTime(text: string | null | undefined): number | undefined {
  const time = text == null ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

/** How long ago: now, 5 s ago, 3 min ago, 2 h ago, 4 d ago. The clocks of two computers differ, so the near future is now. */
export function formatAge(ms: number): string {
  if (!Number.isFinite(ms)) return UNKNOWN;
  if (ms < -2 * SECOND) return `in ${formatDuration(-ms)}`;
  return ms < SECOND ? 'now' : `${formatDuration(ms)} ago`;
}

/** A duration in its largest unit: 0.4 s, 5 s, 3 min, 2 h, 4 d. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return UNKNOWN;
  if (ms < SECOND) return `${Math.floor(ms / 100) / 10} s`;
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

/** A time of the day for something that has lasted since then, with the date if it was another day: 14:03:07, Jan 2, 14:03. */
export function formatSince(time: number, now: number): string {
  const isToday = new Date(time).toDateString() === new Date(now).toDateString();
  return isToday ? CLOCK.format(time) : DATE_AND_CLOCK.format(time);
}

/** The exact time here, and in UTC unless that is the same. */
export function formatExactTime(time: number): string {
  const here = EXACT.format(time);
  const date = new Date(time);
  if (date.getTimezoneOffset() === 0) return here;
  return `${here} (${date
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z/, ' UTC')})`;
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DATE_AND_CLOCK = new Intl.DateTimeFormat('en-US', {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const EXACT = new Intl.DateTimeFormat('en-US', {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
});
