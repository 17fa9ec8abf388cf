import type { Pair, Ticker } from '../../../src/domain/market.ts';
import { readPair, readTicker } from '../../../src/upstream/market-data/decode.ts';
import type { Rows } from '../../../src/upstream/rows.ts';
import { readArray, readObject, ShapeError } from '../../../src/upstream/wire.ts';

/** Reads the pairs out of a response that was parsed as a whole: one that is read while it arrives must give the same. */
export function readPairs(document: unknown): Rows<Pair> {
  return readWhole(document, 'pairs', readPair);
}

/** The same for tickers. */
export function readTickers(document: unknown): Rows<Ticker> {
  return readWhole(document, 'tickers', readTicker);
}

function readWhole<T>(document: unknown, name: string, read: (value: unknown) => T): Rows<T> {
  const values = readArray(readObject(document, '$')[name], `$.${name}`);
  const rows = values.flatMap((value) => {
    try {
      return [read(value)];
    } catch (error) {
      if (error instanceof ShapeError) return [];
      throw error;
    }
  });
  return { rows, dropped: values.length - rows.length };
}
