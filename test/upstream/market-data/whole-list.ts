import type { Pair, Ticker } from '../../../src/domain/market.ts';
import { readPair, readTicker } from '../../../src/upstream/market-data/decode.ts';
import { createRowsReader, type Rows } from '../../../src/upstream/market-data/rows.ts';

/** Reads the pairs out of an answer that was parsed as a whole: what reading it as it comes has to give too. */
export function readPairs(document: unknown): Rows<Pair> {
  return readWhole(document, 'pairs', readPair);
}

/** Likewise, the tickers. */
export function readTickers(document: unknown): Rows<Ticker> {
  return readWhole(document, 'tickers', readTicker);
}

function readWhole<T extends object>(document: unknown, name: string, read: (value: unknown) => T): Rows<T> {
  const reader = createRowsReader(name, read);
  reader.begin();
  const list = (document as Record<string, unknown> | null)?.[name];
  if (Array.isArray(list)) for (const value of list) reader.add(value);
  return reader.end(document);
}
