import { AreaSeries, createChartEx, type IHorzScaleBehavior, type MouseEventParams } from 'lightweight-charts';
import { labelRoom } from '../../../charts/axis-labels.ts';
import { type ChartColours, chartOptions, withOpacity } from '../../../charts/chart-options.ts';
import { formatPrice, formatQuantity } from '../../../format/numbers.ts';
import type { DepthCurve, DepthPoint } from './depth-curve.ts';
import { createPriceAxis } from './price-axis.ts';

/** A point of the chart, and the side that it is on. */
export type PointedDepth = DepthPoint & { readonly side: 'bids' | 'asks' };

/** A drawn chart of the depth on both sides. */
export type DepthDrawing = {
  setCurve(curve: DepthCurve): void;
  setColours(colours: ChartColours): void;
  dispose(): void;
};

type DepthDrawingOptions = {
  readonly element: HTMLElement;
  readonly colours: ChartColours;
  /** Gets the point under the pointer; undefined when the pointer leaves. */
  readonly onPoint: (point: PointedDepth | undefined) => void;
};

/** Draws what can be traded up to each price: a filled area for pool and book together, a line in it for the pool alone. */
export function drawDepth({ element, colours, onPoint }: DepthDrawingOptions): DepthDrawing {
  const quantity = { type: 'custom', formatter: formatQuantity, minMove: 1e-12 } as const;
  const chart = createChartEx<number, IHorzScaleBehavior<number>>(element, createPriceAxis(), {
    ...chartOptions(colours),
    timeScale: {
      allowBoldLabels: false,
      minBarSpacing: 0.5,
      fixLeftEdge: true,
      fixRightEdge: true,
    },
    handleScale: false,
    handleScroll: false,
  });
  chart.priceScale('right').applyOptions({ scaleMargins: { top: 0.1, bottom: 0 } });
  const shared = { priceFormat: quantity, lastValueVisible: false, priceLineVisible: false } as const;
  const total = { bids: chart.addSeries(AreaSeries, shared), asks: chart.addSeries(AreaSeries, shared) };
  const ofPool = { bids: chart.addSeries(AreaSeries, shared), asks: chart.addSeries(AreaSeries, shared) };
  let shown: DepthCurve | undefined;

  chart.subscribeCrosshairMove(({ time }: MouseEventParams<number>) => {
    onPoint(time === undefined || shown === undefined ? undefined : pointAt(shown, time));
  });

  // All of it is on the screen, however wide that is.
  chart.timeScale().subscribeSizeChange(() => chart.timeScale().fitContent());

  function setColours(next: ChartColours): void {
    const { handleScroll: _, ...options } = chartOptions(next);
    chart.applyOptions(options);
    for (const side of ['bids', 'asks'] as const) {
      const colour = side === 'bids' ? next.up : next.down;
      total[side].applyOptions({
        lineColor: colour,
        lineWidth: 2,
        topColor: withOpacity(colour, 0.22),
        bottomColor: withOpacity(colour, 0.06),
      });
      ofPool[side].applyOptions({
        lineColor: withOpacity(next.accent, 0.9),
        lineWidth: 1,
        topColor: withOpacity(next.accent, 0.2),
        bottomColor: withOpacity(next.accent, 0.06),
        crosshairMarkerVisible: false,
      });
    }
  }
  setColours(colours);

  return {
    setCurve(curve) {
      shown = curve;
      const { midPrice, bids, asks } = curve;
      const ends = [bids.at(-1)?.price ?? midPrice, midPrice, asks.at(-1)?.price ?? midPrice];
      chart.applyOptions({ timeScale: { tickMarkMaxCharacterLength: labelRoom(...ends.map(formatPrice)) } });
      const middle: DepthPoint = { price: midPrice, quantity: 0, poolQuantity: 0, total: 0 };
      const points = { bids: [middle, ...bids].toReversed(), asks: [middle, ...asks] };
      for (const side of ['bids', 'asks'] as const) {
        total[side].setData(points[side].map((point) => ({ time: point.price, value: point.quantity })));
        ofPool[side].setData(points[side].map((point) => ({ time: point.price, value: point.poolQuantity })));
      }
      chart.timeScale().fitContent();
    },
    setColours,
    dispose: () => chart.remove(),
  };
}

function pointAt({ midPrice, bids, asks }: DepthCurve, price: number): PointedDepth | undefined {
  const side = price < midPrice ? 'bids' : 'asks';
  const point = (side === 'bids' ? bids : asks).find((each) => each.price === price);
  return point && { ...point, side };
}
