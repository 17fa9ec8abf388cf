import type { ResponseReader } from './body.ts';
import { createByteBuffer } from './byte-buffer.ts';

/**
 * Integers that a double may not hold: 17 digits and more, or 16 that begin with 9 (2^53 is 9007199254740992). A match inside
 * a string costs time and changes nothing.
 */
const MAY_EXCEED_DOUBLE = /(?:^|[[:,\s])-?(?:9\d{15}|\d{17,})(?:[\s,\]}]|$)/;

const INTEGER = /^-?\d+$/;

/**
 * Parses JSON without loss: integers beyond 2^53 become `bigint`, all other values are as `JSON.parse` returns them.
 *
 * A reviver sees the source text of each number but makes parsing several times slower, so it is used only if there may be
 * such an integer.
 *
 * @throws SyntaxError for a text that is not JSON
 */
export function parseJson(text: string): unknown {
  return MAY_EXCEED_DOUBLE.test(text) ? JSON.parse(text, toExactInteger) : JSON.parse(text);
}

function toExactInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;

  const source = context?.source ?? '';
  return INTEGER.test(source) ? BigInt(source) : value;
}

/** Creates the reader of a small document, which is collected and parsed as a whole. */
export function createDocumentReader<T>(maxBytes: number, read: (document: unknown) => T): ResponseReader<T> {
  const bytes = createByteBuffer(maxBytes);
  return {
    write: (chunk) => bytes.append(chunk, 0, chunk.length),
    end: () => read(parseJson(bytes.text())),
  };
}
