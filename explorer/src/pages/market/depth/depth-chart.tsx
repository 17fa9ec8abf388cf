import { useEffect, useEffectEvent, useRef } from 'react';
import { useColourScheme } from '../../../app/theme.ts';
import { readChartColours } from '../../../charts/chart-options.ts';
import chartStyles from '../../../charts/charts.module.css';
import type { DepthCurve } from './depth-curve.ts';
import { type DepthDrawing, drawDepth, type PointedDepth } from './depth-drawing.ts';

type DepthChartProps = {
  readonly curve: DepthCurve;
  readonly onPoint: (point: PointedDepth | undefined) => void;
};

/** The chart of the depth. Screen readers get the sentence above it. */
export function DepthChart({ curve, onPoint }: DepthChartProps) {
  const element = useRef<HTMLDivElement>(null);
  const drawing = useRef<DepthDrawing>(undefined);
  const scheme = useColourScheme();
  const point = useEffectEvent(onPoint);

  useEffect(() => {
    if (element.current === null) return;
    const drawn = drawDepth({
      element: element.current,
      colours: readChartColours(),
      onPoint: (pointed) => point(pointed),
    });
    drawing.current = drawn;
    return () => {
      drawing.current = undefined;
      drawn.dispose();
    };
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours of the theme are others when the scheme changes
  useEffect(() => drawing.current?.setColours(readChartColours()), [scheme]);
  useEffect(() => drawing.current?.setCurve(curve), [curve]);

  return <div ref={element} className={`${chartStyles.chart} ${chartStyles.canvas}`} aria-hidden="true" />;
}
