import { useEffect, useEffectEvent, useRef } from 'react';
import { useColourScheme } from '../../../app/theme.ts';
import { readChartColours } from '../../../charts/chart-options.ts';
import chartStyles from '../../../charts/charts.module.css';
import type { ChartCandle } from './candle.ts';
import { type CandleDrawing, drawCandles } from './candle-drawing.ts';

type CandleChartProps = {
  readonly candles: readonly ChartCandle[];
  readonly intervalMs: number;
  /** How much of the time is shown at first; undefined for as much as usual. */
  readonly spanMs: number | undefined;
  readonly onPoint: (candle: ChartCandle | undefined) => void;
  readonly onReachOldest: () => void;
};

/** The chart of candles. Screen readers get the table instead: a canvas has nothing to read. */
export function CandleChart({ candles, intervalMs, spanMs, onPoint, onReachOldest }: CandleChartProps) {
  const element = useRef<HTMLDivElement>(null);
  const drawing = useRef<CandleDrawing>(undefined);
  const scheme = useColourScheme();
  const point = useEffectEvent(onPoint);
  const reachOldest = useEffectEvent(onReachOldest);

  useEffect(() => {
    if (element.current === null) return;
    const drawn = drawCandles({
      element: element.current,
      colours: readChartColours(),
      onPoint: (candle) => point(candle),
      onReachOldest: () => reachOldest(),
    });
    drawing.current = drawn;
    return () => {
      drawing.current = undefined;
      drawn.dispose();
    };
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours of the theme are others when the scheme changes
  useEffect(() => drawing.current?.setColours(readChartColours()), [scheme]);
  useEffect(() => drawing.current?.setCandles(candles, intervalMs, spanMs), [candles, intervalMs, spanMs]);

  return <div ref={element} className={`${chartStyles.chart} ${chartStyles.canvas}`} aria-hidden="true" />;
}
