import {
  CandlestickSeries,
  createChartEx,
  type DeepPartial,
  HistogramSeries,
  type IHorzScaleBehavior,
  type MouseEventParams,
  TickMarkType,
  type Time,
  type TimeChartOptions,
  type UTCTimestamp,
} from 'lightweight-charts';
import { createTimeAxis, formatUncovered } from '../../../charts/axis-labels.ts';
import { type ChartColours, chartOptions, withOpacity } from '../../../charts/chart-options.ts';
import { formatPrice, formatQuantity, priceDecimals } from '../../../format/numbers.ts';
import { type ChartCandle, withEmptyIntervals } from './candle.ts';

/** A drawn chart of candles. */
export type CandleDrawing = {
  setCandles(candles: readonly ChartCandle[], intervalMs: number, spanMs: number | undefined): void;
  setColours(colours: ChartColours): void;
  dispose(): void;
};

type CandleDrawingOptions = {
  readonly element: HTMLElement;
  readonly colours: ChartColours;
  /** Gets the candle under the pointer; undefined when the pointer leaves. */
  readonly onPoint: (candle: ChartCandle | undefined) => void;
  /** Is called while the oldest candles are on the screen. */
  readonly onReachOldest: () => void;
};

/** Candles to the left of the screen when older ones are requested. */
const OLDEST_WITHIN = 25;

/** Candles that are on the screen at first, and the room to the right of them. */
const SHOWN_AT_FIRST = 110;
const ROOM_RIGHT = 4;

/** Draws a chart of candles with their volumes. Only what changed is drawn again. */
export function drawCandles({ element, colours, onPoint, onReachOldest }: CandleDrawingOptions): CandleDrawing {
  const options: DeepPartial<TimeChartOptions> = {
    ...chartOptions(colours),
    localization: { timeFormatter: formatChartTime },
    timeScale: { timeVisible: true, tickMarkFormatter: formatTick, rightOffset: ROOM_RIGHT, minBarSpacing: 1 },
  };
  const axis = createTimeAxis(() => chart.timeScale());
  const chart = createChartEx<Time, IHorzScaleBehavior<Time>>(element, axis, options);
  const volumes = chart.addSeries(HistogramSeries, {
    priceScaleId: '',
    priceFormat: { type: 'custom', formatter: formatQuantity, minMove: 1e-12 },
    lastValueVisible: false,
    priceLineVisible: false,
  });
  volumes.priceScale().applyOptions({ scaleMargins: { top: 0.84, bottom: 0 } });
  const series = chart.addSeries(CandlestickSeries, { borderVisible: false });
  series.priceScale().applyOptions({ scaleMargins: { top: 0.08, bottom: 0.2 } });

  let shown: readonly ChartCandle[] = [];
  let shownIntervalMs = 0;
  let shownSpanMs: number | undefined;
  let current = colours;

  const toBar = (candle: ChartCandle) => ({
    time: toTime(candle.openTime),
    open: candle.open,
    high: candle.high,
    low: candle.low,
    close: candle.close,
    // Candles with missing heights are paler.
    ...(!candle.isComplete && { color: withOpacity(candle.close < candle.open ? current.down : current.up, 0.55) }),
  });
  const toVolume = (candle: ChartCandle) => ({
    time: toTime(candle.openTime),
    value: candle.volume ?? 0,
    // A volume that is a minimum is paler.
    color: withOpacity(candle.close < candle.open ? current.down : current.up, candle.isVolumeExact ? 0.5 : 0.28),
  });

  function drawAll(): void {
    const places = withEmptyIntervals(shown, shownIntervalMs);
    series.setData(places.map((place) => ('open' in place ? toBar(place) : { time: toTime(place.openTime) })));
    volumes.setData(places.map((place) => ('open' in place ? toVolume(place) : { time: toTime(place.openTime) })));
  }

  function setColours(next: ChartColours): void {
    current = next;
    chart.applyOptions(chartOptions(next));
    series.applyOptions({
      upColor: next.up,
      downColor: next.down,
      wickUpColor: next.up,
      wickDownColor: next.down,
    });
    drawAll();
  }
  setColours(colours);

  chart.subscribeCrosshairMove(({ time }: MouseEventParams<Time>) => {
    onPoint(typeof time === 'number' ? shown.find(({ openTime }) => toTime(openTime) === time) : undefined);
  });
  chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
    if (range !== null && shown.length > 0 && range.from < OLDEST_WITHIN) onReachOldest();
  });

  return {
    setCandles(candles, intervalMs, spanMs) {
      const before = shown;
      const isOther = intervalMs !== shownIntervalMs || spanMs !== shownSpanMs || before.length === 0;
      shown = candles;
      shownIntervalMs = intervalMs;
      shownSpanMs = spanMs;
      const newest = candles.at(-1);
      const digits = priceDecimals(newest?.close ?? 1);
      const tickmarksFormatter = formatUncovered(series, formatPrice, () => newest?.close);
      const minMove = 10 ** -digits;
      series.applyOptions({ priceFormat: { type: 'custom', formatter: formatPrice, tickmarksFormatter, minMove } });
      if (newest !== undefined && isOnlyNewestChanged(before, candles) && !isOther) {
        series.update(toBar(newest));
        volumes.update(toVolume(newest));
        return;
      }
      drawAll();
      if (isOther && newest !== undefined) {
        const end = withEmptyIntervals(candles, intervalMs).length;
        const shownAtFirst = spanMs === undefined ? SHOWN_AT_FIRST : Math.ceil(spanMs / intervalMs);
        const from = Math.max(Math.min(0, end - 40), end - shownAtFirst);
        chart.timeScale().setVisibleLogicalRange({ from, to: end + ROOM_RIGHT });
      }
    },
    setColours,
    dispose: () => chart.remove(),
  };
}

function isOnlyNewestChanged(before: readonly ChartCandle[], after: readonly ChartCandle[]): boolean {
  if (before.length !== after.length) return false;
  return before.every((candle, index) => index === before.length - 1 || candle === after[index]);
}

function toTime(openTime: number): UTCTimestamp {
  return (openTime / 1_000) as UTCTimestamp;
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'short', timeZone: 'UTC' });
const YEAR = new Intl.DateTimeFormat('en-GB', { year: 'numeric', timeZone: 'UTC' });
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });

/** Intervals are aligned to UTC, so the axis is in UTC too. */
function formatTick(time: Time, type: TickMarkType): string {
  if (typeof time !== 'number') return String(time);
  if (type === TickMarkType.Year) return YEAR.format(time * 1_000);
  if (type === TickMarkType.Month) return MONTH.format(time * 1_000);
  return (type === TickMarkType.DayOfMonth ? DAY : CLOCK).format(time * 1_000);
}

function formatChartTime(time: Time): string {
  return typeof time === 'number' ? `${DAY.format(time * 1_000)}, ${CLOCK.format(time * 1_000)} UTC` : String(time);
}
