import { priceOfToken2 } from '../../src/domain/price.ts';
import type { Reserves } from '../../src/domain/reserves.ts';
import type { expectedCandles } from './store-model.ts';

/** All fields of a candle. */
export const CANDLE =
  'openTime closeTime open high low close tradedToken1 tradedToken2 firstHeight lastHeight heights isComplete isClosed';

type ExpectedCandle = ReturnType<typeof expectedCandles>[number];

/** A candle as the response has it. @param decimals those of the two tokens */
export function shownCandle(candle: ExpectedCandle, decimals: readonly [number, number]) {
  const iso = (time: number) => new Date(time).toISOString();
  const price = (state: Reserves | undefined) => (state && priceOfToken2(state, ...decimals)) ?? null;
  return {
    openTime: iso(candle.openTime),
    closeTime: iso(candle.closeTime),
    open: price(candle.open),
    high: price(candle.high),
    low: price(candle.low),
    close: price(candle.close),
    tradedToken1: String(candle.traded1),
    tradedToken2: String(candle.traded2),
    firstHeight: candle.firstHeight,
    lastHeight: candle.lastHeight,
    heights: candle.heights,
    isComplete: candle.isComplete,
    isClosed: candle.isClosed,
  };
}
