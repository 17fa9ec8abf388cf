import { useMemo } from 'react';
import { useSearchParams } from 'react-router';
import { currentParameters, IN_PLACE, withParameter } from '../../../app/url-parameters.ts';
import { useGatewayQuery } from '../../../client/hooks.ts';
import { HistorySpanDocument } from './candles.generated.ts';
import { DEFAULT_INTERVAL, type Interval, intervalFor, intervalOf, PERIODS, type Period } from './intervals.ts';

/** Which candles the reader has chosen: an interval, or a period, whose interval depends on how much is recorded. */
type CandleView = {
  readonly interval: Interval;
  readonly period: Period | undefined;
  /** How much of the time is on the screen at first, in milliseconds; undefined for as much as usual. */
  readonly spanMs: number | undefined;
  /** False until the interval of the period is known. */
  readonly isKnown: boolean;
  readonly isTable: boolean;
  choose(name: 'interval' | 'period' | 'view', value: string): void;
};

/** What is left out of the URL. */
const DEFAULTS = { interval: DEFAULT_INTERVAL, period: '', view: 'chart' } as const;

/** The choices in the URL. An interval and a period replace each other. */
export function useCandleView(): CandleView {
  const [parameters, setParameters] = useSearchParams();
  const period = PERIODS.find(({ value }) => value === parameters.get('period'));
  const { data, isLoading } = useGatewayQuery(HistorySpanDocument, NO_VARIABLES, { pause: period === undefined });
  const history = data?.history;
  const spanMs = useMemo(() => {
    if (period === undefined) return undefined;
    if (!history) return period.ms;
    const recordedMs = Date.parse(history.lastTime) - Date.parse(history.firstTime);
    return Math.min(period.ms, Math.max(recordedMs, MINIMUM_MS));
  }, [period, history]);

  return {
    interval: spanMs === undefined ? intervalOf(parameters.get('interval')) : intervalFor(spanMs),
    period,
    spanMs,
    isKnown: period === undefined || !isLoading,
    isTable: parameters.get('view') === 'table',
    choose(name, value) {
      const kept = currentParameters();
      if (name !== 'view') for (const other of ['interval', 'period']) kept.delete(other);
      setParameters(withParameter(kept, name, value === DEFAULTS[name] ? '' : value), IN_PLACE);
    },
  };
}

const NO_VARIABLES = {};

/** A history of a few blocks is shown as if it were this long. */
const MINIMUM_MS = 30 * 60_000;
