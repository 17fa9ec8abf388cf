import { defaultHorzScaleBehavior, type IHorzScaleBehavior, type ITimeScaleApi, type Time } from 'lightweight-charts';
import { chartFontSize } from './chart-options.ts';

/** A label of an axis needs this many times the size of its letters, with the box of a highlighted one. */
const LABEL_HEIGHT = 1.7;

/** The usual width of a digit, as a part of the size of its letters. */
const DIGIT_WIDTH = 0.62;

type PriceAxis = { priceToCoordinate(price: number): number | null };

/**
 * Writes the labels of a price axis, without those that a highlighted label covers.
 *
 * @param highlighted the price of that label; undefined if there is none
 */
export function formatUncovered(
  axis: PriceAxis,
  format: (price: number) => string,
  highlighted: () => number | undefined,
): (prices: readonly number[]) => string[] {
  return (prices) => {
    const price = highlighted();
    const covered = price === undefined ? null : axis.priceToCoordinate(price);
    const room = LABEL_HEIGHT * chartFontSize();
    return prices.map((each) => {
      const place = axis.priceToCoordinate(each);
      return covered !== null && place !== null && Math.abs(place - covered) < room ? '' : format(each);
    });
  };
}

/** An axis of times. It leaves out labels that an edge of the chart would cut. */
export function createTimeAxis(scale: () => ITimeScaleApi<Time>): IHorzScaleBehavior<Time> {
  const TimeAxis = defaultHorzScaleBehavior();
  const axis = new TimeAxis();
  const { formatTickmark } = axis;
  let labels = 0;
  // Nothing is cached: whether a label is cut depends on where it is now.
  axis.cacheKey = () => ++labels;
  axis.formatTickmark = (mark, localization) => {
    const label = formatTickmark.call(axis, mark, localization);
    const place = scale().timeToCoordinate(mark.originalTime as Time);
    if (place === null) return label;
    const half = (label.length * chartFontSize() * DIGIT_WIDTH) / 2;
    return place < half || place > scale().width() - half ? '' : label;
  };
  return axis;
}

/** The characters for which a label of an axis needs room, so that one that an edge moves does not touch the next. */
export function labelRoom(...labels: readonly string[]): number {
  return Math.ceil(1.5 * Math.max(...labels.map(({ length }) => length)));
}
