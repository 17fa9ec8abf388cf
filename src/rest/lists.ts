import type { Head } from '../live/chain/head.ts';
import { Loaders } from '../loaders/loaders.ts';
import type { Sources } from '../loaders/sources.ts';

/** The hours of the high and low of a ticker. */
export const TICKER_HOURS = 24;

/** A list has no pages and no candles, and no client chooses what is read for it. */
const LIMITS = { maxPageSize: 1, maxCandles: 1, maxHistoryHours: TICKER_HOURS };

/** Creates the loaders of a list. @param head the head that the list describes; by default, the current one */
export function createListLoaders(sources: Sources, head?: Head, maxCandles = LIMITS.maxCandles): Loaders {
  return new Loaders(sources, { ...LIMITS, maxCandles, requester: { client: 'rest' }, afterEvent: undefined }, head);
}

/** The text of the document with a list of that name, row by row. */
export function* listTexts(name: string, rows: Iterable<string>): Generator<string> {
  yield `{"message":"OK","${name}":[`;
  let isFirst = true;
  for (const row of rows) {
    if (!isFirst) yield ',';
    isFirst = false;
    yield row;
  }
  yield ']}';
}
