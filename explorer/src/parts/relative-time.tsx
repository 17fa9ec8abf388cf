import { useCallback } from 'react';
import { useAtEachSecond } from '../client/clock-hooks.ts';
import { UNKNOWN } from '../format/numbers.ts';
import { formatAge, formatExactTime, parseTime } from '../format/times.ts';

/** How long ago a time of the gateway was, by its clock. The tooltip has the exact time. Only the text changes each second. */
export function RelativeTime({ time }: { readonly time: string | null | undefined }) {
  const instant = parseTime(time);
  const text = useAtEachSecond(
    useCallback((now: number) => (instant === undefined ? UNKNOWN : formatAge(now - instant)), [instant]),
  );
  if (instant === undefined) return <span>{text}</span>;
  return (
    <time translate="no" dateTime={new Date(instant).toISOString()} title={formatExactTime(instant)}>
      {text}
    </time>
  );
}
