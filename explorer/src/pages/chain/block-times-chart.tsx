import {
  createChart,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  LineStyle,
  type UTCTimestamp,
} from 'lightweight-charts';
import { useEffect, useRef } from 'react';
import { useColourScheme } from '../../app/theme.ts';
import { Attribution } from '../../charts/attribution.tsx';
import { formatUncovered, labelRoom } from '../../charts/axis-labels.ts';
import { chartOptions, readChartColours, withOpacity } from '../../charts/chart-options.ts';
import { formatInteger } from '../../format/numbers.ts';
import { formatDuration } from '../../format/times.ts';
import type { BlockInterval } from './block-intervals.ts';
import styles from './chain.module.css';

type BlockTimesChartProps = {
  readonly intervals: readonly BlockInterval[];
  readonly medianMs: number;
};

const formatSeconds = (seconds: number) => formatDuration(seconds * 1_000);

/** A bar for each block, as high as its interval was long; a line at the one in the middle. The axis has the heights. */
export function BlockTimesChart({ intervals, medianMs }: BlockTimesChartProps) {
  const element = useRef<HTMLDivElement>(null);
  const drawn = useRef<{ readonly chart: IChartApi; readonly bars: ISeriesApi<'Histogram'> }>(undefined);
  const scheme = useColourScheme();

  useEffect(() => {
    if (element.current === null) return;
    const chart = createChart(element.current, {
      ...chartOptions(readChartColours()),
      localization: { timeFormatter: (height: number) => `height ${formatInteger(height)}` },
      handleScroll: false,
      handleScale: false,
    });
    const bars = chart.addSeries(HistogramSeries, {
      lastValueVisible: false,
      priceLineVisible: false,
    });
    drawn.current = { chart, bars };
    return () => {
      drawn.current = undefined;
      chart.remove();
    };
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours of the theme are others when the scheme changes
  useEffect(() => {
    if (drawn.current === undefined) return;
    const { chart, bars } = drawn.current;
    const colours = readChartColours();
    const options = chartOptions(colours);
    chart.applyOptions({
      ...options,
      timeScale: {
        ...options.timeScale,
        tickMarkFormatter: (height: number) => formatInteger(height),
        tickMarkMaxCharacterLength: labelRoom(formatInteger(intervals.at(-1)?.height)),
      },
    });
    bars.applyOptions({
      color: withOpacity(colours.accent, 0.55),
      priceFormat: {
        type: 'custom',
        formatter: formatSeconds,
        tickmarksFormatter: formatUncovered(bars, formatSeconds, () => medianMs / 1_000),
        minMove: 0.1,
      },
    });
    for (const line of bars.priceLines()) bars.removePriceLine(line);
    bars.createPriceLine({
      price: medianMs / 1_000,
      color: colours.text,
      lineStyle: LineStyle.Dashed,
      lineWidth: 1,
      title: 'median',
    });
    bars.setData(intervals.map(({ height, ms }) => ({ time: height as UTCTimestamp, value: ms / 1_000 })));
    chart.timeScale().fitContent();
  }, [intervals, medianMs, scheme]);

  return (
    <>
      <div ref={element} className={styles.chart} aria-hidden="true" />
      <Attribution />
    </>
  );
}
