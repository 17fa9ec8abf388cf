import type {
  ChartOptionsImpl,
  IHorzScaleBehavior,
  InternalHorzScaleItem,
  InternalHorzScaleItemKey,
  TickMarkWeightValue,
} from 'lightweight-charts';
import { formatPrice } from '../../../format/numbers.ts';

/** Every so many points, a label of the axis is preferred. */
const LABEL_EVERY = 10;

/**
 * A horizontal axis of prices. The library has one too, which writes them without separators. Points are evenly spaced, as the
 * levels of a depth ladder are.
 */
export function createPriceAxis(): IHorzScaleBehavior<number> {
  let options: ChartOptionsImpl<number> | undefined;
  const toNumber = (item: InternalHorzScaleItem | number) => item as unknown as number;
  const toItem = (price: number) => price as unknown as InternalHorzScaleItem;
  return {
    options: () => options as ChartOptionsImpl<number>,
    setOptions(next) {
      options = next;
    },
    preprocessData() {},
    convertHorzItemToInternal: toItem,
    createConverterToInternalObj: () => (price) => toItem(price),
    key: (item) => item as unknown as InternalHorzScaleItemKey,
    cacheKey: (item) => toNumber(item),
    updateFormatter(localization) {
      // The library calls it once before the options are there.
      if (options !== undefined) options.localization = localization;
    },
    formatHorzItem: (item) => formatPrice(toNumber(item)),
    formatTickmark: ({ time }) => formatPrice(toNumber(time)),
    maxTickMarkWeight: (marks) => Math.max(...marks.map(({ weight }) => weight)) as TickMarkWeightValue,
    fillWeightsForPoints(points, start) {
      for (const [index, point] of points.entries()) {
        if (index >= start) point.timeWeight = (index % LABEL_EVERY === 0 ? 1 : 0) as TickMarkWeightValue;
      }
    },
  };
}
