import type { Pair, Ticker } from '../../../src/domain/market.ts';
import { readPair, readTicker } from '../../../src/upstream/market-data/decode.ts';
import { createRowsReader, type Rows } from '../../../src/upstream/rows.ts';
import { readArray, readObject, ShapeError } from '../../../src/upstream/wire.ts';

/** A reader of pairs, while they arrive. */
export function createPairsReader() {
  return createRowsReader({ name: 'pairs', read: readPair });
}

/** The same for tickers. */
export function createTickersReader(previous?: readonly Ticker[]) {
  return createRowsReader({ name: 'tickers', read: readTicker, previous });
}

/** Reads the pairs out of a response that was parsed as a whole: one that is read while it arrives must give the same. */
export function readPairs(document: unknown): Rows<Pair> {
  return readWhole(document, 'pairs', readPair);
}

/** The same for tickers. */
export function readTickers(document: unknown): Rows<Ticker> {
  return readWhole(document, 'tickers', readTicker);
}

function readWhole<T>(document: unknown, name: string, read: (value: unknown, leaveOut: () => void) => T): Rows<T> {
  const values = readArray(readObject(document, '$')[name], `$.${name}`);
  const incomplete = new Set<number>();
  const rows = values.flatMap((value, index) => {
    try {
      return [read(value, () => incomplete.add(index))];
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      incomplete.add(index);
      return [];
    }
  });
  return { rows, dropped: incomplete.size };
}
