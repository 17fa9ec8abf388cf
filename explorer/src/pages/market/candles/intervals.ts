import type { CandleInterval } from './candles.generated.ts';

/** The intervals that a reader can choose, as they are in the URL. */
export const INTERVALS = [
  { value: '1m', label: '1 min', interval: 'ONE_MINUTE', ms: 60_000, name: 'a minute' },
  { value: '5m', label: '5 min', interval: 'FIVE_MINUTES', ms: 300_000, name: '5 minutes' },
  { value: '15m', label: '15 min', interval: 'FIFTEEN_MINUTES', ms: 900_000, name: '15 minutes' },
  { value: '1h', label: '1 h', interval: 'ONE_HOUR', ms: 3_600_000, name: 'an hour' },
  { value: '4h', label: '4 h', interval: 'FOUR_HOURS', ms: 14_400_000, name: '4 hours' },
  { value: '1d', label: '1 d', interval: 'ONE_DAY', ms: 86_400_000, name: 'a day' },
] as const satisfies readonly { interval: CandleInterval; [key: string]: unknown }[];

/** One of them. */
export type Interval = (typeof INTERVALS)[number];

/** The interval of a URL that names none. */
export const DEFAULT_INTERVAL = '15m';

/** The interval that a URL names. An unknown one is the default. */
export function intervalOf(value: string | null): Interval {
  return (
    INTERVALS.find((interval) => interval.value === value) ??
    (INTERVALS.find((interval) => interval.value === DEFAULT_INTERVAL) as Interval)
  );
}

const DAY = 86_400_000;

/** The periods that a reader can choose, as they are in the URL. */
export const PERIODS = [
  { value: '1d', label: '1 D', ms: DAY },
  { value: '1w', label: '1 W', ms: 7 * DAY },
  { value: '1m', label: '1 M', ms: 30 * DAY },
  { value: 'all', label: 'All', ms: Number.POSITIVE_INFINITY },
] as const;

/** One of them. */
export type Period = (typeof PERIODS)[number];

/** Number of candles that are still wide enough on a phone. */
const MOST_CANDLES = 200;

/** The shortest interval in which so much time has few enough candles. */
export function intervalFor(spanMs: number): Interval {
  return INTERVALS.find(({ ms }) => spanMs / ms <= MOST_CANDLES) ?? intervalOf('1d');
}
