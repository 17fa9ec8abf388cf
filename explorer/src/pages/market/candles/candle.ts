import type { CandleFieldsFragment } from './candles.generated.ts';

/** A candle as the chart draws it: prices in target tokens per base token, the volume in whole base tokens. */
export type ChartCandle = {
  /** When the interval begins, in milliseconds since 1970. */
  readonly openTime: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  /** Null if the decimals of the base token are not known. */
  readonly volume: number | null;
  /** False if there was at least this volume: the trades of a height of it are not known. */
  readonly isVolumeExact: boolean;
  readonly firstHeight: number;
  readonly lastHeight: number;
  /** False if heights of it are missing from the history. */
  readonly isComplete: boolean;
};

type Direction = { readonly isInverse: boolean; readonly baseDecimals: number | null };

/** A candle of the gateway in the direction of the market; undefined if it has no price. */
export function toChartCandle(
  candle: CandleFieldsFragment,
  { isInverse, baseDecimals }: Direction,
): ChartCandle | undefined {
  const open = isInverse ? candle.inverseOpen : candle.open;
  const high = isInverse ? candle.inverseHigh : candle.high;
  const low = isInverse ? candle.inverseLow : candle.low;
  const close = isInverse ? candle.inverseClose : candle.close;
  if (open == null || high == null || low == null || close == null) return undefined;
  // They are those of the highest and the lowest ratio. Where liquidity was added or withdrawn, the others can be beyond them.
  const four = [open, high, low, close];
  const traded = isInverse ? candle.tradedToken1 : candle.tradedToken2;
  return {
    openTime: Date.parse(candle.openTime),
    open,
    high: Math.max(...four),
    low: Math.min(...four),
    close,
    volume: traded === undefined || baseDecimals === null ? null : Number(traded) / 10 ** baseDecimals,
    isVolumeExact: candle.isVolumeExact,
    firstHeight: candle.firstHeight,
    lastHeight: candle.lastHeight,
    isComplete: candle.isComplete,
  };
}

/** Lists of candles as one, ascending by time. Of the same interval, the one that knows the highest height stays. */
export function mergeCandles(...lists: readonly (readonly ChartCandle[])[]): readonly ChartCandle[] {
  const byTime = new Map<number, ChartCandle>();
  for (const candle of lists.flat()) {
    const known = byTime.get(candle.openTime);
    if (known === undefined || candle.lastHeight >= known.lastHeight) byTime.set(candle.openTime, candle);
  }
  return [...byTime.values()].sort((a, b) => a.openTime - b.openTime);
}

/** Whether heights are missing between the newest candle that is known and one that is pushed, as after an outage. */
export function isGapBefore(pushed: ChartCandle, known: readonly ChartCandle[]): boolean {
  const newest = known.at(-1);
  if (newest === undefined || pushed.openTime <= newest.openTime) return false;
  return pushed.firstHeight > newest.lastHeight + 1;
}

/** Whether no interval can be missing between candles that were known and the newest answer: it begins among them. */
export function isJoined(known: readonly ChartCandle[], loaded: readonly ChartCandle[]): boolean {
  const [first] = loaded;
  const last = known.at(-1);
  return first === undefined || last === undefined || last.openTime >= first.openTime;
}

/** More empty places than this are not drawn: the history was off for long. */
const MOST_EMPTY = 300;

/** The candles with a time alone for each interval between them that has none, so that time runs evenly on the axis. */
export function withEmptyIntervals(
  candles: readonly ChartCandle[],
  intervalMs: number,
): readonly (ChartCandle | { readonly openTime: number })[] {
  const places: (ChartCandle | { readonly openTime: number })[] = [];
  for (const candle of candles) {
    const before = places.at(-1)?.openTime;
    if (before !== undefined && (candle.openTime - before) / intervalMs <= MOST_EMPTY) {
      for (let time = before + intervalMs; time < candle.openTime; time += intervalMs) places.push({ openTime: time });
    }
    places.push(candle);
  }
  return places;
}
